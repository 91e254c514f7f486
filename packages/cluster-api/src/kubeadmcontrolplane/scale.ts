import { annotations, Machine } from "@causeway/api";
import { compareVersions } from "@causeway/kubernetes";
import { deleteStep } from "../objects/steps.ts";
import type { ControlPlaneFacts, OwnedMachine } from "./facts.ts";
import { preflight } from "./health.ts";
import { newMachine, nextName } from "./machine.ts";
import { byAge, domainForNew, machineToDelete } from "./placement.ts";
import { survivesWithout } from "./quorum.ts";
import { remediationUnderWay } from "./remediation.ts";
import type { ControlPlaneStep } from "./steps.ts";

/** The next machine to add or to remove; neither steps nor reasons: there is nothing to do. */
export interface ScalePlan {
  readonly steps: readonly ControlPlaneStep[];
  /** Why no machine is added or removed now. */
  readonly blocked?: readonly string[];
}

/** One machine more or less at a time, towards the number of replicas and the current template. */
export function scaling(facts: ControlPlaneFacts, outdated: ReadonlySet<string>): ScalePlan {
  const { control, machines } = facts;
  const replicas = control.spec.replicas ?? 1;
  if (machines.length === 0) return add(facts, outdated);
  if (control.status?.initialization?.controlPlaneInitialized !== true)
    return { steps: [], blocked: ["The control plane is not initialized yet"] };
  if (outdated.size > 0) return rollout(facts, outdated);
  if (machines.length < replicas) return checked(facts, () => add(facts, outdated));
  return machines.length > replicas ? remove(facts, outdated) : { steps: [] };
}

/** With a surge one machine is added, then an outdated one removed; without, an outdated one goes first. */
function rollout(facts: ControlPlaneFacts, outdated: ReadonlySet<string>): ScalePlan {
  const { control, machines, workload } = facts;
  const { version, replicas = 1 } = control.spec;
  const skipped = skippedMinor(facts);
  if (skipped) return { steps: [], blocked: [skipped] };
  if (machines.length >= replicas + surgeOf(facts)) return remove(facts, outdated);
  return checked(facts, () => {
    // What the next machine joins with must name its version.
    if (
      workload.reach === "connected" &&
      workload.kubeadmVersion !== undefined &&
      workload.kubeadmVersion !== version
    ) {
      return { steps: [{ type: "update-kubeadm-config", version }] };
    }
    return add(facts, outdated);
  });
}

/** maxSurge 0 needs three replicas: with fewer there would be no quorum without the one that goes. */
function surgeOf({ control }: ControlPlaneFacts): number {
  const { maxSurge } = control.spec.rollout?.strategy?.rollingUpdate ?? {};
  return (maxSurge === 0 || maxSurge === "0") && (control.spec.replicas ?? 1) >= 3 ? 0 : 1;
}

/** kubeadm upgrades one minor version at a time. */
function skippedMinor({ control, machines }: ControlPlaneFacts): string | undefined {
  const versions = machines.flatMap(({ machine }) => machine.spec.version ?? []).toSorted(compareVersions);
  const [lowest = "", highest = ""] = [versions[0], versions.at(-1)];
  const { version } = control.spec;
  const [from, newest, to] = [minorOf(lowest), minorOf(highest), minorOf(version)];
  if (from === undefined || newest === undefined || to === undefined) return undefined;
  if (to > from + 1) return `${version} is more than one minor version after ${lowest}: upgrade one minor at a time`;
  return to < newest ? `${version} is before ${highest}: a control plane cannot be downgraded` : undefined;
}

/** 34 for "v1.34.2"; undefined if it is no version. */
export function minorOf(version: string): number | undefined {
  const found = /^v?\d+\.(\d+)\./.exec(version)?.[1];
  return found === undefined ? undefined : Number(found);
}

function checked(facts: ControlPlaneFacts, next: () => ScalePlan): ScalePlan {
  const blocked = [...access(facts), ...preflight(facts.machines)];
  return blocked.length > 0 ? { steps: [], blocked } : next();
}

function access({ workload }: ControlPlaneFacts): string[] {
  if (workload.reach === "unreachable") return ["The workload cluster cannot be reached"];
  return "problem" in workload.etcd ? [`etcd: ${workload.etcd.problem}`] : [];
}

function add(facts: ControlPlaneFacts, outdated: ReadonlySet<string>): ScalePlan {
  const { control, cluster, machines, taken } = facts;
  if (!cluster) return { steps: [] };
  const under = remediationUnderWay(facts);
  const newest = `${machines.toSorted(byAge).at(-1)?.machine.metadata.uid ?? ""}/${under?.timestamp ?? ""}`;
  const name = nextName(control, cluster.metadata.name, { taken, newest });
  const object = newMachine(control, {
    name,
    cluster: cluster.metadata.name,
    failureDomain: domainForNew(cluster, machines, outdated),
    ...(under ? { annotations: { [annotations.remediationFor]: JSON.stringify(under) } } : {}),
  });
  return { steps: [{ type: "create", resource: Machine, object }] };
}

function remove(facts: ControlPlaneFacts, outdated: ReadonlySet<string>): ScalePlan {
  const { machines } = facts;
  const chosen = machineToDelete(
    machines.filter(({ machine }) => !machine.metadata.deletionTimestamp),
    outdated,
  );
  if (!chosen) return { steps: [], blocked: preflight(machines) };
  const blocked = [...access(facts), ...preflight(machines, chosen.machine.metadata.name), ...quorum(facts, chosen)];
  return blocked.length > 0 ? { steps: [], blocked } : { steps: deleteStep(Machine, chosen.machine) };
}

function quorum({ workload }: ControlPlaneFacts, { machine }: OwnedMachine): string[] {
  if (workload.reach === "unreachable" || "problem" in workload.etcd) return [];
  const name = machine.status?.nodeRef?.name ?? machine.metadata.name;
  return survivesWithout(workload.etcd.members, name)
    ? []
    : [`etcd would lose its quorum without Machine ${machine.metadata.name}`];
}
