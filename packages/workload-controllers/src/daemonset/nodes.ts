import type { DaemonSet, Node, Pod } from "@causeway/kubernetes";
import { scaled } from "../objects/int-or-percent.ts";
import { isTerminal } from "../objects/pods.ts";
import { eligibility, type Eligibility } from "./eligibility.ts";
import { nodeOf } from "./template.ts";

/** A node with the pods of the DaemonSet that are on it or made for it, the oldest first. */
export interface NodePods extends Eligibility {
  readonly name: string;
  readonly pods: readonly Pod[];
}

/** All pods of a DaemonSet by the node that they are on or made for. */
export interface Placement {
  readonly nodes: readonly NodePods[];
  /** Pods without a node whose node is gone. */
  readonly lost: readonly Pod[];
}

/** Pods that ended and are being deleted are left out: the next pod may take their node. */
export function placementOf(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): Placement {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = nodeOf(pod);
    if (name === undefined || !holds(pod)) continue;
    const others = byNode.get(name);
    if (others) others.push(pod);
    else byNode.set(name, [pod]);
  }
  const judge = eligibility(set);
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  return {
    nodes: nodes.map((node) => {
      const { name } = node.metadata;
      return { name, ...judge(node), pods: (byNode.get(name) ?? []).toSorted(oldestFirst) };
    }),
    lost: [...byNode].flatMap(([name, on]) => (known.has(name) ? [] : on.filter(({ spec }) => !spec.nodeName))),
  };
}

/** Pods with a node first, then by age. */
function oldestFirst(a: Pod, b: Pod): number {
  const placed = Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName));
  if (placed !== 0) return placed;
  const [one, other] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? "");
  if (one !== other) return (one ?? "") < (other ?? "") ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/** A pod that ended and is being deleted does not keep its node from the next one. */
function holds(pod: Pod): boolean {
  return !(isTerminal(pod) && pod.metadata.deletionTimestamp !== undefined);
}

/** Pods, after percentages were resolved: how many more than one a node may have, and how many may be unavailable. */
export interface Limits {
  readonly surge: number;
  readonly unavailable: number;
}

/** What a rolling update may do at a time; 0 of both counts as one pod that may be unavailable. */
export function limitsOf({ spec }: DaemonSet, desired: number): Limits {
  const { type = "RollingUpdate", rollingUpdate = {} } = spec.updateStrategy ?? {};
  if (type !== "RollingUpdate") return { surge: 0, unavailable: 0 };
  const surge = scaled(rollingUpdate.maxSurge, desired, "up");
  const unavailable = scaled(rollingUpdate.maxUnavailable ?? 1, desired, "up");
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

/** Whether two pods may be on one node while it is updated. */
export function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 100).surge > 0;
}
