import { createHash } from "node:crypto";
import { csiOf, type CsiName, type PersistentVolume, type VolumeAttachment } from "../objects/storage.ts";

/** Names as kube-controller-manager and the kubelet make them. */

/** The name of the VolumeAttachment of a volume and a node: "csi-" and a SHA-256. */
export function attachmentName({ driver, volumeHandle }: CsiName, node: string): string {
  return `csi-${createHash("sha256").update(`${volumeHandle}${driver}${node}`).digest("hex")}`;
}

/** The name of a volume in a Node's `volumesAttached` and `volumesInUse`: `kubernetes.io/csi/DRIVER^HANDLE`. */
export function uniqueName({ driver, volumeHandle }: CsiName): string {
  return `kubernetes.io/csi/${driver}^${volumeHandle}`;
}

/** The attachment that the driver's attacher serves; throws a TypeError for a volume that is not of CSI. */
export function attachmentOf(volume: PersistentVolume, node: string): VolumeAttachment {
  const csi = csiOf(volume);
  if (!csi) throw new TypeError(`volume ${volume.metadata.name} is not a CSI volume`);
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: attachmentName(csi, node) },
    spec: { attacher: csi.driver, nodeName: node, source: { persistentVolumeName: volume.metadata.name } },
  };
}

/** Whether several nodes may have the volume at once. */
export function isShared({ spec: { accessModes = [] } }: PersistentVolume): boolean {
  return accessModes.length === 0 || accessModes.some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany");
}
