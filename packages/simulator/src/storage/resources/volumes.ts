import { at, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { computeError } from "../../compute/model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import type { Image } from "../../image/model.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { linkedPage } from "../listing.ts";
import type { NewVolume, Volumes } from "../rules/lifecycle.ts";
import { cinderLater, instantOf, snapshotFor, volumeFor } from "../model.ts";
import type { StorageApp, StorageEnv, StorageParts, Volume } from "../model.ts";
import { briefVolume, volumeView, type StorageContext } from "../views.ts";

const base = "/v3/:project/volumes";

const busy =
  "Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.";

/** Volumes: create, list, show, update, delete. */
export function mountVolumes(app: StorageApp, parts: StorageParts, volumes: Volumes): void {
  const { kernel, tables } = parts;
  const known = { types: tables.types, images: kernel.table<Image>("image") };
  mountResource<StorageEnv, Volume>(app, kernel, {
    ...cinderLater("volume"),
    path: base,
    many: "volumes",
    lists: ["list", "detail"],
    find: (c) => volumeFor(tables, c.get("caller"), c.req.param("id") ?? ""),
    list(c) {
      const all = mine(c) ? tables.volumes.by("project_id", c.get("caller").projectId) : tables.volumes.all();
      const find = (id: string) => volumeFor(tables, c.get("caller"), id);
      return linkedPage(c, "volumes", all, { find, resource: "volume" });
    },
    view(c, volume, verb) {
      if (verb === "list") return briefVolume(c, volume);
      if (verb === "create") return { ...volumeView(c, volume, { types: tables.types }), ...unplaced(c) };
      return volumeView(c, volume, verb === "update" ? { types: tables.types } : known);
    },
    givenOf(body) {
      refuseHints(at(body, "OS-SCH-HNT:scheduler_hints"));
      return at(body, "volume");
    },
    create(c, given) {
      const { id } = volumes.createVolume(c.get("caller").projectId, readVolume(c, parts, given));
      return volumeFor(tables, c.get("caller"), id);
    },
    update: (_c, { id }, given) => tables.volumes.update(id, { ...describing(given), updated_at: instantOf(kernel) }),
    remove(c, volume) {
      const free = /^(available|error|error_restoring|error_extending|error_managing)$/.test(volume.status);
      const cascade = c.req.query("cascade") !== undefined;
      const snapshots = tables.snapshots.by("volume_id", volume.id);
      const isGrouped = typeof volume.group_id === "string";
      if (!free || isGrouped || (snapshots.length > 0 && !cascade)) throw computeError(400, busy);
      for (const snapshot of snapshots) volumes.deleteSnapshot(snapshot);
      volumes.deleteVolume(volume.id);
    },
  });
}

/** A volume that was just requested has no host yet, and no content. */
const unplaced = (c: StorageContext) => ({
  bootable: "false",
  ...(c.get("minor") >= 48 ? { shared_targets: true, service_uuid: null } : {}),
});

/** True unless an admin requests all projects. */
export const mine = (c: StorageContext): boolean =>
  !(c.get("caller").isAdmin && /^(1|true|t|y|yes|on)$/i.test(c.req.query("all_tenants") ?? ""));

function readVolume(c: StorageContext, parts: StorageParts, given: JsonObject): NewVolume {
  refuseLong(given, "name");
  refuseLong(given, "description");
  const [snapshot_id, source_volid] = [textAt(given, "snapshot_id"), textAt(given, "source_volid")];
  const origin = originSize(c, parts, { snapshot_id, source_volid }) ?? backupSize(c, parts, given);
  const size = sizeOf(given, origin);
  const restored = textAt(given, "backup_id");
  const [image_id, type, zone] = [
    textAt(given, "imageRef"),
    textAt(given, "volume_type"),
    textAt(given, "availability_zone"),
  ];
  return {
    user_id: c.get("caller").userId,
    size,
    name: textAt(given, "name") ?? null,
    description: textAt(given, "description") ?? null,
    metadata: labels(given["metadata"] ?? {}),
    ...(type === undefined ? {} : { type: usableType(c, parts, type) }),
    ...(zone === undefined ? {} : { zone }),
    ...(image_id === undefined || image_id === "" ? {} : { image_id: knownImage(parts, image_id, size) }),
    ...(textAt(given, "group_id") === undefined ? {} : { group_id: textAt(given, "group_id") ?? null }),
    ...(snapshot_id === undefined ? {} : { snapshot_id }),
    ...(source_volid === undefined ? {} : { source_volid }),
    ...(restored === undefined || c.get("minor") < 47 ? {} : { backup_id: restored }),
    ...(given["multiattach"] === true ? { multiattach: true } : {}),
  };
}

/** The requested type; undefined if the caller may not use it. */
function usableType(c: StorageContext, { tables }: StorageParts, asked: string): string {
  const type = tables.types.get(asked) ?? tables.types.by("name", asked)[0];
  const { projectId } = c.get("caller");
  if (!type || type.is_public !== false || type.projects?.includes(projectId)) return asked;
  throw computeError(404, `Volume type ${type.id} could not be found.`);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Other volumes in the scheduler's hints are named by their ids. */
function refuseHints(hints: unknown): void {
  for (const field of ["same_host", "different_host"]) {
    const asked = at(hints, field);
    if (asked === undefined || [asked].flat().every((id) => typeof id === "string" && uuid.test(id))) continue;
    const why = `${pythonRepr(asked)} is not valid under any of the given schemas`;
    const shown = typeof asked === "string" ? asked : pythonRepr(asked);
    throw computeError(400, `Invalid input for field/attribute ${field}. Value: ${shown}. ${why}`);
  }
}

function refuseLong(given: JsonObject, field: string): void {
  const length = textAt(given, field)?.length ?? 0;
  if (length > 255)
    throw computeError(400, `Invalid input received: ${field} has ${length} characters, more than 255.`);
}

/** An image that a volume of this size can be made of. Throws Cinder's 400. */
function knownImage({ kernel }: StorageParts, id: string, size: number): string {
  const image = kernel.table<Image>("image").get(id);
  if (!image) throw computeError(400, "Invalid image identifier or unable to access requested image.");
  if (image.status !== "active") {
    throw computeError(400, `Invalid input received: Image ${id} is not active.`);
  }
  const bytes = Math.ceil((image.virtual_size ?? image.size ?? 0) / 2 ** 30);
  const least = Math.max(image.min_disk, bytes);
  if (size < least) {
    const why =
      bytes > size
        ? `Size of specified image ${bytes}GB is larger than volume size ${size}GB.`
        : `Volume size ${size}GB cannot be smaller than the image minDisk size ${image.min_disk}GB.`;
    throw computeError(400, `Invalid input received: ${why}`);
  }
  return id;
}

function originSize(
  c: StorageContext,
  { tables }: StorageParts,
  from: { readonly snapshot_id: string | undefined; readonly source_volid: string | undefined },
): number | undefined {
  const caller = c.get("caller");
  if (from.snapshot_id !== undefined) return snapshotFor(tables, caller, from.snapshot_id).size;
  return from.source_volid === undefined ? undefined : volumeFor(tables, caller, from.source_volid).size;
}

/**
 * The size of the backup that a volume is made of (from 3.47 on; older requests may have the field, which says
 * nothing).
 */
function backupSize(c: StorageContext, { tables }: StorageParts, given: JsonObject): number | undefined {
  const id = textAt(given, "backup_id");
  if (id === undefined || c.get("minor") < 47) return undefined;
  const backup = tables.backups.get(id);
  if (backup?.project_id !== c.get("caller").projectId) throw computeError(404, `Backup ${id} could not be found.`);
  if (backup.status === "available") return backup.size;
  throw computeError(400, `Invalid backup: Backup status must be available or restoring, but is ${backup.status}`);
}

function sizeOf(given: JsonObject, origin: number | undefined): number {
  const size = given["size"] ?? origin;
  if (size === undefined || size === null) {
    throw computeError(
      400,
      "The server could not comply with the request since it is either malformed or otherwise incorrect.",
    );
  }
  const number = Number(size);
  const refuse = (why: string) =>
    computeError(400, `Invalid input for field/attribute size. Value: ${pythonRepr(size)}. ${why}`);
  if (!Number.isInteger(number)) {
    throw computeError(
      400,
      `Invalid input for field/attribute size. Value: ${JSON.stringify(size).replaceAll('"', "")}. ${pythonRepr(size)} does not match '^[0-9]+$'`,
    );
  }
  if (number < 1) throw refuse(`${number} is less than the minimum of 1`);
  if (origin !== undefined && number < origin) {
    throw computeError(
      400,
      `Invalid input received: Volume size '${number}'GB cannot be smaller than the original size ${origin}GB. They must be >= original size.`,
    );
  }
  return number;
}

/** Metadata of a request; what is no string is refused. */
export function labels(value: unknown): Readonly<Record<string, string>> {
  const wrong = isObject(value)
    ? Object.entries(value).find(([, item]) => typeof item !== "string")
    : ["metadata", value];
  if (!wrong) return value as Readonly<Record<string, string>>;
  const [field, item] = wrong;
  const why = `${pythonRepr(item)} is not of type '${field === "metadata" ? "object" : "string"}'`;
  throw computeError(400, `Invalid input for field/attribute ${String(field)}. Value: ${pythonRepr(item)}. ${why}`);
}

/** Name, description and metadata of an update: what a volume and a snapshot share. */
export function describing(given: JsonObject): Partial<Pick<Volume, "name" | "description" | "metadata">> {
  // The names of the first version are still understood, and what the stock client writes.
  const either = (field: string) => textAt(given, field) ?? textAt(given, `display_${field}`);
  const [name, description, metadata] = [either("name"), either("description"), given["metadata"]];
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata: labels(metadata) }),
  };
}
