import type { VolumeLinks, VolumeRequest } from "../../kernel/volume-links.ts";
import type { Caller } from "../../kernel/interface.ts";
import { computeError } from "../../compute/model.ts";
import { noBackendFor } from "./user-messages.ts";
import { checkQuota } from "./quota.ts";
import { defaultType, instantOf, storageZones, type Snapshot, type StorageParts, type Volume } from "../model.ts";

/** The capabilities of the one backend, by the extra specs that require them. */
const capabilities: Readonly<Record<string, string>> = {
  volume_backend_name: "simulated",
  storage_protocol: "fake",
  vendor_name: "Open Source",
};

/** The requested fields of a new volume. */
export interface NewVolume extends VolumeRequest {
  readonly name?: string | null;
  readonly description?: string | null;
  readonly source_volid?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly multiattach?: boolean;
  readonly group_id?: string | null;
  /** Its content is that of the backup. */
  readonly backup_id?: string;
}

/** What a copy of the object holds. */
export const contentOf = (source: { readonly content?: string } | undefined): { readonly content?: string } =>
  source?.content === undefined ? {} : { content: source.content };

/** Volumes and snapshots as they come, change hands and go. */
export class Volumes implements VolumeLinks {
  readonly #parts: StorageParts;
  #grown: (serverId: string) => void = () => {};

