/** Cinder v3, wire-true: https://docs.openstack.org/api-ref/block-storage/v3/ — sizes in GiB. */
import type { CallOptions, Collection, CreateOptions, ReadOnlyCollection } from "./collection.ts";

/** A volume: https://docs.openstack.org/api-ref/block-storage/v3/#volumes-volumes . */
export interface Volume {
  id: string;
  name: string;
  description: string | null;
  status: string;
  size: number;
  volume_type: string;
  availability_zone: string;
  bootable: string;
  attachments: { server_id: string; device?: string; attachment_id?: string; volume_id?: string; host_name?: string }[];
  metadata: Record<string, string>;
  multiattach?: boolean;
  snapshot_id?: string | null;
  source_volid?: string | null;
  encrypted?: boolean;
  group_id?: string | null;
  consumes_quota?: boolean;
  /** UTC without a zone; real services have whole seconds. */
  created_at?: string;
  /** Null until its first change. */
  updated_at?: string | null;
}
/** What a volume is created with. */
export interface VolumeCreate {
  name: string;
  description?: string;
  size: number;
  volume_type?: string;
  availability_zone?: string;
  imageRef?: string;
  snapshot_id?: string;
  source_volid?: string;
  backup_id?: string;
  group_id?: string;
  metadata?: Record<string, string>;
  /** Sent next to the volume, as "OS-SCH-HNT:scheduler_hints". */
  schedulerHints?: Record<string, unknown>;
}
/** What of a volume can be changed. */
export interface VolumeUpdate {
  name?: string;
  description?: string;
  metadata?: Record<string, string>;
}
/** A type of volumes. */
export interface VolumeType {
  id: string;
  name: string;
  description?: string | null;
  is_public?: boolean;
  extra_specs?: Record<string, string>;
}
/** What a volume type is created with. */
export interface VolumeTypeCreate {
  name: string;
  description?: string;
  extra_specs?: Record<string, string>;
  "os-volume-type-access:is_public"?: boolean;
}
/** A snapshot of a volume. */
export interface VolumeSnapshot {
  id: string;
  name: string | null;
  description: string | null;
  volume_id: string;
  status: string;
  size: number;
  metadata: Record<string, string>;
  created_at: string;
  "os-extended-snapshot-attributes:progress"?: string;
  /** The group snapshot that it is part of; it cannot be deleted alone. From 3.14 on. */
  group_snapshot_id?: string | null;
}
/** What a snapshot is created with. */
export interface VolumeSnapshotCreate {
  volume_id: string;
  name?: string;
  description?: string;
  /** Also of a volume in use. */
  force?: boolean;
  metadata?: Record<string, string>;
}
/** A backup of a volume. */
export interface VolumeBackup {
  id: string;
  name: string | null;
  description: string | null;
  volume_id: string;
  snapshot_id: string | null;
  status: string;
  size: number;
  is_incremental: boolean;
  availability_zone: string | null;
  fail_reason: string | null;
  created_at?: string;
  metadata?: Record<string, string>;
}
/** What a backup is created with. */
export interface VolumeBackupCreate {
  volume_id: string;
  name?: string;
  description?: string;
  container?: string;
  incremental?: boolean;
  force?: boolean;
  snapshot_id?: string;
  metadata?: Record<string, string>;
  /** From 3.51 on. */
  availability_zone?: string;
}
/** The attachments API (3.27): what Nova, and who attaches without Nova, works with. */
export interface Attachment {
  id: string;
  volume_id: string;
  instance: string | null;
  status: string;
  attach_mode: string;
  connection_info?: Record<string, unknown>;
}
/** What an attachment of a volume to a server is created with. */
export interface AttachmentCreate {
  volume_uuid: string;
  instance_uuid?: string;
  connector?: Record<string, unknown>;
  mode?: "rw" | "ro";
}
/** Volumes that are snapshotted together. */
export interface VolumeGroup {
  id: string;
  name: string;
  status: string;
  group_type: string;
  volume_types: string[];
}
/** What a volume group is created with. */
export interface VolumeGroupCreate {
  name: string;
  description?: string;
  /** Name or ID. */
  group_type: string;
  volume_types: string[];
  availability_zone?: string;
}
/** A type of volume groups. */
export interface VolumeGroupType {
  id: string;
  name: string;
  is_public: boolean;
  /** For administrators. */
  group_specs?: Record<string, string>;
}
/** A snapshot of all volumes of a group at once. Its member snapshots have its name. */
export interface GroupSnapshot {
  id: string;
  name: string | null;
  description?: string | null;
  group_id: string;
  status: string;
  created_at: string;
}
/** A backend's pool. "infinite" and "unknown" are values of real drivers. */
export interface StoragePool {
  name: string;
  capabilities?: {
    volume_backend_name?: string;
    free_capacity_gb?: number | string;
    total_capacity_gb?: number | string;
    reserved_percentage?: number | string;
    [name: string]: unknown;
  };
}
/** -1: no limit. */
export type BlockStorageQuota = Record<string, number>;

