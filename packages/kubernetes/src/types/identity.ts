import type { KubeObject, ObjectKey, OwnerReference } from "./meta.ts";

/** The key of an object. */
export function keyOf(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}

/** An owner reference to `object`, which must have been created already. `controller`: as its one controller. */
export function ownerReference(object: KubeObject, options: { controller?: boolean } = {}): OwnerReference {
  const { name, uid } = object.metadata;
  if (!uid) throw new TypeError(`${object.kind} ${name} has no uid yet and cannot own anything`);
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    uid,
    ...(options.controller ? { controller: true, blockOwnerDeletion: true } : {}),
  };
}

/** The reference to the object's one controller, if it has one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** True if the object is controlled by `owner`: the same one, not another of the same name. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return owner.metadata.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

/** Whether a deletion of the object was requested; finalizers may keep it for long after that. */
export function isDeleting({ metadata }: Pick<KubeObject, "metadata">): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/**
 * Whether it is being deleted and nothing holds it any more: no finalizer (a Namespace has them in its spec, too) and
 * no grace period. The API server has no such object; a cache has it until the deletion arrives.
 */
export function isReleased(object: KubeObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  if (!isDeleting(object) || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } };
  return object.kind !== "Namespace" || (spec?.finalizers?.length ?? 0) === 0;
}
