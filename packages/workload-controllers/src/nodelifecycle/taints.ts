import { timestamp, type Node, type Pod, type Taint } from "@causeway/kubernetes";

const unreachable = "node.kubernetes.io/unreachable";
const notReady = "node.kubernetes.io/not-ready";

/** The taints that follow from a condition with this status. */
const byCondition: readonly (readonly [type: string, status: string, key: string])[] = [
  ["Ready", "False", notReady],
  ["Ready", "Unknown", unreachable],
  ["MemoryPressure", "True", "node.kubernetes.io/memory-pressure"],
  ["DiskPressure", "True", "node.kubernetes.io/disk-pressure"],
  ["PIDPressure", "True", "node.kubernetes.io/pid-pressure"],
  ["NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"],
];
const unschedulable = "node.kubernetes.io/unschedulable";
const ownKeys = new Set([...byCondition.map(([, , key]) => key), unschedulable]);
const evicting = new Set([notReady, unreachable]);

/**
 * The taints that a node with these conditions has. `mayEvict`: whether NoExecute may be added now; one that is there
 * remains for as long as its condition does.
 */
export function wantedTaints(
  node: Node,
  statuses: ReadonlyMap<string, string>,
  { mayEvict, now }: { readonly mayEvict: boolean; readonly now: number },
): Taint[] {
  const given = node.spec.taints ?? [];
  const others = given.filter(({ key, effect }) => !isOwn(key, effect));
  const keys = byCondition.filter(([type, status]) => statuses.get(type) === status).map(([, , key]) => key);
  if (node.spec.unschedulable === true) keys.push(unschedulable);
  const find = (key: string, effect: Taint["effect"]) =>
    given.find((taint) => taint.key === key && taint.effect === effect);
  const own = keys.flatMap((key): Taint[] => {
    const noSchedule = find(key, "NoSchedule") ?? { key, effect: "NoSchedule", timeAdded: timestamp(now) };
    if (!evicting.has(key)) return [noSchedule];
    const noExecute = find(key, "NoExecute");
    if (!noExecute && !mayEvict) return [noSchedule];
    return [noSchedule, noExecute ?? { key, effect: "NoExecute", timeAdded: timestamp(now) }];
  });
  return [...others, ...own];
}

function isOwn(key: string, effect: string): boolean {
  return ownKeys.has(key) && (effect === "NoSchedule" || (effect === "NoExecute" && evicting.has(key)));
}

/** Whether these conditions evict pods and the node does not have the taint for it yet. */
export function lacksEviction(node: Node, statuses: ReadonlyMap<string, string>): boolean {
  const key = byCondition.find(([type, status, one]) => evicting.has(one) && statuses.get(type) === status)?.[2];
  if (key === undefined) return false;
  return !(node.spec.taints ?? []).some((taint) => taint.key === key && taint.effect === "NoExecute");
}

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** When a pod is to be evicted for the NoExecute taints of its node; undefined: never. */
export function evictionTime(pod: Pod, taints: readonly Taint[], now: number): number | undefined {
  const tolerations = (pod.spec.tolerations ?? []) as readonly Toleration[];
  let earliest = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    if (taint.effect !== "NoExecute") continue;
    const fitting = tolerations.filter((toleration) => tolerates(toleration, taint));
    if (fitting.length === 0) return now;
    const limits = fitting.flatMap(({ tolerationSeconds }) =>
      tolerationSeconds === undefined ? [] : [tolerationSeconds],
    );
    if (limits.length === 0) continue;
    const since = Date.parse(taint.timeAdded ?? "") || now;
    earliest = Math.min(earliest, since + Math.max(0, Math.min(...limits)) * 1000);
  }
  return Number.isFinite(earliest) ? earliest : undefined;
}

function tolerates({ key = "", operator, value = "", effect = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (key !== "" && value === (taint.value ?? ""));
}
