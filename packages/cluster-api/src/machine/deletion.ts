import { annotations, finalizers, Machine, type MachineStatus } from "@causeway/api";
import { nodeBalancers, timestamp, type Node, type WantedCondition } from "@causeway/kubernetes";
import { listing } from "../objects/conditions.ts";
import { finalizerRemoval } from "../objects/metadata.ts";
import { deleteStep, patchStep } from "../objects/steps.ts";
import { whyAbsent, type Referred } from "../contract/kind-table.ts";
import { mayAwaitVolumes, mayDrain, podsToDrain, type DrainedPod } from "./drain-rules.ts";
import type { Observed } from "./observed.ts";
import type { MachineStep } from "./steps.ts";
import { claimsOfSkippedPods, volumesToWaitFor } from "./volumes.ts";

/** The reason of Deleting, a contract of Cluster API, that control planes wait for. */
export const WAITING_FOR_PRE_TERMINATE_HOOK = "WaitingForPreTerminateHook";

type DeletionTimes = NonNullable<MachineStatus["deletion"]>;

/** The stage of a Machine's deletion: what to do next, and what it waits for. */
export interface Deletion {
  readonly steps: readonly MachineStep[];
  readonly reason: string;
  readonly message: string;
  readonly times: DeletionTimes;
  readonly until?: number;
}

/**
 * The label by which cloud controllers take a Node out of their load balancers (KEP-1143): connections would reach it
 * until its Node object goes, after its host.
 */
export const EXCLUDED_FROM_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers";

const podRetry = 2_000;
const hookRetry = 30_000;
const defaultNodeDeletionTimeout = 10;
/** Seconds. */
const BALANCERS_TAKE = 60;

/** The stages of a deletion, in order. Each returns its progress, or nothing once it is complete. */
export function planDeletion(observed: Observed, now: number): Deletion {
  const stages = [
    preDrainHooks,
    drain,
    volumeDetach,
    loadBalancers,
    preTerminateHooks,
    infrastructure,
    bootstrap,
    node,
  ];
  const times: DeletionTimes = { ...observed.machine.status?.deletion };
  for (const stage of stages) {
    const standing = stage(observed, times, now);
    if (standing) return { ...standing, times };
  }
  const body = finalizerRemoval(observed.machine, finalizers.machine);
  const steps = patchStep(Machine, observed.machine, body);
  return { steps, reason: "DeletionCompleted", message: "", times };
}

/** The Node whose volumes the deletion waits for, or has to judge, now: none before the drain is over. */
export function nodeAwaitingVolumes(observed: Observed, now: number): Node | undefined {
  const { machine } = observed;
  if (!nodeMatters(observed) || !infraIsLeft(observed) || !mayAwaitVolumes(machine)) return undefined;
  const times: DeletionTimes = { ...machine.status?.deletion };
  if (preDrainHooks(observed, times, now) ?? drain(observed, times, now)) return undefined;
  const node = nodeOf(observed);
  return node && !isUnreachable(node) ? node : undefined;
}

/** The condition Deleting of a Machine at this stage. */
export function deletingCondition(deletion: Deletion): WantedCondition {
  return { type: "Deleting", status: "True", reason: deletion.reason, message: deletion.message };
}

/**
 * Whether the deletion drains the Node, or waits for its volumes: neither of a cluster that goes, nor of a lost host.
 */
export function needsDrain(observed: Pick<Observed, "machine" | "cluster" | "infrastructure">): boolean {
  const { machine } = observed;
  return nodeMatters(observed) && infraIsLeft(observed) && (mayDrain(machine) || mayAwaitVolumes(machine));
}

type StageResult = Omit<Deletion, "times">;
type Stage = (observed: Observed, times: DeletionTimes, now: number) => StageResult | undefined;

/** Nodes of a cluster that goes away need no care; neither does a machine that never became one. */
function nodeMatters(observed: Pick<Observed, "machine" | "cluster">): boolean {
  const { machine, cluster } = observed;
  return machine.status?.nodeRef !== undefined && cluster !== undefined && !cluster.metadata.deletionTimestamp;
}

