import { at, same } from "../json/json.ts";
import type { Cluster } from "../contract/cluster.ts";
import { DEFINITIONS } from "./status.ts";
import { resourceOf, storageOf } from "./resource.ts";

/** Keeps the catalog of a cluster in step with its CustomResourceDefinitions, from the commit on. */
export function serveDefinitions(cluster: Cluster): void {
  for (const { object } of cluster.store.list({ cluster: cluster.name, resource: DEFINITIONS }).items) {
    const resource = resourceOf(object, cluster.conversions);
    if (resource) cluster.catalog.set(resource.storage, resource);
  }
  cluster.changes.listen(({ resource, object, type, previous }) => {
    if (resource.storage !== DEFINITIONS) return;
    const made = resourceOf(object, cluster.conversions);
    const storage = storageOf(object);
    const sameNames = same(at(previous, "status", "acceptedNames"), at(object, "status", "acceptedNames"));
    const sameSpec = previous?.metadata.generation === object.metadata.generation;
    const unchanged = type === "MODIFIED" && sameSpec && sameNames;
    if (unchanged && cluster.catalog.all().some((r) => r.storage === storage)) return;
    cluster.catalog.set(storage, type === "DELETED" ? undefined : made);
  });
}
