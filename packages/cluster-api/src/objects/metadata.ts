import type { KubeObject, OwnerReference } from "@causeway/kubernetes";

/** What an object's metadata must hold; the rest of it is left alone. */
export interface WantedMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** An owner with `controller` takes the place of the controller there is. */
  readonly owner?: OwnerReference;
  readonly finalizer?: string;
}

/**
 * A merge patch that adds what is missing, locked to the revision it was made from; undefined when nothing is missing.
 */
export function metadataPatch(object: KubeObject, wanted: WantedMetadata): Record<string, unknown> | undefined {
  const { metadata } = object;
  const labels = missing(metadata.labels, wanted.labels);
  const annotations = missing(metadata.annotations, wanted.annotations);
  const owners = wanted.owner && withOwner(metadata.ownerReferences ?? [], wanted.owner);
  const finalizers =
    wanted.finalizer !== undefined && metadata.deletionTimestamp === undefined
      ? withFinalizer(metadata.finalizers ?? [], wanted.finalizer)
      : undefined;
  if (!labels && !annotations && !owners && !finalizers) return undefined;
  return {
    metadata: {
      ...lockOf(object),
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(owners ? { ownerReferences: owners } : {}),
      ...(finalizers ? { finalizers } : {}),
    },
  };
}

/** A merge patch without the finalizer; undefined when it is not there. */
export function finalizerRemoval(object: KubeObject, finalizer: string): Record<string, unknown> | undefined {
  const present = object.metadata.finalizers ?? [];
  if (!present.includes(finalizer)) return undefined;
  return { metadata: { ...lockOf(object), finalizers: present.filter((name) => name !== finalizer) } };
}

/** True when the object is being deleted and we have nothing left to do for it. */
export function isLeaving(object: KubeObject, finalizer: string): boolean {
  return object.metadata.deletionTimestamp !== undefined && !(object.metadata.finalizers ?? []).includes(finalizer);
}

/** The entries of `wanted` that `present` lacks or holds otherwise. */
export function missing(
  present: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined {
  const entries = Object.entries(wanted ?? {}).filter(([key, value]) => present?.[key] !== value);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** metadata fields that make a write fail with a conflict if the object has changed since. */
export function lockOf(object: KubeObject): { uid?: string; resourceVersion?: string } {
  const { uid, resourceVersion } = object.metadata;
  return { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
}

function withFinalizer(present: readonly string[], finalizer: string): string[] | undefined {
  return present.includes(finalizer) ? undefined : [...present, finalizer];
}

function withOwner(present: readonly OwnerReference[], owner: OwnerReference): OwnerReference[] | undefined {
  const same = present.find((reference) => reference.uid === owner.uid);
  if (same && same.apiVersion === owner.apiVersion && (same.controller ?? false) === (owner.controller ?? false)) {
    return undefined;
  }
  const others = present.filter((reference) => reference.uid !== owner.uid);
  const kept = owner.controller ? others.filter((reference) => reference.controller !== true) : others;
  return [...kept, owner];
}
