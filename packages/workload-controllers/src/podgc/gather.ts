import type { Informer, Node, ObjectKey, Pod } from "@causeway/kubernetes";

/** The pods to judge together. */
export type Observed =
  | {
      readonly of: "node";
      readonly node: Node | undefined;
      readonly missingSince: number;
      readonly pods: readonly Pod[];
    }
  | { readonly of: "ended" | "unscheduled"; readonly pods: readonly Pod[] };

/** What gather reads; `absences` remembers nodes that pods name and that the cache lacks. */
export interface Caches {
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly absences: Absences;
  /** Reads a node from the server. */
  readonly find: (name: string, signal: AbortSignal) => Promise<Node | undefined>;
}

/** Since when nodes that pods name are not in the cache. */
export class Absences {
  readonly #since = new Map<string, number>();

  since(name: string, now: number): number {
    const known = this.#since.get(name) ?? now;
    this.#since.set(name, known);
    return known;
  }

  forget(name: string): void {
    this.#since.delete(name);
  }
}

/** Names of indexes of pods. */
export const index = { node: "nodeName", garbage: "garbage" };

/** Keys of pods that are not judged by node have this in place of a namespace. */
const cluster = "#";
/** The key on the queue for all pods that ended. */
export const endedKey: ObjectKey = { namespace: cluster, name: "ended" };
/** The key on the queue for all pods that are being deleted and were never on a node. */
export const unscheduledKey: ObjectKey = { namespace: cluster, name: "unscheduled" };
/** The key on the queue for the pods of one node, whether it exists or not. */
export const nodeKey = (name: string): ObjectKey => ({ namespace: "", name });

/** The index `garbage`: under "unscheduled" or "ended", or not at all. */
export function garbageOf({ status, spec, metadata }: Pod): string[] {
  if (metadata.deletionTimestamp !== undefined && !spec.nodeName) return [unscheduledKey.name];
  return status?.phase === "Succeeded" || status?.phase === "Failed" ? [endedKey.name] : [];
}

/** Reads a node from the server only if it was missing at an earlier gather too. */
export async function gather(
  { nodes, pods, absences, find }: Caches,
  key: ObjectKey,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<Observed> {
  if (key.namespace === cluster) {
    return { of: key.name === endedKey.name ? "ended" : "unscheduled", pods: pods.byIndex(index.garbage, key.name) };
  }
  const { name } = key;
  const on = pods.byIndex(index.node, name);
  const cached = nodes.get({ namespace: "", name });
  if (cached || on.length === 0) absences.forget(name);
  const missingSince = cached || on.length === 0 ? now : absences.since(name, now);
  // The cache may be late: the server has the last word.
  const node = cached ?? (missingSince < now ? await find(name, signal) : undefined);
  return { of: "node", node, missingSince, pods: on };
}
