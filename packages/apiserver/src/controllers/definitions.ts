import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { storageOf } from "../definitions/resource.ts";
import { DEFINITIONS, groupMembers, waitsForNames, withCondition } from "../definitions/status.ts";
import { CLEANUP_FINALIZER } from "../definitions/strategy.ts";
import { at, record, records, same, text, timestamp } from "../json/json.ts";
import type { Draft, Resource } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { remove } from "../registry/delete.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

/** Removes all objects of a CRD that is being deleted, then the CRD itself. */
export function definitionController(cluster: Cluster): Controller {
  const definitions = builtIn(cluster, "apiextensions.k8s.io", "customresourcedefinitions");
  const loop = startLoop({
    name: "definitions",
    cluster,
    reconcile: (name) => clean(cluster, definitions, name),
  });
  const dying = new Map<string, string>();
  const note = (definition: KubeObject): void => {
    dying.set(storageOf(definition), definition.metadata.name);
    loop.add(definition.metadata.name);
  };
  return {
    saw({ resource, object, type, previous }) {
      if (resource === definitions) {
        const freed = type === "DELETED" || !same(accepted(object), accepted(previous));
        if (freed) for (const other of othersInGroup(cluster, object)) loop.add(other);
        if (type !== "DELETED" && object.metadata.deletionTimestamp) note(object);
        return;
      }
      const waiting = type === "DELETED" ? dying.get(resource.storage) : undefined;
      if (waiting !== undefined) loop.add(waiting);
    },
    resume() {
      for (const { object } of cluster.store.list({ cluster: cluster.name, resource: DEFINITIONS }).items) {
        if (object.metadata.deletionTimestamp) note(object);
      }
    },
    stop: () => loop.stop(),
  };
}

async function clean(cluster: Cluster, definitions: Resource, name: string): Promise<void> {
  const stored = cluster.store.get({ cluster: cluster.name, resource: DEFINITIONS, namespace: "", name });
  if (!stored) return;
  if (!stored.object.metadata.deletionTimestamp) {
    if (waitsForNames(stored.object)) await write(cluster, definitions, { name }, () => {});
    return;
  }
  // What it says of itself may have been written over: its objects are there for as long as they are served.
  const storage = storageOf(stored.object);
  const resource = cluster.catalog.all().find((one) => one.custom && one.storage === storage);
  if (resource) {
    const query = { cluster: cluster.name, resource: resource.storage };
    for (const { key, object } of cluster.store.list(query).items) {
      if (object.metadata.deletionTimestamp) continue;
      await remove(internalCall(cluster, resource, key), { policy: "Background" }).catch(ignoreMissing);
    }
    if (cluster.store.list({ ...query, limit: 1 }).items.length > 0) {
      await terminating(cluster, definitions, name);
      return;
    }
  }
  await write(cluster, definitions, { name }, (draft) => {
    draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((f) => f !== CLEANUP_FINALIZER);
  });
}

/** Reports in a condition that objects are still being deleted. */
async function terminating(cluster: Cluster, definitions: Resource, name: string): Promise<void> {
  const condition = {
    type: "Terminating",
    status: "True",
    reason: "InstanceDeletionInProgress",
    message: "CustomResource deletion is in progress",
  };
  await write(cluster, definitions, { name, subresource: "status" }, (draft) => {
    const status = record(draft["status"]);
    const conditions = withCondition(records(status["conditions"]), condition, timestamp(cluster.clock.now()));
    draft["status"] = { ...status, conditions };
  });
}

async function write(
  cluster: Cluster,
  definitions: Resource,
  target: { name: string; subresource?: string },
  by: (draft: Draft) => void,
): Promise<void> {
  await change(internalCall(cluster, definitions, target), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    by(draft);
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}

function accepted(definition: KubeObject | undefined): unknown {
  return at(definition, "status", "acceptedNames");
}

/** CRDs that may have waited for a name that is free now. */
function othersInGroup(cluster: Cluster, definition: KubeObject): string[] {
  return groupMembers(cluster, text(at(definition, "spec", "group")))
    .filter((other) => other.metadata.name !== definition.metadata.name && waitsForNames(other))
    .map((other) => other.metadata.name);
}
