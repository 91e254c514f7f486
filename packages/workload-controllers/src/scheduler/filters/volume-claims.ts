import type { PodInfo } from "../../model/pod-info.ts";
import { keyText, type PodVolume } from "../../model/spec.ts";
import type { PersistentVolumeClaim } from "../../objects/storage.ts";
import type { StorageView } from "../view.ts";

/** The claim that a volume of a pod names; the claim of an ephemeral volume has the names of both. */
export function claimNameOf(pod: PodInfo, volume: PodVolume): string | undefined {
  if (volume.persistentVolumeClaim) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral ? `${pod.pod.metadata.name}-${volume.name}` : undefined;
}

/** "namespace/name" of the claims of a pod. */
export function claimKeysOf(pod: PodInfo): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume);
    return name === undefined ? [] : [keyText({ namespace: pod.namespace, name })];
  });
}

/** The pod's claims that exist; those that are missing are the affair of the filter VolumeBinding. */
export function claimsOf(pod: PodInfo, storage: StorageView): PersistentVolumeClaim[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume);
    const claim = name === undefined ? undefined : storage.claim(pod.namespace, name);
    return claim ? [claim] : [];
  });
}

/** A claim is bound once both sides say so. */
export function isBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec.volumeName) && metadata.annotations?.["pv.kubernetes.io/bind-completed"] !== undefined;
}

/** Whether a claim waits for the scheduler to choose a node. */
export function waitsForNode({ spec }: PersistentVolumeClaim, storage: StorageView): boolean {
  return storage.storageClass(spec.storageClassName ?? "")?.volumeBindingMode === "WaitForFirstConsumer";
}
