import type { Informer, ObjectKey } from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";

/** What the plan of a VolumeSnapshotContent reads. */
export interface Observed {
  readonly content: VolumeSnapshotContent;
  /** The VolumeSnapshot that it is bound to still exists. */
  readonly isBound: boolean;
  /** When the driver was last called for a snapshot that was not complete. */
  readonly readAt: number | undefined;
}

/** The informers that a VolumeSnapshotContent is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly snapshots: Informer<VolumeSnapshot>;
  readonly contents: Informer<VolumeSnapshotContent>;
  /** By uid. */
  readonly readAt: Map<string, number>;
}

/** Reads a VolumeSnapshotContent from the caches; undefined: it is gone, or another driver's. */
export function gather({ driver, snapshots, contents, readAt }: Caches, key: ObjectKey): Observed | undefined {
  const content = contents.get(key);
  if (!content || content.spec.driver !== driver.name) return undefined;
  const { namespace = "", name = "", uid } = content.spec.volumeSnapshotRef;
  const snapshot = snapshots.get({ namespace, name });
  const isBound = snapshot !== undefined && snapshot.metadata.uid === uid;
  return { content, isBound, readAt: readAt.get(content.metadata.uid ?? "") };
}
