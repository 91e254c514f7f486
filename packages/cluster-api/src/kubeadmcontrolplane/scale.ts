import { annotations, Machine } from "@causeway/api";
import { compareVersions } from "@causeway/kubernetes";
import { deleteStep } from "../objects/steps.ts";
import type { Observed, OwnedMachine } from "./observed.ts";
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
export function scaling(observed: Observed, outdated: ReadonlySet<string>): ScalePlan {
  const { control, machines } = observed;
  const replicas = control.spec.replicas ?? 1;
  if (machines.length === 0) return add(observed, outdated);
  if (control.status?.initialization?.controlPlaneInitialized !== true)
    return { steps: [], blocked: ["The control plane is not initialized yet"] };
  if (outdated.size > 0) return rollout(observed, outdated);
  if (machines.length < replicas) return checked(observed, () => add(observed, outdated));
  return machines.length > replicas ? remove(observed, outdated) : { steps: [] };
}

/** With a surge one machine is added, then an outdated one removed; without, an outdated one goes first. */
function rollout(observed: Observed, outdated: ReadonlySet<string>): ScalePlan {
  const { control, machines, workload } = observed;
  const { version, replicas = 1 } = control.spec;
  const skipped = skippedMinor(observed);
  if (skipped) return { steps: [], blocked: [skipped] };
  if (machines.length >= replicas + surgeOf(observed)) return remove(observed, outdated);
  return checked(observed, () => {
    // What the next machine joins with must name its version.
    if (
      workload.reach === "connected" &&
      workload.kubeadmVersion !== undefined &&
      workload.kubeadmVersion !== version
    ) {
      return { steps: [{ type: "update-kubeadm-config", version }] };
    }
    return add(observed, outdated);
  });
}

/** maxSurge 0 needs three replicas: with fewer there would be no quorum without the one that goes. */
function surgeOf({ control }: Observed): number {
  const { maxSurge } = control.spec.rollout?.strategy?.rollingUpdate ?? {};
  return (maxSurge === 0 || maxSurge === "0") && (control.spec.replicas ?? 1) >= 3 ? 0 : 1;
}

/** kubeadm upgrades one minor version at a time. */
function skippedMinor({ control, machines }: Observed): string | undefined {
  const versions = machines.flatMap(({ machine }) => machine.spec.version ?? []).toSorted(compareVersions);
  const [lowest = "", highest = ""] = [versions[0], versions.at(-1)];
  const { version } = control.spec;
  const [from, newest, to] = [minorOf(lowest), minorOf(highest), minorOf(version)];
  if (from === undefined || newest === undefined || to === undefined) return undefined;
  if (to > from + 1) return `${version} is more than one minor version after ${lowest}: upgrade one minor at a time`;
  return to < newest ? `${version} is before ${highest}: a control plane cannot be downgraded` : undefined;
}

/** 34 for "v1.34.2"; undefined if it is not a version. */
export function minorOf(version: string): number | undefined {
  const found = /^v?\d+\.(\d+)\./.exec(version)?.[1];
  return found === undefined ? undefined : Number(found);
}

function checked(observed: Observed, next: () => ScalePlan): ScalePlan {
  const blocked = [...access(observed), ...preflight(observed.machines)];
  return blocked.length > 0 ? { steps: [], blocked } : next();
}

function access({ workload }: Observed): string[] {
  if (workload.reach === "unreachable") return ["The workload cluster cannot be reached"];
  return "problem" in workload.etcd ? [`etcd: ${workload.etcd.problem}`] : [];
}

function add(observed: Observed, outdated: ReadonlySet<string>): ScalePlan {
  const { control, cluster, machines, taken } = observed;
  if (!cluster) return { steps: [] };
  const under = remediationUnderWay(observed);
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

function remove(observed: Observed, outdated: ReadonlySet<string>): ScalePlan {
  const { machines } = observed;
  const chosen = machineToDelete(
    machines.filter(({ machine }) => !machine.metadata.deletionTimestamp),
    outdated,
  );
  if (!chosen) return { steps: [], blocked: preflight(machines) };
  const blocked = [
    ...access(observed),
    ...preflight(machines, chosen.machine.metadata.name),
    ...quorum(observed, chosen),
  ];
  return blocked.length > 0 ? { steps: [], blocked } : { steps: deleteStep(Machine, chosen.machine) };
}

function quorum({ workload }: Observed, { machine }: OwnedMachine): string[] {
  if (workload.reach === "unreachable" || !("members" in workload.etcd)) return [];
  const name = machine.status?.nodeRef?.name ?? machine.metadata.name;
  return survivesWithout(workload.etcd.members, name)
    ? []
    : [`etcd would lose its quorum without Machine ${machine.metadata.name}`];
}
