import { getCondition, isTrue, type Pod, type WantedCondition } from "@causeway/kubernetes";
import type { Observed, OwnedMachine, ObservedWorkload } from "./observed.ts";
import { healthOf } from "./machine.ts";

const components = [
  ["APIServerPodHealthy", "kube-apiserver"],
  ["ControllerManagerPodHealthy", "kube-controller-manager"],
  ["SchedulerPodHealthy", "kube-scheduler"],
  ["EtcdPodHealthy", "etcd"],
] as const;

/** The key of a static pod among those that were observed. */
export function podKey(node: string, component: string): string {
  return `${node}/${component}`;
}

/**
 * What the control plane reports on one of its machines: its static pods, its etcd member, and whether it is up to
 * date.
 */
export function machineHealth(
  { workload }: Pick<Observed, "workload">,
  { machine }: OwnedMachine,
  outdated: readonly string[],
): WantedCondition[] {
  const node = machine.status?.nodeRef?.name;
  const previous = machine.status?.conditions;
  const upToDate: WantedCondition =
    outdated.length === 0
      ? { type: "UpToDate", status: "True", reason: "UpToDate" }
      : {
          type: "UpToDate",
          status: "False",
          reason: "NotUpToDate",
          message: outdated.map((line) => `* ${line}`).join("\n"),
        };
  if (workload.reach === "unreachable" || node === undefined) {
    const message = node === undefined ? "Waiting for a Node" : "The workload cluster cannot be reached";
    // What was seen last remains while the cluster cannot be reached.
    const health = healthOf(machine).map((type): WantedCondition => {
      const known = node === undefined ? undefined : getCondition(previous, type);
      return known
        ? { type, status: known.status, reason: known.reason, message: known.message ?? "" }
        : { type, status: "Unknown", reason: "InspectionFailed", message };
    });
    return [upToDate, ...health];
  }
  const reported: ReadonlySet<string> = new Set(healthOf(machine));
  const pods = components.map(([type, component]) =>
    podHealth(type, component, workload.pods.get(podKey(node, component))),
  );
  return [upToDate, ...[...pods, memberHealth(workload, node)].filter(({ type }) => reported.has(type))];
}

function podHealth(type: string, component: string, pod: Pod | undefined): WantedCondition {
  if (!pod) return { type, status: "False", reason: "DoesNotExist", message: `Pod ${component} does not exist` };
  const ready = pod.status?.conditions?.find((condition) => condition.type === "Ready");
  if (ready?.status === "True") return { type, status: "True", reason: "Running" };
  const phase = pod.status?.phase ?? "Pending";
  const reason = phase === "Failed" ? "Failed" : "Provisioning";
  return { type, status: "False", reason, message: `Pod ${pod.metadata.name} is ${phase} and not ready` };
}

function memberHealth(workload: ObservedWorkload & { reach: "connected" }, node: string): WantedCondition {
  const type = "EtcdMemberHealthy";
  if ("problem" in workload.etcd) {
    return { type, status: "Unknown", reason: "InspectionFailed", message: workload.etcd.problem };
  }
  if ("external" in workload.etcd)
    return { type, status: "Unknown", reason: "InspectionFailed", message: "It is external" };
  const member = workload.etcd.members.find(({ name }) => name === node);
  if (!member)
    return { type, status: "False", reason: "NotHealthy", message: `Etcd doesn't have a member for Node ${node}` };
  if (member.problem) return { type, status: "False", reason: "NotHealthy", message: member.problem };
  if (member.isLearner) return { type, status: "False", reason: "NotHealthy", message: "The etcd member is a learner" };
  return { type, status: "True", reason: "Healthy" };
}

/** True if every part of the control plane on this machine serves. */
export function isHealthy({ machine }: OwnedMachine): boolean {
  return (
    machine.status?.nodeRef !== undefined && healthOf(machine).every((type) => isTrue(machine.status?.conditions, type))
  );
}

/** Why no machine may be added or removed now: the others must serve. `except`: the machine that is to go. */
export function preflight(machines: readonly OwnedMachine[], except?: string): string[] {
  return machines.flatMap((owned) => {
    const { metadata, status } = owned.machine;
    if (metadata.deletionTimestamp) return [`Machine ${metadata.name} is being deleted`];
    if (metadata.name === except) return [];
    if (!status?.nodeRef) return [`Machine ${metadata.name} has no Node yet`];
    const lacking = healthOf(owned.machine).filter((type) => !isTrue(status.conditions, type));
    return lacking.length > 0 ? [`Machine ${metadata.name}: ${lacking.join(", ")} not True`] : [];
  });
}
