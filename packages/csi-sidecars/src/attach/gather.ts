import type { CSINode, Informer, ObjectKey, PersistentVolume, VolumeAttachment } from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import { index } from "../indexes.ts";
import { annotation } from "../names.ts";
import { volumeOf, type DriverVolume } from "../volume.ts";

/** What the plan of a VolumeAttachment reads. */
export interface Observed {
  readonly driver: SidecarDriver;
  readonly attachment: VolumeAttachment;
  readonly found: DriverVolume | undefined;
  /** Where the driver runs on the node, the ID that it registered; else what an earlier attempt recorded. */
  readonly nodeId: string | undefined;
  /** Other attachments of the volume. */
  readonly others: number;
}

/** The informers that a VolumeAttachment is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly attachments: Informer<VolumeAttachment>;
  readonly volumes: Informer<PersistentVolume>;
  readonly csiNodes: Informer<CSINode>;
}

/** Reads a VolumeAttachment and its volume from the caches; undefined: it is gone, or another driver's. */
export function gather({ driver, attachments, volumes, csiNodes }: Caches, key: ObjectKey): Observed | undefined {
  const attachment = attachments.get(key);
  if (!attachment || attachment.spec.attacher !== driver.name) return undefined;
  const { nodeName, source } = attachment.spec;
  const volume = source.persistentVolumeName ?? "";
  const registered = csiNodes
    .get({ namespace: "", name: nodeName })
    ?.spec.drivers?.find(({ name }) => name === driver.name)?.nodeID;
  return {
    driver,
    attachment,
    found: volumeOf(driver, volumes.get({ namespace: "", name: volume })),
    nodeId: registered ?? attachment.metadata.annotations?.[annotation.nodeId],
    others: attachments.byIndex(index.ofVolume, volume).length - 1,
  };
}