/** Actions on volumes. */
export interface VolumeActions {
  /** To `size` GiB; of a volume in use from 3.42 on. */
  extend(id: string, size: number, options?: CallOptions): Promise<void>;
  retype(id: string, type: string, policy?: "never" | "on-demand", options?: CallOptions): Promise<void>;
  setBootable(id: string, bootable: boolean, options?: CallOptions): Promise<void>;
  setReadonly(id: string, readonly: boolean, options?: CallOptions): Promise<void>;
  /** For administrators. */
  resetStatus(id: string, status: string, options?: CallOptions): Promise<void>;
  forceDelete(id: string, options?: CallOptions): Promise<void>;
}

/** Cinder: https://docs.openstack.org/api-ref/block-storage/v3/ . */
export interface BlockStorageService {
  readonly volumes: Collection<Volume, VolumeCreate, VolumeUpdate>;
  readonly volumeActions: VolumeActions;
  readonly volumeTypes: Collection<VolumeType, VolumeTypeCreate, { name?: string; description?: string }>;
  readonly snapshots: Collection<VolumeSnapshot, VolumeSnapshotCreate, { name?: string; description?: string }>;
  readonly backups: Collection<VolumeBackup, VolumeBackupCreate, { name?: string; description?: string }>;
  /** Into a volume that is there, or into a new one; its id. */
  restoreBackup(
    id: string,
    to?: { volume_id?: string; name?: string },
    options?: CallOptions,
  ): Promise<{ volume_id: string }>;
  readonly attachments: Collection<Attachment, AttachmentCreate, { connector: Record<string, unknown> }>;
  completeAttachment(id: string, options?: CallOptions): Promise<void>;
  readonly groups: Pick<ReadOnlyCollection<VolumeGroup>, "list" | "all" | "get" | "find">;
  createGroup(group: VolumeGroupCreate, options?: CallOptions): Promise<{ id: string }>;
  /** Cinder changes the group in the background. */
  changeGroup(
    id: string,
    change: { add_volumes?: string; remove_volumes?: string },
    options?: CallOptions,
  ): Promise<void>;
  readonly groupTypes: ReadOnlyCollection<VolumeGroupType>;
  readonly groupSnapshots: Pick<Collection<GroupSnapshot, never>, "list" | "all" | "get" | "find" | "delete">;
  createGroupSnapshot(
    snapshot: { group_id: string; name: string; description?: string },
    options?: CreateOptions<{ id: string }>,
  ): Promise<{ id: string }>;
  /** Those of all backends; for administrators, where the policy is not another. */
  pools(options?: CallOptions): Promise<StoragePool[]>;
  /** Processes of Cinder and their zones; for administrators. */
  services(options?: CallOptions): Promise<{ binary: string; host: string; zone: string }[]>;
  setSnapshotMetadata(id: string, metadata: Readonly<Record<string, string>>, options?: CallOptions): Promise<void>;
  setMetadata(volumeId: string, metadata: Readonly<Record<string, string>>, options?: CallOptions): Promise<void>;
  availabilityZones(options?: CallOptions): Promise<{ zoneName: string; zoneState: { available: boolean } }[]>;
  /** maxTotalVolumes, totalVolumesUsed, maxTotalVolumeGigabytes, … */
  limits(options?: CallOptions): Promise<Record<string, number>>;
  quota(projectId: string, options?: CallOptions): Promise<BlockStorageQuota>;
  setQuota(projectId: string, quota: BlockStorageQuota, options?: CallOptions): Promise<BlockStorageQuota>;
}
