import type { Context } from "hono";
import type { Image } from "../image/model.ts";
import type { Table } from "../kernel/interface.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Snapshot, StorageEnv, Volume, VolumeType } from "./model.ts";

/** A request to Cinder. */
export type StorageContext = Context<StorageEnv>;

/** Root of the service, as the caller sees it. */
export const storageRoot = (c: Context): string => `${new URL(c.req.url).origin}/volume`;

/** The two links of a resource: with the version in the path, and the bookmark without it. */
export function linksOf(c: StorageContext, kind: string, id: string): readonly object[] {
  const project = c.get("caller").projectId;
  const root = storageRoot(c);
  return [
    { rel: "self", href: `${root}/v3/${project}/${kind}/${id}` },
    { rel: "bookmark", href: `${root}/${project}/${kind}/${id}` },
  ];
}

/** A volume in a list without details. */
export const briefVolume = (c: StorageContext, volume: Volume): JsonObject => ({
  id: volume.id,
  name: volume.name,
  links: linksOf(c, "volumes", volume.id),
});

/**
 * What a view looks up: the type's id; images only for the response to a show, which has more fields than that to a
 * create.
 */
interface Known {
  readonly types?: Table<VolumeType>;
  readonly images?: Table<Image>;
}

/** A volume in full; the response to a create has fewer fields than a later show. */
export function volumeView(c: StorageContext, volume: Volume, known: Known = {}): JsonObject {
  const minor = c.get("minor");
  const { types, images } = known;
  const { isAdmin } = c.get("caller");
  const image = volume.image_id === null ? undefined : images?.get(volume.image_id);
  return {
    id: volume.id,
    status: volume.status,
    size: volume.size,
    availability_zone: volume.availability_zone,
    created_at: volume.created_at,
    updated_at: volume.updated_at,
    name: volume.name,
    description: volume.description,
    volume_type: volume.volume_type,
    snapshot_id: volume.snapshot_id,
    source_volid: volume.source_volid,
    metadata: volume.metadata,
    links: linksOf(c, "volumes", volume.id),
    user_id: volume.user_id,
    bootable: String(volume.bootable ?? volume.image_id !== null),
    encrypted: false,
    replication_status: null,
    consistencygroup_id: null,
    multiattach: volume.multiattach,
    attachments: volume.attachments.map((a) => ({
      id: volume.id,
      attachment_id: a.attachment_id,
      volume_id: volume.id,
      server_id: a.server_id,
      host_name: null,
      device: a.device,
      attached_at: a.attached_at,
    })),
    ...(minor >= 13 ? { group_id: volume.group_id ?? null } : {}),
    ...(minor >= 48 ? { shared_targets: false, service_uuid: backend } : {}),
    ...(minor >= 63 && types ? { volume_type_id: types.by("name", volume.volume_type)[0]?.id ?? null } : {}),
    ...(minor >= 65 ? { consumes_quota: true } : {}),
    ...(images ? { "os-vol-tenant-attr:tenant_id": volume.project_id } : {}),
    ...(isAdmin ? adminFields(minor, images !== undefined) : {}),
    ...(image || volume.image_metadata
      ? { volume_image_metadata: { ...(image ? imageMetadata(image) : {}), ...volume.image_metadata } }
      : {}),
  };
}

/** The id of the service that keeps all volumes. */
const backend = "0b3d6a52-7d0f-4a39-8f9e-2f6a3f1f6d51";

/** The fields that only administrators see, most of them not in the response to a create. */
const adminFields = (minor: number, shows: boolean) => ({
  migration_status: null,
  ...(minor >= 21 ? { provider_id: null } : {}),
  ...(minor >= 61 ? { cluster_name: null } : {}),
  ...(shows ? placeFields : {}),
});

const placeFields = {
  "os-vol-host-attr:host": "storage-1@simulated#pool",
  "os-vol-mig-status-attr:migstat": null,
  "os-vol-mig-status-attr:name_id": null,
};

const imageMetadata = (image: Image) => ({
  ...image.properties,
  image_id: image.id,
  image_name: image.name,
  checksum: image.checksum,
  container_format: image.container_format,
  disk_format: image.disk_format,
  min_disk: String(image.min_disk),
  min_ram: String(image.min_ram),
  size: String(image.size),
});

/** A snapshot; `full` adds what the detailed list and show have. */
export function snapshotView(c: StorageContext, snapshot: Snapshot, full = false): JsonObject {
  return {
    id: snapshot.id,
    created_at: snapshot.created_at,
    updated_at: snapshot.updated_at,
    name: snapshot.name,
    description: snapshot.description,
    volume_id: snapshot.volume_id,
    status: snapshot.status,
    size: snapshot.size,
    metadata: snapshot.metadata,
    ...(c.get("minor") >= 14 ? { group_snapshot_id: snapshot.group_snapshot_id ?? null } : {}),
    ...(c.get("minor") >= 41 ? { user_id: snapshot.user_id } : {}),
    ...(c.get("minor") >= 65 ? { consumes_quota: true } : {}),
    ...(full
      ? {
          "os-extended-snapshot-attributes:project_id": snapshot.project_id,
          "os-extended-snapshot-attributes:progress":
            snapshot.progress ?? (snapshot.status === "available" ? "100%" : "0%"),
        }
      : {}),
  };
}
