import { annotations, type Machine, type MachineSet } from "@causeway/api";
import { getCondition } from "@causeway/kubernetes";

/** Random, Newest or Oldest; Random means by name. */
export type DeletionOrder = NonNullable<NonNullable<MachineSet["spec"]["deletion"]>["order"]>;

const tenDays = 10 * 24 * 3600_000;

/**
 * The machines to delete first when `count` are too many: those on their way already, those a person marked, those
 * that are not healthy, then by order; names break ties (Cluster API, MachineSet delete priorities).
 */
export function chooseForDeletion(
  machines: readonly Machine[],
  count: number,
  by: { readonly order: DeletionOrder; readonly now: number },
): Machine[] {
  const rated = machines.map((machine) => ({ machine, priority: priorityOf(machine, by) }));
  rated.sort((a, b) => b.priority - a.priority || (a.machine.metadata.name < b.machine.metadata.name ? -1 : 1));
  return rated.slice(0, Math.max(0, count)).map(({ machine }) => machine);
}

function priorityOf(machine: Machine, by: { readonly order: DeletionOrder; readonly now: number }): number {
  if (machine.metadata.deletionTimestamp) return 100;
  if (machine.metadata.annotations?.[annotations.deleteMachine] !== undefined) return 80;
  if (!isHealthy(machine)) return 50;
  const age = by.now - Date.parse(machine.metadata.creationTimestamp ?? new Date(by.now).toISOString());
  // Between 0 and 20, never reaching either, so that ages keep their order however old.
  const seniority = 20 * (1 - Math.exp(-Math.max(0, age) / tenDays));
  if (by.order === "Oldest") return seniority;
  if (by.order === "Newest") return 20 - seniority;
  return 20;
}

function isHealthy(machine: Machine): boolean {
  if (!machine.status?.nodeRef) return false;
  const conditions = machine.status.conditions;
  return ["NodeHealthy", "HealthCheckSucceeded"].every((type) => getCondition(conditions, type)?.status !== "False");
}
