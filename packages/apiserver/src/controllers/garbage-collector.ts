import type { KubeObject, OwnerReference } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { same } from "../json/json.ts";
import type { Draft, Resource } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { remove } from "../registry/delete.ts";
import { change } from "../registry/update.ts";
import type { StoreKey } from "../store/index.ts";
import type { Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing, storedResources } from "./namespaces.ts";

const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

/** Which objects name an owner: by the owner's uid, the keys of its dependents. Objects without owners cost nothing. */
class Dependents {
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #ownersOf = new Map<string, readonly string[]>();

  set(key: string, owners: readonly string[]): void {
    for (const uid of this.#ownersOf.get(key) ?? []) {
      const dependents = this.#byOwner.get(uid);
      dependents?.delete(key);
      if (dependents?.size === 0) this.#byOwner.delete(uid);
    }
    if (owners.length === 0) {
      this.#ownersOf.delete(key);
      return;
    }
    this.#ownersOf.set(key, owners);
    for (const uid of owners) this.#byOwner.set(uid, (this.#byOwner.get(uid) ?? new Set()).add(key));
  }

  of(uid: string): readonly string[] {
    return [...(this.#byOwner.get(uid) ?? [])];
  }
}

/**
 * Deletes what its owners leave behind. Owners are known by uid, never by name alone; an owner of a kind that is
 * not served is not mistaken for gone. Source: kubernetes.io "Garbage Collection".
 */
export function garbageCollector(cluster: Cluster): Controller {
  const dependents = new Dependents();
  const loop = startLoop({
    name: "garbage-collector",
    cluster,
    reconcile: (key) => collect(cluster, dependents, key),
  });
  const learn = (resource: Resource, object: KubeObject): void => {
    const key = keyText(resource, object);
    const owners = object.metadata.ownerReferences ?? [];
    dependents.set(
      key,
      owners.map((o) => o.uid),
    );
    if (owners.length > 0 || isHeld(object)) loop.add(key);
  };
  const recall = (owners: readonly OwnerReference[], { metadata }: KubeObject): void => {
    for (const owner of owners) {
      const found = find(cluster, owner, metadata.namespace);
      if (found && isHeld(found.object)) loop.add(keyText(found.resource, found.object));
    }
  };
  return {
    saw({ resource, object, type, previous }) {
      if (type !== "DELETED") {
        const hadOwners = (previous?.metadata.ownerReferences?.length ?? 0) > 0;
        const hasOwners = (object.metadata.ownerReferences?.length ?? 0) > 0;
        if (hadOwners || hasOwners || isHeld(object)) learn(resource, object);
        const { ownerReferences: before } = previous?.metadata ?? {};
        // Who waited for it may wait no longer.
        if (before && !same(before, object.metadata.ownerReferences)) recall(before, object);
        return;
      }
      dependents.set(keyText(resource, object), []);
      for (const key of dependents.of(object.metadata.uid ?? "")) loop.add(key);
      recall(object.metadata.ownerReferences ?? [], object);
    },
    resume() {
      for (const resource of storedResources(cluster)) {
        for (const { object } of cluster.store.list({ cluster: cluster.name, resource: resource.storage }).items) {
          learn(resource, object);
        }
      }
    },
    stop: () => loop.stop(),
  };
}

function keyText(resource: Resource, { metadata }: KubeObject): string {
  return JSON.stringify([resource.storage, metadata.namespace ?? "", metadata.name]);
}

/** Being deleted, and waiting for what happens to its dependents. */
function isHeld({ metadata }: KubeObject): boolean {
  if (!metadata.deletionTimestamp) return false;
  return metadata.finalizers?.some((f) => f === FOREGROUND || f === ORPHAN) ?? false;
}

interface Found {
  readonly resource: Resource;
  readonly key: StoreKey;
  readonly object: KubeObject;
}

function read(cluster: Cluster, key: string): Found | undefined {
  const [storage = "", namespace = "", name = ""] = JSON.parse(key) as string[];
  const resource = storedResources(cluster).find((r) => r.storage === storage);
  const stored = cluster.store.get({ cluster: cluster.name, resource: storage, namespace, name });
  return resource && stored ? { resource, key: stored.key, object: stored.object } : undefined;
}

function find(cluster: Cluster, owner: OwnerReference, namespace: string | undefined): Found | undefined {
  const state = ownerState(cluster, owner, namespace);
  return typeof state === "object" ? state : undefined;
}

/** The owner, or that it is deleted, or that this is unknown. */
function ownerState(
  cluster: Cluster,
  owner: OwnerReference,
  namespace: string | undefined,
): Found | "gone" | "unknown" {
  const slash = owner.apiVersion.indexOf("/");
  const resource = cluster.catalog.byKind(slash < 0 ? "" : owner.apiVersion.slice(0, slash), owner.kind);
  if (!resource) return "unknown";
  // A cluster-scoped object cannot have a namespaced owner: such a reference is never acted on.
  if (resource.namespaced && namespace === undefined) return "unknown";
  const key = {
    cluster: cluster.name,
    resource: resource.storage,
    namespace: resource.namespaced ? (namespace ?? "") : "",
    name: owner.name,
  };
  const stored = cluster.store.get(key);
  if (!stored || stored.object.metadata.uid !== owner.uid) return "gone";
  return { resource, key, object: stored.object };
}

async function collect(cluster: Cluster, dependents: Dependents, key: string): Promise<void> {
  const found = read(cluster, key);
  if (!found) return;
  if (isHeld(found.object)) await settle(cluster, dependents, found);
  else await judge(cluster, dependents, found);
}

/** A dependent: gone when all its owners are gone; otherwise it only forgets those that are. */
async function judge(cluster: Cluster, dependents: Dependents, found: Found): Promise<void> {
  const { metadata } = found.object;
  const owners = metadata.ownerReferences ?? [];
  if (owners.length === 0 || metadata.deletionTimestamp) return;
  const states = owners.map((o) => ({ owner: o, state: ownerState(cluster, o, metadata.namespace) }));
  const gone = states.filter((s) => s.state === "gone").map((s) => s.owner.uid);
  const leaving = states.filter(
    ({ owner, state }) =>
      typeof state === "object" && owner.blockOwnerDeletion === true && waitsForDependents(state.object),
  );
  const staying = states.length - gone.length - leaving.length;
  if (staying > 0) {
    const dropped = [...gone, ...leaving.map((s) => s.owner.uid)];
    if (dropped.length > 0) await forget(cluster, found, dropped);
    return;
  }
  const { uid = "" } = metadata;
  const policy = leaving.length > 0 ? "Foreground" : "Background";
  if (leaving.length > 0 && isInCircle(cluster, dependents, uid)) await unblock(cluster, found);
  const kept = metadata.finalizers?.includes(ORPHAN) ? {} : { policy: policy as "Foreground" | "Background" };
  await remove(internalCall(cluster, found.resource, found.key), { uid, ...kept }).catch(ignoreMissing);
}

/** Whether what waits for it to go has one that waits in turn for it: then none of them would ever go. */
function isInCircle(cluster: Cluster, dependents: Dependents, uid: string): boolean {
  return dependents.of(uid).some((key) => {
    const dependent = read(cluster, key);
    return dependent !== undefined && waitsForDependents(dependent.object);
  });
}

/** Its owners wait for it no longer. */
async function unblock(cluster: Cluster, { resource, key }: Found): Promise<void> {
  await edit(cluster, { resource, key }, ({ metadata }) => {
    metadata.ownerReferences = (metadata.ownerReferences ?? []).map((o) => ({ ...o, blockOwnerDeletion: false }));
  });
}

function waitsForDependents({ metadata }: KubeObject): boolean {
  return Boolean(metadata.deletionTimestamp) && (metadata.finalizers?.includes(FOREGROUND) ?? false);
}

/** An owner on its way out: orphans its dependents, or has them go first. */
async function settle(cluster: Cluster, dependents: Dependents, owner: Found): Promise<void> {
  const { uid = "", finalizers = [] } = owner.object.metadata;
  const own = dependents
    .of(uid)
    .map((key) => read(cluster, key))
    .filter((d) => d !== undefined);
  if (finalizers.includes(ORPHAN)) {
    for (const dependent of own) await forget(cluster, dependent, [uid]);
    return letGo(cluster, owner, ORPHAN);
  }
  const blocking = own.filter((d) =>
    d.object.metadata.ownerReferences?.some((o) => o.uid === uid && o.blockOwnerDeletion),
  );
  if (blocking.length === 0) return letGo(cluster, owner, FOREGROUND);
  for (const dependent of own)
    if (!dependent.object.metadata.deletionTimestamp) await judge(cluster, dependents, dependent);
}

async function letGo(cluster: Cluster, { resource, key }: Found, finalizer: string): Promise<void> {
  await edit(cluster, { resource, key }, (draft) => {
    draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((f) => f !== finalizer);
  });
}

async function forget(cluster: Cluster, { resource, key }: Found, uids: readonly string[]): Promise<void> {
  await edit(cluster, { resource, key }, (draft) => {
    const kept = (draft.metadata.ownerReferences ?? []).filter((o) => !uids.includes(o.uid));
    if (kept.length > 0) draft.metadata.ownerReferences = kept;
    else delete draft.metadata.ownerReferences;
  });
}

async function edit(
  cluster: Cluster,
  { resource, key }: Pick<Found, "resource" | "key">,
  by: (draft: Draft) => void,
): Promise<void> {
  await change(internalCall(cluster, resource, key), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    by(draft);
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}
