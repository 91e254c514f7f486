import type {
  Informer,
  KubernetesClient,
  ObjectKey,
  PersistentVolume,
  PersistentVolumeClaim,
} from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import { index, nameInNamespace, ownerOf } from "../indexes.ts";
import {
  snapshotNames,
  VolumeSnapshotClass,
  type VolumeSnapshot,
  type VolumeSnapshotContent,
} from "../snapshot-objects.ts";
import type { VolumeGroupSnapshot } from "../group-snapshot-objects.ts";
import { volumeOf, type DriverVolume } from "../volume.ts";

/** What the plan of a VolumeSnapshot reads. */
export interface Observed {
  readonly driver: SidecarDriver;
  readonly snapshot: VolumeSnapshot;
  /** The bound one, or the one of its name. */
  readonly content: VolumeSnapshotContent | undefined;
  readonly contentName: string;
  /** The claim to take it of, and its volume if it is this driver's. */
  readonly claim: PersistentVolumeClaim | undefined;
  readonly found: DriverVolume | undefined;
  readonly snapshotClass: VolumeSnapshotClass | undefined;
  /** The group snapshot that made it, while that exists and is not being deleted. */
  readonly group: string | undefined;
  /** A claim whose volume is being made of the snapshot. */
  readonly user: string | undefined;
}

/** The informers that a VolumeSnapshot is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly client: KubernetesClient;
  readonly snapshots: Informer<VolumeSnapshot>;
  readonly contents: Informer<VolumeSnapshotContent>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  /** Undefined: group snapshots are not served. */
  readonly groups: Informer<VolumeGroupSnapshot> | undefined;
}

/** The name of its content: the bound one, the one that the user gave, or one made of the uid. */
export const contentNameOf = ({ metadata, spec, status }: VolumeSnapshot): string =>
  status?.boundVolumeSnapshotContentName || spec.source.volumeSnapshotContentName || `snapcontent-${metadata.uid}`;

/**
 * Reads a VolumeSnapshot, its claim and its content; undefined: it is gone. The class is read only until it has a
 * content.
 */
export async function gather(caches: Caches, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { driver, snapshots, contents, claims, volumes } = caches;
  const snapshot = snapshots.get(key);
  if (!snapshot) return undefined;
  const contentName = contentNameOf(snapshot);
  const content = contents.get({ namespace: "", name: contentName });
  const claimName = snapshot.spec.source.persistentVolumeClaimName;
  const claim = claimName === undefined ? undefined : claims.get({ namespace: key.namespace, name: claimName });
  return {
    driver,
    snapshot,
    content,
    contentName,
    claim,
    found: volumeOf(driver, volumes.get({ namespace: "", name: claim?.spec.volumeName ?? "" })),
    group: groupOf(caches, snapshot),
    snapshotClass: content ? undefined : await classOf(caches, snapshot, signal),
    user: claims.byIndex(index.ofSnapshot, nameInNamespace(snapshot))[0]?.metadata.name,
  };
}

function groupOf({ groups }: Caches, snapshot: VolumeSnapshot): string | undefined {
  const { metadata } = snapshot;
  const owner = ownerOf(snapshot);
  const found = owner && groups?.get({ namespace: metadata.namespace ?? "", name: owner.name });
  const isKept = found?.metadata.uid === owner?.uid && found?.metadata.deletionTimestamp === undefined;
  return isKept ? found?.metadata.name : undefined;
}

/** The class that it names, else the driver's default one. */
async function classOf(
  { client, driver }: Caches,
  { spec }: VolumeSnapshot,
  signal: AbortSignal,
): Promise<VolumeSnapshotClass | undefined> {
  const name = spec.volumeSnapshotClassName;
  if (name !== undefined) return client.find(VolumeSnapshotClass, { namespace: "", name }, { signal });
  const { items } = await client.list(VolumeSnapshotClass, { signal });
  const isDefault = (each: VolumeSnapshotClass) =>
    each.driver === driver.name && each.metadata.annotations?.[snapshotNames.defaultClass] === "true";
  const [only, second] = items.filter(isDefault);
  return second ? undefined : only;
}
