import { controllerOf, type Informer, type KubeObject, type ObjectKey, type Pod } from "@causeway/kubernetes";
import { by } from "../objects/caches.ts";
import type { OwnedPods } from "../objects/owned-pods.ts";
import type { ReplicaOwner, Variant } from "./variant.ts";

/** A ReplicaSet or ReplicationController, and the pods that it controls or may adopt. */
export interface Observed {
  readonly owner: ReplicaOwner;
  /** Pods that the owner controls, whether it selects them or not. */
  readonly pods: readonly Pod[];
  /** Pods of the namespace without a controller. */
  readonly orphans: readonly Pod[];
  /** Pods of all owners that have the same controller as this one: those of one Deployment. */
  readonly related: readonly Pod[];
}

/** What gather reads, for one of the two kinds. */
export interface Caches<T extends KubeObject> {
  readonly variant: Variant<T>;
  readonly owners: Informer<T>;
  readonly pods: OwnedPods;
}

/** Undefined: the owner does not exist. Lists its pods again if the answer to a create was lost. */
export async function gather<T extends KubeObject>(
  { variant, owners, pods }: Caches<T>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const object = owners.get(key);
  if (!object) return undefined;
  const owner = variant.ownerOf(object);
  await pods.settle(object, owner.selector, signal);
  const controlled = pods.controlledBy(object);
  const siblings = owners.byIndex(by.controller, controllerOf(object)?.uid ?? "");
  return {
    owner,
    pods: controlled,
    orphans: pods.orphans(key.namespace),
    related: siblings.length < 2 ? controlled : siblings.flatMap((sibling) => pods.controlledBy(sibling)),
  };
}
