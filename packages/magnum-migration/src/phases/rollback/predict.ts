import type { Prediction, PhasePlan } from "../../phase.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { PoolMember } from "../switch/plan.ts";
import type { RollbackFacts, RollbackStep } from "./plan.ts";

type Inventory = Pick<MigrationRecord, "inventory">;

/** What a rollback reads after its next steps, or when what it waits for is there. Pure. */
export function predictRollback(
  facts: RollbackFacts,
  { steps, batch = 1, wait }: PhasePlan<RollbackStep>,
  record: Inventory,
): Prediction<RollbackFacts> | undefined {
  if (steps.length === 0) return wait === undefined ? undefined : awaited(facts);
  let known = facts;
  for (const step of steps.slice(0, batch)) known = after(known, step, record);
  return { facts: known };
}

function after(facts: RollbackFacts, step: RollbackStep, { inventory }: Inventory): RollbackFacts {
  const { members, kubeProxy } = facts;
  switch (step.type) {
    case "start-control-plane":
      return { ...facts, stopped: facts.stopped.filter(({ address }) => address !== step.address) };
    case "add-pool-members": {
      const isThere = (one: Pick<PoolMember, "address" | "port">): boolean =>
        members.some(({ address, port }) => address === one.address && port === one.port);
      const added = (inventory.api?.members ?? []).filter((one) => !isThere(one));
      return { ...facts, members: [...members, ...added.map((one) => ({ ...one, isReady: false }))] };
    }
    case "remove-pool-member":
      return { ...facts, members: members.filter(({ id }) => id !== step.id) };
    case "pause":
      return { ...facts, isPaused: true };
    case "forget-object":
      return {
        ...facts,
        machineObjects: facts.machineObjects.filter((one) => one !== step.object),
        otherObjects: facts.otherObjects.filter((one) => one !== step.object),
      };
    case "follow":
      return { ...facts, isPaused: false, wantedStage: "Follow" };
    case "remove-member":
      return { ...facts, hostedMember: undefined };
    case "delete-kube-proxy":
      return {
        ...facts,
        kubeProxy: kubeProxy && { ...kubeProxy, objects: kubeProxy.objects.filter((one) => one !== step.object) },
      };
    case "release-node-plugin":
      return { ...facts, kubeProxy: kubeProxy && { ...kubeProxy, isRestricted: false } };
    case "delete-group":
      return { ...facts, groups: facts.groups.filter(({ id }) => id !== step.id) };
    case "start-agent":
      return { ...facts, agents: facts.agents.filter(({ address }) => address !== step.address) };
    case "start-workload":
      return {
        ...facts,
        stoppedWorkloads: facts.stoppedWorkloads?.filter(
          ({ kind, name }) => kind !== step.workload.kind || name !== step.workload.name,
        ),
      };
  }
}

function awaited(facts: RollbackFacts): Prediction<RollbackFacts> {
  const { isPoolBusy, members, ownMember } = facts;
  if (isPoolBusy) return { facts: { ...facts, isPoolBusy: false } };
  const isOpen = members.some(({ name }) => name === ownMember) && members.some(({ isReady }) => !isReady);
  if (isOpen) return { facts: { ...facts, members: members.map((one) => ({ ...one, isReady: true })) } };
  return {
    depends:
      "undo then what phases did in the cluster, as its API says: workloads that they stopped, kube-proxy of roll",
  };
}
