import { timestamp, type Node, type NodeCondition, type Pod } from "@causeway/kubernetes";
import type { NodeStep } from "./steps.ts";
import { evictionTime, lacksEviction, wantedTaints } from "./taints.ts";

/** A Node with what this controller knows of its kubelet, its pods and its zone. */
export interface Observed {
  readonly node: Node;
  /** When the node's kubelet was last heard of, on this controller's clock. */
  readonly heardAt: number;
  readonly pods: readonly Pod[];
  /** When the next node of its zone may be tainted NoExecute; undefined: not while its zone is as it is. */
  readonly evictionAt: number | undefined;
}

/** What to write for one node now. */
export interface NodePlan {
  readonly steps: readonly NodeStep[];
  /** When to reconcile again though nothing happens. */
  readonly until?: number;
  /** Whether the plan uses its zone's turn to evict. */
  readonly startsEviction: boolean;
}

/** How long a kubelet may be silent, and one that has never reported (kube-controller-manager 1.34). */
export const monitorGrace = 50_000;
const startupGrace = 60_000;

const reported = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** What a silent kubelet means for its node, and what its node's state means for the pods on it. */
export function plan({ node, heardAt, pods, evictionAt }: Observed, now: number): NodePlan {
  const conditions = node.status?.conditions ?? [];
  const hasReported = conditions.some(({ type }) => type === "Ready");
  const silentAt = heardAt + (hasReported ? monitorGrace : startupGrace);
  const isSilent = now >= silentAt;
  const unknown = isSilent ? unknownConditions(node, now) : [];
  const statuses = new Map(conditions.map(({ type, status }): [string, string] => [type, status]));
  for (const { type, status } of unknown) statuses.set(type, status);
  const lacks = lacksEviction(node, statuses);
  const mayEvict = evictionAt !== undefined && evictionAt <= now;
  const taints = wantedTaints(node, statuses, { mayEvict, now });
  const isReady = statuses.get("Ready") === "True";
  const evictions = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((pod) => ({ pod, at: evictionTime(pod, taints, now) }));
  const steps: NodeStep[] = [
    ...(unknown.length > 0 ? [{ type: "write-conditions", conditions: unknown } as const] : []),
    ...(sameTaints(node.spec.taints ?? [], taints) ? [] : [{ type: "write-taints", taints } as const]),
    ...(hasReported && !isReady ? pods.filter(isReadyPod) : []).map(
      (pod) => ({ type: "mark-not-ready", pod }) as const,
    ),
    ...evictions.flatMap(({ pod, at }) => (at !== undefined && at <= now ? [{ type: "evict", pod } as const] : [])),
  ];
  const later = [
    ...evictions.flatMap(({ at }) => (at !== undefined && at > now ? [at] : [])),
    ...(isSilent ? [] : [silentAt]),
    ...(lacks && evictionAt !== undefined && !mayEvict ? [evictionAt] : []),
  ];
  return {
    steps,
    startsEviction: lacks && mayEvict,
    ...(later.length === 0 ? {} : { until: Math.min(...later) }),
  };
}

/** Those that are not Unknown yet. */
function unknownConditions({ status }: Node, now: number): NodeCondition[] {
  const at = timestamp(now);
  return reported.flatMap((type): NodeCondition[] => {
    const old = status?.conditions?.find((condition) => condition.type === type);
    if (old?.status === "Unknown") return [];
    const why = old
      ? { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." }
      : { reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." };
    const heartbeat = old?.lastHeartbeatTime === undefined ? {} : { lastHeartbeatTime: old.lastHeartbeatTime };
    return [{ type, status: "Unknown", ...why, ...heartbeat, lastTransitionTime: at }];
  });
}

function isReadyPod({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
}

type Taints = NonNullable<Node["spec"]["taints"]>;

function sameTaints(a: Taints, b: Taints): boolean {
  const ids = (taints: Taints) => taints.map(({ key, value = "", effect }) => `${key}=${value}:${effect}`).sort();
  return ids(a).join() === ids(b).join();
}
