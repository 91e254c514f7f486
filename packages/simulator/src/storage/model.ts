import type { Hono } from "hono";
import type { Caller, Kernel, Table } from "../kernel/interface.ts";
import { computeError } from "../compute/model.ts";
import { ownedBy } from "../kernel/rest/owned.ts";

/** A volume on a server; `device` is the path in the guest, "/dev/vdb". */
export interface VolumeAttachment {
  readonly attachment_id: string;
  readonly server_id: string;
  readonly device: string;
  readonly attached_at: string;
}

/** A volume; `size` is in GiB. */
export interface Volume {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly user_id: string;
  readonly status: string;
  readonly size: number;
  readonly availability_zone: string;
  readonly volume_type: string;
  readonly snapshot_id: string | null;
  readonly source_volid: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly multiattach: boolean;
  readonly image_id: string | null;
  readonly group_id?: string | null;
  /** What was set over the image's own. */
  readonly image_metadata?: Readonly<Record<string, string>>;
  /** Absent: true of volumes made of an image. */
  readonly bootable?: boolean;
  readonly attachments: readonly VolumeAttachment[];
  /** Attachments that Nova is making: no view shows them before they are complete. */
  readonly arriving?: readonly VolumeAttachment[];
  /** Represents its bytes; absent: empty. */
  readonly content?: string;
  /** With microseconds, without a zone. */
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** A snapshot of a volume; `size` is the volume's when it was made, in GiB. */
export interface Snapshot {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly user_id: string;
  readonly volume_id: string;
  readonly status: string;
  readonly size: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly group_snapshot_id?: string;
  /** "45%", when an administrator set it. */
  readonly progress?: string;
  readonly content?: string;
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** By the attachments API. */
export interface Attachment {
  readonly id: string;
  readonly project_id: string;
  readonly volume_id: string;
  readonly instance: string | null;
  readonly status: string;
  readonly attach_mode: string;
  readonly connection_info: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** A backup of a volume or a snapshot; `container` is where the driver put it. */
export interface Backup {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly project_id: string;
  readonly volume_id: string;
  readonly snapshot_id: string | null;
  readonly container: string | null;
  readonly status: string;
  readonly size: number;
  readonly is_incremental: boolean;
  readonly content?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Of the volume when it was backed up: a volume that the backup is restored into has it afterwards. */
  readonly volume_metadata?: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** A volume type. */
export interface VolumeType {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly extra_specs?: Readonly<Record<string, string>>;
  /** Absent: true. */
  readonly is_public?: boolean;
  /** Who may use one that is not public. */
  readonly projects?: readonly string[];
  readonly qos_specs_id?: string | null;
}

/** Cinder's main tables; groups, QoS specs and messages have their own. */
export interface StorageTables {
  readonly volumes: Table<Volume>;
  readonly snapshots: Table<Snapshot>;
  readonly types: Table<VolumeType>;
  readonly attachments: Table<Attachment>;
  readonly backups: Table<Backup>;
}

/** What Cinder's routes work with. */
export interface StorageParts {
  readonly kernel: Kernel;
  readonly tables: StorageTables;
}

/** The Hono environment of Cinder's routes; `minor` is 70 of microversion 3.70. */
export type StorageEnv = { Variables: { caller: Caller; minor: number; requestId: string } };
/** Where Cinder's routes are added. */
export type StorageApp = Hono<StorageEnv>;

/**
 * How Cinder answers requests about most of its resources, each in a member `one` of the body, which it reads first.
 */
export const cinder = (one: string) => ({
  one,
  statuses: { create: 200, delete: 202 } as const,
  readsBodyFirst: true as const,
  bodyMissing: () => computeError(400, `'${one}' is a required property`),
});

/** How Cinder answers requests about what it makes later. */
export const cinderLater = (one: string) => ({
  ...cinder(one),
  statuses: { create: 202, delete: 202 } as const,
});

/** The name of the type of volumes that are created without one. */
export const defaultType = "__DEFAULT__";
/** Availability zones of volumes: the same names as Nova's. */
export const storageZones = ["nova", "az2"];

/** Cinder's tables. */
export const storageTables = (kernel: Kernel): StorageTables => ({
  volumes: kernel.table("volume", ["project_id"]),
  snapshots: kernel.table("snapshot", ["project_id", "volume_id"]),
  types: kernel.table("_volume_type", ["name"]),
  attachments: kernel.table("_volume_attachment", ["project_id", "volume_id"]),
  backups: kernel.table("volume_backup", ["project_id"]),
});

/** Cinder writes instants with microseconds and without a zone. */
export const instantOf = (kernel: Kernel): string => `${new Date(kernel.clock.now()).toISOString().slice(0, 23)}000`;

/** Cinder's 404, also for another project's volume. */
export const volumeNotFound = (id: string) => computeError(404, `Volume ${id} could not be found.`);

/** The volume, if the caller may see it; else 404. */
export const volumeFor = (tables: StorageTables, caller: Caller, id: string): Volume =>
  ownedBy(caller, tables.volumes.get(id), () => volumeNotFound(id));

/** The snapshot, if the caller may see it; else 404. */
export const snapshotFor = (tables: StorageTables, caller: Caller, id: string): Snapshot =>
  ownedBy(caller, tables.snapshots.get(id), () => computeError(404, `Snapshot ${id} could not be found.`));
