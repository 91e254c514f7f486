import { isEmptySelector, selectorText } from "@causeway/kubernetes";
import type { MachineDeploymentStatus, MachineSet } from "@causeway/api";
import { countMachines, machinesReady, machinesUpToDate, scalingConditions } from "../machineset/status.ts";
import type { WantedCondition } from "@causeway/kubernetes";
import { notPaused, settleConditions } from "../objects/conditions.ts";
import { isCurrentSet } from "../objects/template.ts";
import type { Observed } from "./observed.ts";

interface Context {
  readonly fresh: MachineSet | undefined;
  readonly now: number;
  readonly limits: { readonly desired: number; readonly maxUnavailable: number };
}

/** The whole status, from the Machines of all of its sets. */
export function deploymentStatus(observed: Observed, context: Context): MachineDeploymentStatus {
  const { deployment, sets, machinesOf } = observed;
  const { now, limits } = context;
  const machines = sets.flatMap((set) => machinesOf.get(set.metadata.uid ?? "") ?? []);
  // The Machines' own conditions are of an earlier template for a while: those of an old set are never up to date.
  const outdatedSets = sets.filter((set) => !isCurrentSet(set, deployment, now));
  const old = new Set(outdatedSets.flatMap((set) => machinesOf.get(set.metadata.uid ?? "") ?? []));
  const counts = countMachines(machines, old);
  const deleting = deployment.metadata.deletionTimestamp !== undefined;
  const wanted = deleting ? 0 : limits.desired;
  const outdated = counts.replicas - counts.upToDateReplicas;
  const conditions: WantedCondition[] = [
    available(counts.availableReplicas, limits),
    machinesReady(machines),
    machinesUpToDate(machines, old),
    outdated > 0 && !deleting
      ? {
          type: "RollingOut",
          status: "True",
          reason: "RollingOut",
          message: `Rolling out ${outdated} not up-to-date replicas`,
        }
      : { type: "RollingOut", status: "False", reason: "NotRollingOut" },
    ...scalingConditions({ wanted, current: counts.replicas }),
    { type: "Remediating", status: "False", reason: "NotRemediating" },
    deleting
      ? { type: "Deleting", status: "True", reason: "Deleting", message: `${counts.replicas} Machines are left` }
      : { type: "Deleting", status: "False", reason: "NotDeleting" },
    notPaused,
  ];
  const { generation } = deployment.metadata;
  return {
    conditions: settleConditions(conditions, { previous: deployment.status?.conditions, generation, now }),
    ...(isEmptySelector(deployment.spec.selector) ? {} : { selector: selectorText(deployment.spec.selector) }),
    ...counts,
    phase: phaseOf(wanted, counts),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function available(count: number, { desired, maxUnavailable }: Context["limits"]): WantedCondition {
  const least = Math.max(0, desired - maxUnavailable);
  if (count >= least) return { type: "Available", status: "True", reason: "Available" };
  const message = `${count} available replicas, at least ${least} required (spec.replicas is ${desired}, maxUnavailable is ${maxUnavailable})`;
  return { type: "Available", status: "False", reason: "NotAvailable", message };
}

function phaseOf(
  wanted: number,
  { replicas, availableReplicas }: { replicas: number; availableReplicas: number },
): NonNullable<MachineDeploymentStatus["phase"]> {
  if (replicas > wanted) return "ScalingDown";
  return replicas < wanted || availableReplicas < wanted ? "ScalingUp" : "Running";
}
