import { hasCode, messageOf } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { at, record, type Json } from "../json/json.ts";
import type { Draft, Resource } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { remove } from "../registry/delete.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { terminatingConditions, type NamespaceRemains } from "./namespace-conditions.ts";

/** Empties a namespace that is being deleted, then removes its finalizer. What finalizers hold is waited for. */
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
  const held = await emptyOf(cluster, name, pods);
  const others = namespaced.filter((resource) => !pods.includes(resource));
  const left = isEmpty(held) ? await emptyOf(cluster, name, others) : held;
  if (!isEmpty(left)) {
    await report(cluster, namespaces, { name, left });
    const [failure] = left.errors;
    if (failure !== undefined) throw failure;
    return;
  }
  await change(internalCall(cluster, namespaces, { name, subresource: "finalize" }), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    const finalizers = record(draft["spec"])["finalizers"];
    const others = Array.isArray(finalizers) ? finalizers.filter((f) => f !== "kubernetes") : [];
    draft["spec"] = { ...record(draft["spec"]), finalizers: others };
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}

interface Left extends NamespaceRemains {
  readonly errors: readonly unknown[];
}

function isEmpty({ objects, errors }: Left): boolean {
  return objects.size === 0 && errors.length === 0;
}

/** The status says what a namespace waits for. */
async function report(
  cluster: Cluster,
  namespaces: Resource,
  { name, left }: { readonly name: string; readonly left: Left },
): Promise<void> {
  const now = cluster.clock.now();
  const of = (object: KubeObject): Json[] | undefined =>
    terminatingConditions(at(object, "status", "conditions"), left, now);
  const stored = cluster.store.get({ cluster: cluster.name, resource: "/namespaces", namespace: "", name });
  if (!stored || !of(stored.object)) return;
  await change(internalCall(cluster, namespaces, { name, subresource: "status" }), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    const conditions = of(object);
    if (conditions) draft["status"] = { ...record(draft["status"]), conditions };
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}

/** Deletes all there is of some resources in a namespace; answers what is left: finalizers hold it. */
async function emptyOf(cluster: Cluster, namespace: string, resources: readonly Resource[]): Promise<Left> {
  const objects = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const errors: unknown[] = [];
  for (const resource of resources) {
    const query = { cluster: cluster.name, resource: resource.storage, namespace };
    const { items } = cluster.store.list(query);
    const ended = await Promise.allSettled(items.map(({ object }) => removeOne(cluster, resource, object.metadata)));
    errors.push(...ended.flatMap((each): unknown[] => (each.status === "rejected" ? [each.reason] : [])));
    const left = cluster.store.list(query).items;
    if (left.length > 0) objects.set(`${resource.plural}.${resource.group}`, left.length);
    for (const name of left.flatMap(({ object }) => object.metadata.finalizers ?? [])) {
      finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
    }
  }
  return { objects, finalizers, errors, failures: errors.map(messageOf) };
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

/** For a delete of what another client may have deleted before. */
export function ignoreMissing(error: unknown): void {
  if (!hasCode(error, "KUBERNETES_NOT_FOUND")) throw error;
}
