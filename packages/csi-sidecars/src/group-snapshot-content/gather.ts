import type { Informer, ObjectKey } from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import type { VolumeGroupSnapshot, VolumeGroupSnapshotContent } from "../group-snapshot-objects.ts";

/** What the plan of a VolumeGroupSnapshotContent reads. */
export interface Observed {
  readonly content: VolumeGroupSnapshotContent;
  /** The VolumeGroupSnapshot that it is bound to still exists. */
  readonly isBound: boolean;
  /** When the driver was last called for a group snapshot that was not complete. */
  readonly readAt: number | undefined;
}

/** The informers that a VolumeGroupSnapshotContent is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly groups: Informer<VolumeGroupSnapshot>;
  readonly contents: Informer<VolumeGroupSnapshotContent>;
  /** By uid. */
  readonly readAt: Map<string, number>;
}

/** Reads a VolumeGroupSnapshotContent from the caches; undefined: it is gone, or another driver's. */
export function gather({ driver, groups, contents, readAt }: Caches, key: ObjectKey): Observed | undefined {
  const content = contents.get(key);
  if (!content || content.spec.driver !== driver.name) return undefined;
  const { namespace = "", name = "", uid } = content.spec.volumeGroupSnapshotRef;
  const group = groups.get({ namespace, name });
  const isBound = group !== undefined && group.metadata.uid === uid;
  return { content, isBound, readAt: readAt.get(content.metadata.uid ?? "") };
}