  constructor(parts: StorageParts) {
    this.#parts = parts;
    const { timers } = parts.kernel;
    timers.handler("volume.settle", (argument) => this.#settleVolume(argument));
    timers.handler("volume.attached", (argument) => this.#finishAttach(argument));
    timers.handler("volume.detached", (argument) => {
      const [id = "", serverId = ""] = argument.split(" ");
      this.#finishDetach(id, serverId);
    });
    timers.handler("volume.restored", (argument) => this.#finishRestore(argument));
    timers.handler("volume.gone", (id) => {
      if (parts.tables.volumes.get(id)?.status === "deleting") parts.tables.volumes.remove(id);
    });
    timers.handler("snapshot.ready", (id) => this.#finishSnapshot(id));
    timers.handler("snapshot.gone", (id) => parts.tables.snapshots.remove(id));
  }

  volume(projectId: string, id: string) {
    const volume = this.#parts.tables.volumes.get(id);
    return volume?.project_id === projectId
      ? { ...volume, bootable: volume.bootable ?? volume.image_id !== null }
      : undefined;
  }

  createVolume(projectId: string, request: NewVolume) {
    const { kernel, tables } = this.#parts;
    const type = this.#type(request.type);
    const zone = request.zone ?? "nova";
    if (!storageZones.includes(zone)) throw computeError(400, `Availability zone '${zone}' is invalid.`);
    checkQuota(this.#parts, projectId, { volumes: 1, gigabytes: request.size });
    const volume = tables.volumes.insert({
      id: kernel.newId(),
      name: request.name ?? (request.name === null ? null : ""),
      description: request.description ?? null,
      project_id: projectId,
      user_id: request.user_id,
      status: "creating",
      size: request.size,
      availability_zone: zone,
      volume_type: type,
      snapshot_id: request.snapshot_id ?? null,
      source_volid: request.source_volid ?? null,
      metadata: request.metadata ?? {},
      multiattach: request.multiattach ?? this.#isShared(type),
      image_id: request.image_id ?? null,
      group_id: request.group_id ?? null,
      ...this.#inherited(request.source_volid),
      ...this.#contentOf(request),
      attachments: [],
      created_at: instantOf(kernel),
      updated_at: null,
    });
    const outcome = kernel.outcome("volume.create", volume.name ?? "", type);
    if (outcome === "stuck") return { ...volume, bootable: false };
    const isPlaceable = this.isPlaceable(type);
    if (!isPlaceable) noBackendFor(this.#parts, volume);
    const status = outcome === "error" || !isPlaceable ? "error" : "available";
    if (request.backup_id !== undefined && status === "available") {
      kernel.timers.after(kernel.delay("volume.create"), "volume.restored", `${volume.id} ${request.backup_id}`);
    }
    kernel.timers.after(kernel.delay("volume.create"), "volume.settle", `${volume.id} creating ${status}`);
    return { ...volume, bootable: volume.bootable ?? volume.image_id !== null };
  }

  /** Cinder replaces the metadata of the volume by that of the one that was backed up, and adds which backup it was. */
  #finishRestore(argument: string): void {
    const [id = "", backupId = ""] = argument.split(" ");
    const { volumes, backups } = this.#parts.tables;
    const [volume, backup] = [volumes.get(id), backups.get(backupId)];
    if (!volume || !backup) return;
    const isOwn = backup.volume_id === id;
    const metadata = { ...backup.volume_metadata, ...(isOwn ? {} : { src_backup_id: backupId }) };
    this.#touch(id, { metadata });
  }

  /** Reserved, then attaching; the attachment is shown when it is complete. */
  attach(id: string, target: { readonly serverId: string; readonly device: string }, milliseconds: number): string {
    const { kernel, tables } = this.#parts;
    const volume = tables.volumes.get(id);
    const attachment_id = kernel.newId();
    if (!volume) return attachment_id;
    const attachment = {
      attachment_id,
      server_id: target.serverId,
      device: target.device,
      attached_at: instantOf(kernel),
    };
    this.#touch(id, { status: "reserved", arriving: [...(volume.arriving ?? []), attachment] });
    kernel.timers.after(milliseconds / 2, "volume.settle", `${id} reserved attaching`);
    kernel.timers.after(milliseconds, "volume.attached", `${id} ${attachment_id}`);
    return attachment_id;
  }

  /** The attachment is shown until the volume is free. */
  detach(id: string, serverId: string, milliseconds: number): void {
    const { kernel, tables } = this.#parts;
    const volume = tables.volumes.get(id);
    if (!volume) return;
    const isLast = volume.attachments.every((a) => a.server_id === serverId);
    if (milliseconds <= 0 || !isLast) return this.#finishDetach(id, serverId);
    this.#touch(id, { status: "detaching" });
    kernel.timers.after(milliseconds, "volume.detached", `${id} ${serverId}`);
  }

  #finishAttach(argument: string): void {
    const [id = "", attachmentId] = argument.split(" ");
    const volume = this.#parts.tables.volumes.get(id);
    const attachment = volume?.arriving?.find((each) => each.attachment_id === attachmentId);
    if (!volume || !attachment) return;
    const arriving = (volume.arriving ?? []).filter((each) => each !== attachment);
    this.#touch(id, { status: "in-use", attachments: [...volume.attachments, attachment], arriving });
  }

  /** Whatever its status was set to meanwhile. */
  #finishDetach(id: string, serverId: string): void {
    const volume = this.#parts.tables.volumes.get(id);
    if (!volume || volume.status === "deleting") return;
    const isOther = (each: { readonly server_id: string }) => each.server_id !== serverId;
    const [attachments, arriving] = [volume.attachments.filter(isOther), (volume.arriving ?? []).filter(isOther)];
    const status = attachments.length > 0 ? "in-use" : "available";
    this.#touch(id, { attachments, arriving, status: arriving.length > 0 ? volume.status : status });
  }

  onGrown(tell: (serverId: string) => void): void {
    this.#grown = tell;
  }

  deleteVolume(id: string): void {
    const { kernel, tables } = this.#parts;
    const volume = tables.volumes.get(id);
    if (!volume || volume.status === "deleting") return;
    this.#touch(id, { status: "deleting" });
    if (kernel.outcome("volume.delete", volume.name ?? "") === "stuck") return;
    kernel.timers.after(kernel.delay("volume.delete"), "volume.gone", id);
  }

  extend(volume: Volume, size: number): void {
    const { kernel } = this.#parts;
    checkQuota(this.#parts, volume.project_id, { volumes: 0, gigabytes: size - volume.size });
    this.#touch(volume.id, { status: "extending", size });
    kernel.timers.after(kernel.delay("volume.extend"), "volume.settle", `${volume.id} extending ${volume.status}`);
  }

  /** The volume gets another image's content, and is for a while what is being written. */
  reimage(volume: Volume, image_id: string): void {
    const { kernel } = this.#parts;
    this.#touch(volume.id, { status: "downloading", image_id });
    kernel.timers.after(kernel.delay("volume.create"), "volume.settle", `${volume.id} downloading ${volume.status}`);
  }

  createSnapshot(caller: Caller, volume: Volume, asked: Pick<Snapshot, "name" | "description" | "metadata">): Snapshot {
    const { kernel, tables } = this.#parts;
    checkQuota(this.#parts, volume.project_id, { volumes: 0, gigabytes: volume.size, snapshots: 1 });
    const snapshot = tables.snapshots.insert({
      id: kernel.newId(),
      ...asked,
      project_id: volume.project_id,
      user_id: caller.userId,
      volume_id: volume.id,
      status: "creating",
      size: volume.size,
      ...contentOf(volume),
      created_at: instantOf(kernel),
      updated_at: null,
    });
    kernel.timers.after(kernel.delay("snapshot.create"), "snapshot.ready", snapshot.id);
    return snapshot;
  }

  deleteSnapshot(snapshot: Snapshot): void {
    const { kernel, tables } = this.#parts;
    tables.snapshots.update(snapshot.id, { status: "deleting", updated_at: instantOf(kernel) });
    kernel.timers.after(kernel.delay("snapshot.delete"), "snapshot.gone", snapshot.id);
  }

  #finishSnapshot(id: string): void {
    const { kernel, tables } = this.#parts;
    if (tables.snapshots.get(id)?.status !== "creating") return;
    tables.snapshots.update(id, { status: "available", updated_at: instantOf(kernel) });
  }

  #type(asked: string | undefined): string {
    if (asked === undefined || asked === "") return defaultType;
    const { types } = this.#parts.tables;
    const type = types.get(asked) ?? types.by("name", asked)[0];
    const what = /^[0-9a-f-]{36}$/.test(asked) ? asked : `with name ${asked}`;
    if (!type) throw computeError(404, `Volume type ${what} could not be found.`);
    return type.name;
  }

  /** Whether several servers may have a volume of the type. */
  #isShared(type: string): boolean {
    return this.#parts.tables.types.by("name", type)[0]?.extra_specs?.["multiattach"] === "<is> True";
  }

  /** What a volume has of the one that it is a copy of. */
  #inherited(sourceId: string | undefined): Pick<Volume, "bootable"> {
    const source = this.#parts.tables.volumes.get(sourceId ?? "");
    return source && (source.bootable ?? source.image_id !== null) ? { bootable: true } : {};
  }

  #contentOf({ snapshot_id, source_volid, backup_id }: NewVolume): { readonly content?: string } {
    const { snapshots, volumes, backups } = this.#parts.tables;
    return contentOf(
      snapshots.get(snapshot_id ?? "") ?? volumes.get(source_volid ?? "") ?? backups.get(backup_id ?? ""),
    );
  }

  /**
   * True if the backend has what the type requires: extra specs with a scope of their own are not for the scheduler.
   */
  isPlaceable(type: string): boolean {
    const wanted = this.#parts.tables.types.by("name", type)[0]?.extra_specs ?? {};
    return Object.entries(wanted).every(([key, value]) => {
      const name = key.replace(/^capabilities:/, "");
      return name.includes(":") || name === "multiattach" || capabilities[name] === value;
    });
  }

  #touch(id: string, change: Partial<Volume>): void {
    const { kernel, tables } = this.#parts;
    tables.volumes.update(id, { updated_at: instantOf(kernel), ...change });
  }

  #settleVolume(argument: string): void {
    const [id = "", from, to = ""] = argument.split(" ");
    const volume = this.#parts.tables.volumes.get(id);
    if (!volume || volume.status !== from) return;
    this.#touch(id, { status: to });
    if (from === "extending") for (const { server_id } of volume.attachments) this.#grown(server_id);
  }
}