function hooks(prefix: string, reason: string, time: keyof DeletionTimes): Stage {
  return ({ machine }, times, now) => {
    const found = Object.keys(machine.metadata.annotations ?? {}).filter((key) => key.split("/")[0] === prefix);
    if (found.length === 0) return undefined;
    times[time] ??= timestamp(now);
    return {
      steps: [],
      reason,
      message: `Waiting for hooks to be removed:\n${listing(found)}`,
      until: now + hookRetry,
    };
  };
}

const preDrainHooks = hooks(annotations.preDrainHookPrefix, "WaitingForPreDrainHook", "waitForPreDrainHookStartTime");
const preTerminateHooks = hooks(
  annotations.preTerminateHookPrefix,
  WAITING_FOR_PRE_TERMINATE_HOOK,
  "waitForPreTerminateHookStartTime",
);

function drain(observed: Observed, times: DeletionTimes, now: number): StageResult | undefined {
  const { machine, cluster, workload } = observed;
  if (!nodeMatters(observed) || !mayDrain(machine) || !infraIsLeft(observed)) return undefined;
  times.nodeDrainStartTime ??= timestamp(now);
  if (isOver(times.nodeDrainStartTime, machine.spec.deletion?.nodeDrainTimeoutSeconds, now)) return undefined;
  const reason = "DrainingNode";
  if (workload.reach === "unreachable") {
    const message = "The workload cluster cannot be reached, so the Node cannot be drained";
    return { steps: [], reason, message, until: now + podRetry };
  }
  const node = nodeOf(observed);
  if (!node) return undefined;
  if (!node.spec?.unschedulable || node.metadata.labels?.[EXCLUDED_FROM_BALANCERS] === undefined) {
    const body = { metadata: { labels: { [EXCLUDED_FROM_BALANCERS]: "" } }, spec: { unschedulable: true } };
    return { steps: [{ type: "patch-node", name: node.metadata.name, body }], reason, message: "Cordoning the Node" };
  }
  const { pods, rules, namespaces } = workload.drain;
  const context = { rules, namespaces };
  return drainPods({ node, pods: podsToDrain(pods, { machine, cluster, ...context }), now }, reason);
}

function drainPods(
  on: { node: Node; pods: readonly DrainedPod[]; now: number },
  reason: string,
): StageResult | undefined {
  const { node, pods, now } = on;
  const lost = isUnreachable(node);
  const left = pods.filter((pod) => !(lost && now - (pod.deletingSince ?? now) > 1_000));
  if (left.length === 0) return undefined;
  const first = Math.min(...left.map(({ order }) => order));
  const alive = left.filter((pod) => pod.order === first && pod.deletingSince === undefined && !pod.completes);
  const message = `Drain not completed yet, ${left.length} pods are left:\n${listing(
    left.map((pod) => `${pod.namespace}/${pod.name}${standingOf(pod)}`),
  )}`;
  if (alive.length === 0) return { steps: [], reason, message, until: now + podRetry };
  const grace = lost ? { graceSeconds: 1 } : {};
  const evicted = alive.map(({ namespace, name, uid }) => ({ namespace, name, uid }));
  return { steps: [{ type: "drain", node: node.metadata.name, pods: evicted, ...grace }], reason, message };
}

function standingOf({ deletingSince, completes }: DrainedPod): string {
  if (deletingSince !== undefined) return " (terminating)";
  return completes ? " (waiting for its completion)" : "";
}

function volumeDetach(observed: Observed, times: DeletionTimes, now: number): StageResult | undefined {
  const { machine } = observed;
  if (!nodeMatters(observed) || !infraIsLeft(observed)) return undefined;
  if (!mayAwaitVolumes(machine)) return undefined;
  const node = nodeOf(observed);
  const volumes = node && !isUnreachable(node) ? volumesLeft(observed, node) : [];
  times.waitForNodeVolumeDetachStartTime ??= timestamp(now);
  // The time of the drain ended after the volumes were to be read.
  if (!volumes) return { steps: [], reason: "WaitingForVolumeDetach", message: "Reading the volumes", until: now };
  if (volumes.length === 0) return undefined;
  if (isOver(times.waitForNodeVolumeDetachStartTime, machine.spec.deletion?.nodeVolumeDetachTimeoutSeconds, now)) {
    return undefined;
  }
  const message = `Waiting for volumes to be detached:\n${listing(volumes)}`;
  return { steps: [], reason: "WaitingForVolumeDetach", message, until: now + podRetry };
}

