import { PersistentVolume, PersistentVolumeClaim, type Informer, type ObjectKey, type Pod } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { PodVolume } from "../model/spec.ts";

export {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
} from "@causeway/kubernetes";

/** The provisioner of a class whose volumes an administrator makes. */
export const noProvisioner = "kubernetes.io/no-provisioner";
/** Keeps a claim while pods use it. */
export const claimFinalizer = "kubernetes.io/pvc-protection";
/** Keeps a volume while it is bound. */
export const volumeFinalizer = "kubernetes.io/pv-protection";
/** Keeps a VolumeAttributesClass while claims or volumes name it. */
export const attributesClassFinalizer = "kubernetes.io/vac-protection";

/** What Kubernetes' volume controllers and external provisioners write to claims and volumes for each other. */
export const annotation = {
  bindCompleted: "pv.kubernetes.io/bind-completed",
  boundByController: "pv.kubernetes.io/bound-by-controller",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
  provisioner: "volume.kubernetes.io/storage-provisioner",
  betaProvisioner: "volume.beta.kubernetes.io/storage-provisioner",
  selectedNode: "volume.kubernetes.io/selected-node",
};

const cinder = { inTree: "kubernetes.io/cinder", driver: "cinder.csi.openstack.org" };

/**
 * The CSI driver that serves a provisioner: Cinder's has had the in-tree one's volumes and classes since Kubernetes
 * 1.26 (CSI migration).
 */
export function driverOf(provisioner: string): string {
  return provisioner === cinder.inTree ? cinder.driver : provisioner;
}

/** What CSI names a volume by. */
export interface CsiName {
  readonly driver: string;
  readonly volumeHandle: string;
}

/** A volume of CSI, or one of the in-tree driver that a CSI driver serves; its object remains as it is. */
export function csiOf({ spec }: PersistentVolume): CsiName | undefined {
  if (spec.csi) return spec.csi;
  return spec.cinder && { driver: cinder.driver, volumeHandle: spec.cinder.volumeID };
}

/** Names of indexes of volumes: by storage class, and by the claim that they name, as "namespace/name". */
export const volumeIndex = { storageClass: "storageClass", claim: "claim" };

/** The informer of volumes with the indexes above. */
export function volumesOf({ informers }: Context): Informer<PersistentVolume> {
  const volumes = informers.for(PersistentVolume);
  informers.index(volumes, {
    [volumeIndex.storageClass]: ({ spec }) => [spec.storageClassName ?? ""],
    [volumeIndex.claim]: (volume) => {
      const key = volumeClaimKey(volume);
      return key ? [`${key.namespace}/${key.name}`] : [];
    },
  });
  return volumes;
}

/** Names of indexes of claims: by the volume that they name, and those that wait for one under "yes". */
export const claimIndex = { volume: "volume", waiting: "waiting" };

/** The informer of claims with the indexes above. */
export function claimsOf({ informers }: Context): Informer<PersistentVolumeClaim> {
  const claims = informers.for(PersistentVolumeClaim);
  informers.index(claims, {
    [claimIndex.volume]: ({ spec }) => (spec.volumeName ? [spec.volumeName] : []),
    [claimIndex.waiting]: ({ metadata }) =>
      metadata.annotations?.[annotation.bindCompleted] === undefined ? ["yes"] : [],
  });
  return claims;
}

/** The claim that a volume names. */
export function volumeClaimKey({ spec: { claimRef } }: PersistentVolume): ObjectKey | undefined {
  return claimRef?.name ? { namespace: claimRef.namespace ?? "", name: claimRef.name } : undefined;
}

/** Whether a volume names the claim, with its uid or none. */
export function refersTo({ spec: { claimRef } }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  if (claimRef?.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return !claimRef.uid || claimRef.uid === metadata.uid;
}

/** Its kubelet is done with the pod, or it was deleted by force: only finalizers keep it. */
export function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

/** Claims of ephemeral volumes belong to their pods: those of a pod that is shut down are used no more. */
export function claimsInUse(pod: Pod): string[] {
  const volumes = pod.spec.volumes ?? [];
  const left = isShutDown(pod) ? volumes.filter((volume) => !(volume as PodVolume).ephemeral) : volumes;
  return claimsUsedBy({ ...pod, spec: { ...pod.spec, volumes: left } });
}

/**
 * The claims that a pod's volumes name, as "namespace/name"; the claim of an ephemeral volume has the names of both.
 */
export function claimsUsedBy({ metadata, spec }: Pod): string[] {
  const volumes = (spec.volumes ?? []) as readonly PodVolume[];
  return volumes.flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : undefined);
    return claim === undefined ? [] : [`${metadata.namespace}/${claim}`];
  });
}
