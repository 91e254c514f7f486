import type { Cluster } from "../contract/cluster.ts";
import { isTrue, type RequestInfo } from "../contract/request-info.ts";

/** What a request is expected to take. */
export interface Work {
  /** Objects it reads. */
  readonly objects: number;
}

/** Objects that one seat represents (kube-apiserver's estimate of the width of lists). */
export const OBJECTS_PER_SEAT = 100;

/** How many objects there are of each resource of a cluster: counted once, then kept by what is written. */
export class ObjectCounts {
  readonly #cluster: Cluster;
  readonly #counts = new Map<string, number>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    cluster.changes.listen(({ type, resource }) => {
      const known = this.#counts.get(resource.storage);
      if (known === undefined || type === "MODIFIED") return;
      this.#counts.set(resource.storage, known + (type === "ADDED" ? 1 : -1));
    });
  }

  of(storage: string): number {
    let known = this.#counts.get(storage);
    if (known === undefined) {
      const { name, store } = this.#cluster;
      const page = store.list({ cluster: name, resource: storage, limit: 1 });
      known = page.items.length + (page.remaining ?? 0);
      this.#counts.set(storage, known);
    }
    return known;
  }
}

const ONE: Work = { objects: 1 };

/** Estimates a request: lists (and watches that begin with one) by the objects there are, everything else as one. */
export function workOf(info: RequestInfo, query: URLSearchParams, counts: ObjectCounts): Work {
  if (!info.isResource || info.name !== "") return ONE;
  if (info.verb === "watch" && !isTrue(query.get("sendInitialEvents"))) return ONE;
  if (info.verb !== "list" && info.verb !== "watch" && info.verb !== "deletecollection") return ONE;
  if (query.get("fieldSelector")?.startsWith("metadata.name=")) return ONE;
  const stored = counts.of(`${info.group}/${info.plural}`);
  const limit = Number(query.get("limit") ?? 0) || stored;
  const isSelected = query.has("labelSelector") || query.has("fieldSelector");
  return { objects: Math.max(1, isSelected ? stored : Math.min(limit, stored)) };
}
