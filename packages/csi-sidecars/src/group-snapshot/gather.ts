import {
  matchesSelector,
  type Informer,
  type KubernetesClient,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import {
  groupNames,
  VolumeGroupSnapshotClass,
  type VolumeGroupSnapshot,
  type VolumeGroupSnapshotContent,
} from "../group-snapshot-objects.ts";
import { index, nameInNamespace } from "../indexes.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";
import { volumeOf, type DriverVolume } from "../volume.ts";

/** A claim that the group's selector matches, and its volume. */
export interface Source {
  readonly claim: PersistentVolumeClaim;
  /** Undefined: it is not bound, or to another driver's volume. */
  readonly found: DriverVolume | undefined;
}

/** What the plan of a VolumeGroupSnapshot reads. */
export interface Observed {
  readonly driver: SidecarDriver;
  readonly group: VolumeGroupSnapshot;
  /** The bound one, or the one of its name. */
  readonly content: VolumeGroupSnapshotContent | undefined;
  readonly contentName: string;
  readonly groupClass: VolumeGroupSnapshotClass | undefined;
  /** Of the claims that its selector matches; read when there is no content. */
  readonly sources: readonly Source[];
  /** The VolumeSnapshots that it owns. */
  readonly members: readonly VolumeSnapshot[];
  /** Of the VolumeSnapshotContent of that name. */
  readonly memberContent: (name: string) => VolumeSnapshotContent | undefined;
  /** Of this driver, by its ID. */
  readonly volume: (handle: string) => PersistentVolume | undefined;
  /** A claim whose volume is being made of a member. */
  readonly user: string | undefined;
}

/** The informers that a VolumeGroupSnapshot is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly client: KubernetesClient;
  readonly groups: Informer<VolumeGroupSnapshot>;
  readonly groupContents: Informer<VolumeGroupSnapshotContent>;
  readonly snapshots: Informer<VolumeSnapshot>;
  readonly contents: Informer<VolumeSnapshotContent>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
}

/** The name of its content: the bound one, the one that the user gave, or one made of the uid. */
export const groupContentNameOf = ({ metadata, spec, status }: VolumeGroupSnapshot): string =>
  status?.boundVolumeGroupSnapshotContentName ||
  spec.source.volumeGroupSnapshotContentName ||
  `groupsnapcontent-${metadata.uid}`;

/**
 * Reads a VolumeGroupSnapshot with its members; undefined: it is gone. Claims and class are read only until it has a
 * content.
 */
export async function gather(caches: Caches, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { driver, groups, groupContents, snapshots, contents, claims } = caches;
  const group = groups.get(key);
  if (!group) return undefined;
  const contentName = groupContentNameOf(group);
  const content = groupContents.get({ namespace: "", name: contentName });
  const isHere = ({ metadata }: VolumeSnapshot) => metadata.namespace === key.namespace;
  const members = snapshots.byIndex(index.ofGroup, group.metadata.uid ?? "").filter(isHere);
  const users = members.flatMap((member) => claims.byIndex(index.ofSnapshot, nameInNamespace(member)));
  return {
    driver,
    group,
    content,
    contentName,
    groupClass: content ? undefined : await classOf(caches, group, signal),
    sources: content ? [] : sourcesOf(caches, group),
    members,
    memberContent: (name) => contents.get({ namespace: "", name }),
    volume: (handle) => caches.volumes.list().find((each) => volumeOf(driver, each)?.csi.volumeHandle === handle),
    user: users[0]?.metadata.name,
  };
}

function sourcesOf({ driver, claims, volumes }: Caches, { metadata, spec }: VolumeGroupSnapshot): readonly Source[] {
  const { selector } = spec.source;
  if (!selector) return [];
  return claims
    .list(metadata.namespace)
    .filter(({ metadata: { labels = {} } }) => matchesSelector(selector, labels))
    .map((claim) => ({
      claim,
      found: volumeOf(driver, volumes.get({ namespace: "", name: claim.spec.volumeName ?? "" })),
    }));
}

/** The class that it names, else the driver's default one. */
async function classOf(
  { client, driver }: Caches,
  { spec }: VolumeGroupSnapshot,
  signal: AbortSignal,
): Promise<VolumeGroupSnapshotClass | undefined> {
  const name = spec.volumeGroupSnapshotClassName;
  if (name !== undefined) return client.find(VolumeGroupSnapshotClass, { namespace: "", name }, { signal });
  const { items } = await client.list(VolumeGroupSnapshotClass, { signal });
  const isDefault = (each: VolumeGroupSnapshotClass) =>
    each.driver === driver.name && each.metadata.annotations?.[groupNames.defaultClass] === "true";
  const [only, second] = items.filter(isDefault);
  return second ? undefined : only;
}
