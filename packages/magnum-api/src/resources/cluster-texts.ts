import type { MagnumCluster } from "@causeway/api";
import { linksOf, type Call } from "../call/call.ts";
import { clusterDetail, clusterSummary } from "./cluster-view.ts";

/**
 * The JSON text of clusters in lists. What a cluster's text is made of is converted once for each revision of the
 * object, since lists are polled much more often than clusters change: the informer hands out one and the same object
 * until there is a newer revision, and never a changed one. Links differ by client, and are added each time.
 */
export class ClusterTexts {
  readonly #known = new WeakMap<MagnumCluster, (string | undefined)[]>();

  /** The same as the JSON of `clusterSummary` or `clusterDetail`, with the links at the end. */
  of(cluster: MagnumCluster, call: Pick<Call, "origin" | "minor">, isDetail: boolean): string {
    const texts = this.#known.get(cluster) ?? [];
    const form = (call.minor >= 13 ? 1 : 0) + (isDetail ? 2 : 0);
    const text = (texts[form] ??= withoutLinks(cluster, call, isDetail));
    this.#known.set(cluster, texts);
    return `${text},"links":${JSON.stringify(linksOf(call, `clusters/${cluster.spec.uuid}`))}}`;
  }
}

function withoutLinks(cluster: MagnumCluster, call: Pick<Call, "origin" | "minor">, isDetail: boolean): string {
  const { links: _, ...view } = isDetail ? clusterDetail(cluster, call) : clusterSummary(cluster, call);
  return JSON.stringify(view).slice(0, -1);
}
