import type { Informer, ObjectKey, PersistentVolume, VolumeAttachment } from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import { index } from "../indexes.ts";
import { annotation } from "../names.ts";
import { volumeOf, type DriverVolume } from "../volume.ts";

/** What the plan of a released PersistentVolume reads. */
export interface Observed extends DriverVolume {
  /** This driver's provisioner created it. */
  readonly isProvisioned: boolean;
  /** Nodes that it is attached to. */
  readonly attachments: readonly VolumeAttachment[];
  /** The driver has deleted it, while the object remains. */
  readonly isDeleted: boolean;
}

/** The informers that a PersistentVolume is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly volumes: Informer<PersistentVolume>;
  readonly attachments: Informer<VolumeAttachment>;
  /** uids of volumes that the driver has deleted. */
  readonly deleted: Set<string>;
}

/** Reads a PersistentVolume from the caches; undefined: it is gone, or another driver's. */
export function gather({ driver, volumes, attachments, deleted }: Caches, key: ObjectKey): Observed | undefined {
  const found = volumeOf(driver, volumes.get(key));
  if (!found) return undefined;
  const { annotations = {}, uid = "" } = found.volume.metadata;
  const provisioner = annotations[annotation.provisionedBy];
  const isMigrated = driver.migration !== undefined && provisioner === driver.migration.provisioner;
  return {
    ...found,
    isProvisioned: provisioner === driver.name || isMigrated,
    attachments: attachments.byIndex(index.ofVolume, key.name),
    isDeleted: deleted.has(uid),
  };
}
