import type { CSINode, PersistentVolumeClaim, VolumeAttachment } from "@causeway/kubernetes";
import type { VolumeSnapshot } from "./snapshot-objects.ts";

/**
 * The names of indexes of informers. Each change of an object finds what depends on it by one of them: a list of all
 * for each would let a cluster with many claims and snapshots hold up those of every other cluster.
 */
export const index = {
  /** Attachments by the name of their volume. */
  ofVolume: "volume",
  /** Claims that have no volume: all under "". */
  unbound: "unbound",
  /** Pending claims by the VolumeSnapshot that their volume is made of. */
  ofSnapshot: "snapshot",
  /** VolumeSnapshots by the claim that they are of. */
  ofClaim: "claim",
  /** VolumeSnapshots by the uid of the group snapshot that made them. */
  ofGroup: "group",
};

const inNamespace = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

/** Indexes of the informer of VolumeAttachments, by the names of `index`. */
export const attachmentIndexes = {
  [index.ofVolume]: ({ spec }: VolumeAttachment) => [spec.source.persistentVolumeName ?? ""],
};

/** The VolumeSnapshot that a claim's volume is made of; undefined: none. */
export function sourceSnapshot({ metadata, spec }: PersistentVolumeClaim): string | undefined {
  const source = spec.dataSourceRef ?? spec.dataSource;
  return source?.kind === "VolumeSnapshot" ? inNamespace(metadata.namespace, source.name) : undefined;
}

/** Indexes of the informer of PersistentVolumeClaims, by the names of `index`. */
export const claimIndexes = {
  [index.unbound]: ({ spec }: PersistentVolumeClaim) => (spec.volumeName ? [] : [""]),
  [index.ofSnapshot]: (claim: PersistentVolumeClaim) => {
    const snapshot = claim.status?.phase === "Pending" ? sourceSnapshot(claim) : undefined;
    return snapshot === undefined ? [] : [snapshot];
  },
};

/** Of an object, as `sourceSnapshot` has it. */
export const nameInNamespace = ({ metadata }: Pick<VolumeSnapshot | PersistentVolumeClaim, "metadata">): string =>
  inNamespace(metadata.namespace, metadata.name);

/** The owner reference to the VolumeGroupSnapshot that made a snapshot; undefined: a user made it. */
export const ownerOf = ({ metadata }: VolumeSnapshot) =>
  metadata.ownerReferences?.find(({ kind }) => kind === "VolumeGroupSnapshot");

/** Indexes of the informer of VolumeSnapshots, by the names of `index`. */
export const snapshotIndexes = {
  [index.ofClaim]: ({ metadata, spec }: VolumeSnapshot) => {
    const claim = spec.source.persistentVolumeClaimName;
    return claim === undefined ? [] : [inNamespace(metadata.namespace, claim)];
  },
  [index.ofGroup]: (snapshot: VolumeSnapshot) => {
    const owner = ownerOf(snapshot);
    return owner ? [owner.uid] : [];
  },
};

/** Whether the node's registration of the driver is as it was before. */
export function isSameRegistration(driver: string, now: CSINode, before: CSINode | undefined): boolean {
  if (before === undefined) return false;
  const of = ({ spec }: CSINode) => JSON.stringify(spec.drivers?.find(({ name }) => name === driver));
  return of(now) === of(before);
}
