import type { OwnerReference, Pod, StatefulSet } from "@causeway/kubernetes";
import type { PersistentVolumeClaim } from "../objects/storage.ts";
import { controllerReference, isKept } from "./identity.ts";

/**
 * persistentVolumeClaimRetentionPolicy is kept by owner references, so that the garbage collector deletes a claim with
 * the set (whenDeleted) or with the pod that was scaled away (whenScaled). Undefined: the references are as they should
 * be.
 */
export function wantedOwners(
  set: StatefulSet,
  { pod, ordinal }: { readonly pod: Pod; readonly ordinal: number },
  claim: PersistentVolumeClaim,
): OwnerReference[] | undefined {
  const { whenDeleted = "Retain", whenScaled = "Retain" } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const given = claim.metadata.ownerReferences ?? [];
  const others = given.filter((reference) => !isOf(reference, set) && !isOf(reference, pod));
  const isForeign = others.some(({ controller }) => controller === true);
  const isScaledAway = !isKept(set, ordinal);
  const owners = [
    ...(whenScaled === "Delete" && isScaledAway ? [pod] : []),
    ...(whenDeleted === "Delete" && !(whenScaled === "Delete" && isScaledAway) ? [set] : []),
  ];
  const wanted = [...others, ...(isForeign ? [] : owners.map(controllerReference))];
  return sameOwners(given, wanted) ? undefined : wanted;
}

/** The claim is owned by an earlier pod of the same name: it is about to be deleted with it. */
export function isStale(claim: PersistentVolumeClaim, pod: string, uid: string | undefined): boolean {
  return (claim.metadata.ownerReferences ?? []).some(
    (reference) => reference.kind === "Pod" && reference.name === pod && reference.uid !== uid,
  );
}

function isOf({ kind, name, uid }: OwnerReference, object: Pod | StatefulSet): boolean {
  return uid === object.metadata.uid || (kind === object.kind && name === object.metadata.name);
}

function sameOwners(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  const ids = (references: readonly OwnerReference[]) =>
    references.map(({ uid, controller }) => `${uid} ${controller === true}`).sort();
  return ids(a).join() === ids(b).join();
}
