import type { Inventory, MigrationRecord, PhasePlan, Step } from "@causeway/magnum-migration";
import type { OutputFormat } from "../../options/output.ts";
import { documentOf } from "../../terminal/documents.ts";

/** The status that a command ends with when it shows why something cannot be done. */
export const BLOCKED = 2;

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

/** The whole inventory, or for people what is most of it. */
export function renderInventory(inventory: Inventory, output: OutputFormat): string {
  const { name, uuid, version, apiAddress, masters, groups, findings, stacks, resources } = inventory;
  const counts = new Map<string, number>();
  for (const { type } of resources) counts.set(type, (counts.get(type) ?? 0) + 1);
  return (
    documentOf(inventory, output) ??
    lines([
      `cluster    ${name} (${uuid}), ${inventory.status}, Kubernetes ${version}, ${apiAddress}`,
      ...stacks.map((stack) => `stack      ${stack.name} (${stack.id})`),
      ...masters.map((master) => `master     ${master.name} ${master.address} (${master.serverId})`),
      ...groups.flatMap((group) =>
        group.machines.map(
          (machine) => `worker     ${machine.name} ${machine.address} (${machine.serverId}), node group ${group.name}`,
        ),
      ),
      ...[...counts].toSorted(([a], [b]) => a.localeCompare(b)).map(([type, count]) => `resources  ${count} ${type}`),
      ...findings.map(({ code, message, blocks }) => `${blocks ? "blocks    " : "note      "} ${message} (${code})`),
      findings.some(({ blocks }) => blocks) ? "It cannot be migrated." : "It can be migrated.",
    ])
  );
}

/** What it waits for, the steps that are left, or the proof of what is done. */
export function renderPlan(plan: PhasePlan<Step>, output: OutputFormat): string {
  const { steps, wait, refused, notes = [], proof } = plan;
  const isDone = steps.length === 0 && wait === undefined && refused === undefined;
  const state = {
    steps: steps.map(({ what }) => what),
    ...(wait === undefined ? {} : { wait }),
    ...(refused ? { refused } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    proof: isDone ? proof : [],
  };
  return (
    documentOf(state, output) ??
    lines([
      ...notes.map((note) => `note: ${note}`),
      ...(wait === undefined ? [] : [`would wait for ${wait}`]),
      ...steps.map(({ what }) => `would ${what}`),
      ...(refused ? [`refused: ${refused.message} (${refused.code}). ${refused.hint}`] : []),
      ...(isDone ? proof.map((line) => `proof: ${line}`) : []),
    ])
  );
}

/** The phases that are done, each with its proof. */
export function renderStatus({ phases, begun, inventory }: MigrationRecord, output: OutputFormat): string {
  return (
    documentOf({ cluster: inventory.name, uuid: inventory.uuid, begun, phases }, output) ??
    lines([
      `cluster ${inventory.name} (${inventory.uuid}); begun last: ${begun}`,
      ...Object.entries(phases).flatMap(([name, done]) => [
        `${name} done ${done.at}`,
        ...done.proof.map((line) => `  ${line}`),
      ]),
    ])
  );
}
