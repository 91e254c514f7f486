import type { ContainerStatus, Pod } from "@causeway/kubernetes";
import { isActive, isReady, readySince } from "../objects/pods.ts";

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** Negative: the first pod is deleted before the second. 0: this rule does not decide. */
type Rule = (a: Rated, b: Rated) => number;

interface Rated {
  readonly pod: Pod;
  readonly ready: boolean;
  /** Active pods of the same owner or its siblings on the same node. */
  readonly rank: number;
  readonly readyAge: number | undefined;
  readonly age: number | undefined;
}

/** The order in which upstream's ReplicaSet controller deletes pods (ActivePodsWithRanks). */
const rules: readonly Rule[] = [
  (a, b) => Number(Boolean(a.pod.spec.nodeName)) - Number(Boolean(b.pod.spec.nodeName)),
  (a, b) => phaseOf(a.pod) - phaseOf(b.pod),
  (a, b) => Number(a.ready) - Number(b.ready),
  (a, b) => deletionCost(a.pod) - deletionCost(b.pod),
  (a, b) => b.rank - a.rank,
  (a, b) => (a.ready && b.ready ? byAge(a, b, "readyAge") : 0),
  (a, b) => restarts(b.pod.status?.containerStatuses) - restarts(a.pod.status?.containerStatuses),
  (a, b) => restarts(b.pod.status?.initContainerStatuses) - restarts(a.pod.status?.initContainerStatuses),
  (a, b) => byAge(a, b, "age"),
];

/** How many pods to delete; `related` are the pods by which nodes are ranked: the fullest loses one first. */
export interface DeletionOptions {
  readonly count: number;
  readonly related: readonly Pod[];
  readonly now: number;
}

/** The `count` pods to delete first. */
export function podsToDelete(pods: readonly Pod[], { count, related, now }: DeletionOptions): Pod[] {
  if (count >= pods.length) return [...pods];
  const onNode = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec.nodeName ?? "";
    if (isActive(pod)) onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const rated = pods.map((pod): Rated => {
    const since = readySince(pod);
    const created = pod.metadata.creationTimestamp;
    return {
      pod,
      ready: isReady(pod),
      rank: onNode.get(pod.spec.nodeName ?? "") ?? 0,
      readyAge: since === undefined ? undefined : now - since,
      age: created === undefined ? undefined : now - Date.parse(created),
    };
  });
  return rated
    .sort(compare)
    .slice(0, count)
    .map(({ pod }) => pod);
}

function compare(a: Rated, b: Rated): number {
  for (const rule of rules) {
    const order = rule(a, b);
    if (order !== 0) return order;
  }
  return a.pod.metadata.name < b.pod.metadata.name ? -1 : 1;
}

function phaseOf(pod: Pod): number {
  return PHASES[pod.status?.phase ?? "Pending"] ?? 0;
}

function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.[DELETION_COST] ?? "";
  const cost = /^(0|-?[1-9]\d{0,9})$/.test(text) ? Number(text) : 0;
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

/** The younger first; ages are compared by their logarithm to the base 2, and by uid where that is the same. */
function byAge(a: Rated, b: Rated, field: "readyAge" | "age"): number {
  const one = a[field];
  const other = b[field];
  if (one === other) return 0;
  if (one === undefined) return -1;
  if (other === undefined) return 1;
  const difference = magnitude(one) - magnitude(other);
  if (difference !== 0) return difference;
  return (a.pod.metadata.uid ?? "") < (b.pod.metadata.uid ?? "") ? -1 : 1;
}

/** Of nanoseconds, as upstream computes it. */
function magnitude(milliseconds: number): number {
  return milliseconds > 0 ? Math.floor(Math.log2(milliseconds * 1e6)) : -1;
}

function restarts(statuses: readonly ContainerStatus[] = []): number {
  return Math.max(0, ...statuses.map(({ restartCount = 0 }) => restartCount));
}
