import type { CreateVolumeRequest } from "@causeway/csi";
import { bytesOf, labelValue, timestampOf } from "@causeway/csi-openstack";
import type { Volume } from "@causeway/openstack";
import { RESIZE_REQUIRED, TOPOLOGY_ZONE } from "../names.ts";
import { originOf } from "./plan-create.ts";
import type { SnapshotResult } from "./plan-snapshot.ts";
import type { VolumeSpec } from "./volume-spec.ts";

/** What the response to CreateVolume depends on, in addition to the volume. */
export interface CreatedVolume {
  readonly spec: VolumeSpec;
  readonly request: Pick<CreateVolumeRequest, "accessibilityRequirements" | "volumeContentSource">;
  readonly withTopology: boolean;
  /** Where volumes can be attached is not where they are (ignore-volume-az). */
  readonly ignoreZone: boolean;
  readonly affinity: { readonly sameHost: readonly string[]; readonly differentHost: readonly string[] };
}

/** The response to CreateVolume. */
export function createdVolume(volume: Volume, { spec, request, withTopology, ignoreZone, affinity }: CreatedVolume) {
  const preferred = request.accessibilityRequirements?.preferred ?? [];
  const zone = volume.availability_zone;
  // As nodes have it: a node's label cannot have every name that Cinder accepts for a zone.
  const own = zone === "" ? [] : [{ segments: { [TOPOLOGY_ZONE]: labelValue(zone) } }];
  const context = {
    ...(affinity.sameHost.length > 0 && { affinity: affinity.sameHost.join(",") }),
    ...(affinity.differentHost.length > 0 && { "anti-affinity": affinity.differentHost.join(",") }),
    ...(originOf(volume) !== undefined && { [RESIZE_REQUIRED]: "true" }),
  };
  return {
    volume: {
      volumeId: volume.id,
      capacityBytes: bytesOf(volume.size),
      volumeContext: context,
      ...(spec.source !== undefined && request.volumeContentSource && { contentSource: request.volumeContentSource }),
      accessibleTopology: !withTopology ? [] : ignoreZone ? preferred : own,
    },
  };
}

/** A volume in the responses of ListVolumes and ControllerGetVolume. */
export const volumeMessage = (volume: Volume) => ({ volumeId: volume.id, capacityBytes: bytesOf(volume.size) });

/** Where the volume is published, and whether Cinder considers it usable. */
export function conditionOf({ id, status, attachments }: Volume) {
  const abnormal = status.startsWith("error") || status === "maintenance";
  const message = abnormal ? `Cinder reports status ${status} for volume ${id}.` : `Cinder reports status ${status}.`;
  return { publishedNodeIds: attachments.map(({ server_id }) => server_id), volumeCondition: { abnormal, message } };
}

/** A snapshot or backup in the messages of CSI. */
export function snapshotMessage({ id, volumeId, gib, createdAt, ready, groupSnapshotId = "" }: SnapshotResult) {
  return {
    snapshotId: id,
    sourceVolumeId: volumeId,
    sizeBytes: bytesOf(gib),
    readyToUse: ready,
    creationTime: timestampOf(createdAt),
    groupSnapshotId,
  };
}