/**
 * A cloud controller that says so is waited for until no load balancer leads to the Node: its host would go first, and
 * connections with it. From the last step before it takes at most a minute.
 */
function loadBalancers(observed: Observed, times: DeletionTimes, now: number): StageResult | undefined {
  if (!nodeMatters(observed) || !infraIsLeft(observed)) return undefined;
  const node = nodeOf(observed);
  if (!node || isUnreachable(node) || !isLeavingBalancers(node)) return undefined;
  const since = times.waitForNodeVolumeDetachStartTime ?? times.nodeDrainStartTime;
  if (since === undefined || isOver(since, BALANCERS_TAKE, now)) return undefined;
  const message = `Waiting for the cloud controller to take Node ${node.metadata.name} out of load balancers, a minute at most`;
  return { steps: [], reason: "WaitingForLoadBalancers", message, until: now + podRetry };
}

function isLeavingBalancers({ metadata: { labels, annotations: said } }: Node): boolean {
  return labels?.[EXCLUDED_FROM_BALANCERS] !== undefined && said?.[nodeBalancers.annotation] === nodeBalancers.in;
}

function infrastructure({ infrastructure: host, machine }: Observed): StageResult | undefined {
  const wasThere = machine.status?.initialization?.infrastructureProvisioned === true;
  return referred(host, { reason: "WaitingForInfrastructureDeletion", wasThere });
}

function bootstrap({ bootstrap: config }: Observed): StageResult | undefined {
  return config && referred(config, { reason: "WaitingForBootstrapDeletion", wasThere: false });
}

/** An object of a kind without a provider here is not known to be deleted. */
function referred(to: Referred, how: { readonly reason: string; readonly wasThere: boolean }): StageResult | undefined {
  const { object, kind } = to;
  const { reason, wasThere } = how;
  if (!kind) return wasThere ? { steps: [], reason, message: whyAbsent(to) } : undefined;
  if (!object) return undefined;
  return { steps: deleteStep(kind, object), reason, message: `Deleting ${kind.kind} ${object.metadata.name}` };
}

function node(observed: Observed, _times: DeletionTimes, now: number): StageResult | undefined {
  const { machine, workload } = observed;
  if (!nodeMatters(observed)) return undefined;
  const timeout = machine.spec.deletion?.nodeDeletionTimeoutSeconds ?? defaultNodeDeletionTimeout;
  const over = isOver(machine.metadata.deletionTimestamp, timeout, now);
  const reason = "DeletingNode";
  if (workload.reach === "unreachable") {
    if (over) return undefined;
    const message = "The workload cluster cannot be reached, so the Node cannot be deleted";
    return { steps: [], reason, message, until: now + podRetry };
  }
  const found = nodeOf(observed);
  if (!found) return undefined;
  const { name, uid = "" } = found.metadata;
  if (found.metadata.deletionTimestamp) {
    return over ? undefined : { steps: [], reason, message: `Node ${name} is being deleted`, until: now + podRetry };
  }
  return { steps: [{ type: "delete-node", name, uid }], reason, message: `Deleting Node ${name}` };
}

/** Once the host is going, there is nothing to drain from it. */
function infraIsLeft({ infrastructure: { object } }: Pick<Observed, "infrastructure">): boolean {
  return object !== undefined && object.metadata.deletionTimestamp === undefined;
}

function nodeOf({ machine, workload }: Observed): Node | undefined {
  if (workload.reach === "unreachable") return undefined;
  return workload.nodes.find((candidate) => candidate.metadata.name === machine.status?.nodeRef?.name);
}

/** Undefined where they have not been read. */
function volumesLeft({ machine, cluster, workload }: Observed, node: Node): string[] | undefined {
  if (workload.reach === "unreachable") return [];
  const { pods, volumes, ...rules } = workload.drain;
  return volumes && volumesToWaitFor(node, volumes, claimsOfSkippedPods(pods, { machine, cluster, ...rules }));
}

function isUnreachable(candidate: Node): boolean {
  const ready = candidate.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "Unknown";
}

/** A timeout of 0, or none, never ends. */
function isOver(start: string | undefined, timeoutSeconds: number | undefined, now: number): boolean {
  return start !== undefined && !!timeoutSeconds && now - Date.parse(start) >= timeoutSeconds * 1000;
}
