import { hasCode } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { at, record } from "../json/json.ts";
import type { Draft, Resource } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { remove } from "../registry/delete.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";

/** Empties a namespace that is being deleted, then lets go of it. What finalizers hold is waited for. */
export function namespaceController(cluster: Cluster): Controller {
  const namespaces = builtIn(cluster, "", "namespaces");
  const loop = startLoop({
    name: "namespaces",
    cluster,
    reconcile: (name) => empty(cluster, namespaces, name),
  });
  const isTerminating = (object: unknown): boolean => at(object, "metadata", "deletionTimestamp") !== undefined;
  return {
    saw({ resource, object, type }) {
      if (resource === namespaces) {
        if (type !== "DELETED" && isTerminating(object)) loop.add(object.metadata.name);
        return;
      }
      // The last object may have gone that a namespace waits for.
      const { namespace } = object.metadata;
      if (type !== "DELETED" || !namespace) return;
      const stored = cluster.store.get({
        cluster: cluster.name,
        resource: "/namespaces",
        namespace: "",
        name: namespace,
      });
      if (stored && isTerminating(stored.object)) loop.add(namespace);
    },
    resume() {
      for (const { object } of cluster.store.list({ cluster: cluster.name, resource: "/namespaces" }).items) {
        if (isTerminating(object)) loop.add(object.metadata.name);
      }
    },
    stop: () => loop.stop(),
  };
}

async function empty(cluster: Cluster, namespaces: Resource, name: string): Promise<void> {
  const stored = cluster.store.get({ cluster: cluster.name, resource: "/namespaces", namespace: "", name });
  if (!stored?.object.metadata.deletionTimestamp) return;
  const namespaced = storedResources(cluster).filter((resource) => resource.namespaced);
  const pods = namespaced.filter(({ storage }) => storage === "/pods");
  // Pods first: what they use is there for as long as they are. Source: KEP-5080.
  if ((await emptyOf(cluster, name, pods)) > 0) return;
  const others = namespaced.filter((resource) => !pods.includes(resource));
  if ((await emptyOf(cluster, name, others)) > 0) return;
  await change(internalCall(cluster, namespaces, { name, subresource: "finalize" }), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    const finalizers = record(draft["spec"])["finalizers"];
    const others = Array.isArray(finalizers) ? finalizers.filter((f) => f !== "kubernetes") : [];
    draft["spec"] = { ...record(draft["spec"]), finalizers: others };
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}

/** Deletes all there is of some resources in a namespace; answers how many objects are held by finalizers. */
async function emptyOf(cluster: Cluster, namespace: string, resources: readonly Resource[]): Promise<number> {
  let left = 0;
  for (const resource of resources) {
    const query = { cluster: cluster.name, resource: resource.storage, namespace };
    const { items } = cluster.store.list(query);
    await Promise.all(items.map(({ object }) => removeOne(cluster, resource, object.metadata)));
    left += cluster.store.list(query).items.length;
  }
  return left;
}

/** Each storage once, though two groups may show it. */
export function storedResources(cluster: Cluster): readonly Resource[] {
  const seen = new Map<string, Resource>();
  for (const r of cluster.catalog.all()) if (r.verbs.includes("list") && !seen.has(r.storage)) seen.set(r.storage, r);
  return [...seen.values()];
}

async function removeOne(
  cluster: Cluster,
  resource: Resource,
  { name, namespace, deletionTimestamp }: { name: string; namespace?: string; deletionTimestamp?: string },
): Promise<void> {
  if (deletionTimestamp && resource.kind !== "Pod") return;
  const target = { name, ...(namespace === undefined ? {} : { namespace }) };
  await remove(internalCall(cluster, resource, target), {
    policy: "Background",
    ...(resource.kind === "Pod" ? { gracePeriodSeconds: 0 } : {}),
  }).catch(ignoreMissing);
}

export function ignoreMissing(error: unknown): void {
  if (!hasCode(error, "KUBERNETES_NOT_FOUND")) throw error;
}
