import { annotations, Machine, type MachineDeployment, type MachineSet } from "@causeway/api";
import { getCondition, setConditions, type WantedCondition } from "@causeway/kubernetes";
import { deleteStep } from "../objects/steps.ts";
import { sameMachines } from "../objects/template.ts";
import type { Observed } from "./observed.ts";
import type { MachineSetStep } from "./steps.ts";

/** A Machine that failed its health check, and that its owner is to replace. */
export function isToRemediate({ metadata, status }: Machine): boolean {
  const failed = ["HealthCheckSucceeded", "OwnerRemediated"].every(
    (type) => getCondition(status?.conditions, type)?.status === "False",
  );
  return failed && metadata.deletionTimestamp === undefined;
}

/**
 * Deletes Machines that failed their health check, as many at once as the MachineDeployment allows: those that a person
 * marked first, then the newest. The others wait, and their condition OwnerRemediated says for what.
 */
export function remediation(
  { set, deployment, machines }: Observed,
  on: { readonly now: number; readonly blocked: string | undefined },
): MachineSetStep[] {
  const failed = machines.filter(isToRemediate).toSorted(byUrgency);
  if (failed.length === 0) return [];
  const defer = (list: readonly Machine[], reason: string, message: string) =>
    list.flatMap((machine) => deferral(machine, { reason, message, now: on.now }));
  if (isOutdated(set, deployment)) {
    return defer(
      failed,
      "CannotBeRemediated",
      "Machine won't be remediated because it is pending removal due to rollout",
    );
  }
  if (on.blocked !== undefined) return defer(failed, "RemediationDeferred", `* ${on.blocked}`);
  const count = Math.max(0, inFlightLimit(deployment) - machines.filter(isBeingRemediated).length);
  const limit = `spec.remediation.maxInFlight is ${deployment?.spec.remediation?.maxInFlight ?? "not set"}`;
  return [
    ...failed.slice(0, count).flatMap((machine) => deleteStep(Machine, machine)),
    ...defer(
      failed.slice(count),
      "RemediationDeferred",
      `Waiting because there are already too many remediations in progress (${limit})`,
    ),
  ];
}

function isOutdated(set: MachineSet, deployment: MachineDeployment | undefined): boolean {
  return deployment !== undefined && !sameMachines(deployment.spec.template, set.spec.template);
}

function isBeingRemediated({ metadata, status }: Machine): boolean {
  const failed = getCondition(status?.conditions, "OwnerRemediated")?.status === "False";
  return failed && metadata.deletionTimestamp !== undefined;
}

/** A percentage is of all replicas, rounded up. */
function inFlightLimit(deployment: MachineDeployment | undefined): number {
  const limit = deployment?.spec.remediation?.maxInFlight;
  if (limit === undefined) return Infinity;
  const [, percent] = /^(\d{1,4})%$/.exec(String(limit)) ?? [];
  if (percent !== undefined) return Math.ceil((Number(percent) * (deployment?.spec.replicas ?? 1)) / 100);
  return Number(limit) || 0;
}

function byUrgency(a: Machine, b: Machine): number {
  const marked = (machine: Machine) =>
    machine.metadata.annotations?.[annotations.remediateMachine] === undefined ? 1 : 0;
  const created = (machine: Machine) => Date.parse(machine.metadata.creationTimestamp ?? "") || 0;
  return marked(a) - marked(b) || created(b) - created(a) || (a.metadata.name < b.metadata.name ? -1 : 1);
}

function deferral(
  machine: Machine,
  { reason, message, now }: { readonly reason: string; readonly message: string; readonly now: number },
): MachineSetStep[] {
  const wanted: WantedCondition = { type: "OwnerRemediated", status: "False", reason, message };
  const current = getCondition(machine.status?.conditions, wanted.type);
  if (current?.reason === reason && current.message === message) return [];
  const conditions = setConditions(current ? [current] : [], [wanted], {
    generation: machine.metadata.generation,
    now,
  });
  return [{ type: "set-conditions", machine, conditions }];
}

/** A Machine that is healthy again is not to be remediated any more. */
export function recovery({ machines }: Observed): MachineSetStep[] {
  return machines
    .filter(({ status }) => {
      const conditions = status?.conditions;
      const healthy = getCondition(conditions, "HealthCheckSucceeded")?.status === "True";
      return healthy && getCondition(conditions, "OwnerRemediated")?.status === "False";
    })
    .map((machine) => ({ type: "set-conditions", machine, conditions: [] }));
}
