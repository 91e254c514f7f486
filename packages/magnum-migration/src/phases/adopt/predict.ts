import type { Prediction, PhasePlan } from "../../phase.ts";
import type { MigrationRecord } from "../../record/record.ts";
import { objectNameOfServer } from "./objects.ts";
import type { AdoptedMachine, AdoptFacts, AdoptStep } from "./plan.ts";

/** What phase adopt reads after its next steps, or when what it waits for is there. Pure. */
export function predictAdopt(
  facts: AdoptFacts,
  { steps: [step], wait }: PhasePlan<AdoptStep>,
  { inventory }: Pick<MigrationRecord, "inventory">,
): Prediction<AdoptFacts> | undefined {
  if (step === undefined) return wait === undefined ? undefined : { facts: awaited(facts) };
  const { writers, wanted, machines } = facts;
  if (step.type === "stop-workload")
    return {
      facts: {
        ...facts,
        writers: writers.map((one) => (one.state === "running" ? { ...one, state: "stopping" } : one)),
      },
    };
  const made = inventory.groups
    .flatMap((group) => group.machines)
    .filter(({ serverId }) => !machines.some((one) => one.serverId === serverId))
    .map((one): AdoptedMachine => ({
      name: objectNameOfServer(one.name),
      serverId: one.serverId,
      node: undefined,
      isProvisioned: false,
      problem: undefined,
    }));
  return {
    facts: {
      ...facts,
      hasImage: true,
      wanted: wanted.map((one) => ({ ...one, isThere: true })),
      machines: [...machines, ...made],
    },
  };
}

function awaited(facts: AdoptFacts): AdoptFacts {
  const stopping = facts.writers.find(({ state }) => state === "stopping");
  if (stopping)
    return { ...facts, writers: facts.writers.map((one) => (one === stopping ? { ...one, state: "stopped" } : one)) };
  const open = facts.machines.find(({ node, isProvisioned }) => node === undefined || !isProvisioned);
  const machines = facts.machines.map((one) =>
    one === open ? { ...one, node: one.node ?? one.name, isProvisioned: true } : one,
  );
  return { ...facts, machines };
}
