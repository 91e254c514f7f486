import type { Cluster } from "../clusters/cluster.ts";
import { resourceOf } from "../definitions/resource.ts";
import { CLEANUP_FINALIZER, DEFINITIONS } from "../definitions/strategy.ts";
import type { Draft, Resource } from "../kinds/resource.ts";
import { internalCall } from "../registry/call.ts";
import { remove } from "../registry/delete.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "./controller.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

/** Removes all objects of a definition that is being deleted, then lets the definition go. */
export function definitionController(cluster: Cluster): Controller {
  const definitions = builtIn(cluster, "apiextensions.k8s.io", "customresourcedefinitions");
  const loop = startLoop({
    name: "definitions",
    clock: cluster.clock,
    log: cluster.log,
    reconcile: (name) => clean(cluster, definitions, name),
  });
  const dying = new Map<string, string>();
  const note = (name: string, storage: string | undefined): void => {
    if (storage !== undefined) dying.set(storage, name);
    loop.add(name);
  };
  return {
    saw({ resource, object, type }) {
      if (resource === definitions) {
        if (type !== "DELETED" && object.metadata.deletionTimestamp)
          note(object.metadata.name, resourceOf(object)?.storage);
        return;
      }
      const waiting = type === "DELETED" ? dying.get(resource.storage) : undefined;
      if (waiting !== undefined) loop.add(waiting);
    },
    resume() {
      for (const { object } of cluster.store.list({ cluster: cluster.name, resource: DEFINITIONS }).items) {
        if (object.metadata.deletionTimestamp) note(object.metadata.name, resourceOf(object)?.storage);
      }
    },
    stop: () => loop.stop(),
  };
}

async function clean(cluster: Cluster, definitions: Resource, name: string): Promise<void> {
  const stored = cluster.store.get({ cluster: cluster.name, resource: DEFINITIONS, namespace: "", name });
  if (!stored?.object.metadata.deletionTimestamp) return;
  const resource = resourceOf(stored.object);
  if (resource) {
    const query = { cluster: cluster.name, resource: resource.storage };
    for (const { key, object } of cluster.store.list(query).items) {
      if (object.metadata.deletionTimestamp) continue;
      await remove(internalCall(cluster, resource, key), { policy: "Background" }).catch(ignoreMissing);
    }
    if (cluster.store.list({ ...query, limit: 1 }).items.length > 0) return;
  }
  await change(internalCall(cluster, definitions, { name }), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((f) => f !== CLEANUP_FINALIZER);
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}
