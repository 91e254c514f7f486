import { isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import type { Image } from "../../image/model.ts";
import type { Action, ActionContext } from "../kit/action.ts";
import { invalid, metadataOf } from "../rules/create-request.ts";
import { computeError } from "../model.ts";
import { requireState } from "./server-devices.ts";
import { requireUnlocked } from "./servers.ts";
import { rootOf } from "../views.ts";

const states = ["active", "stopped", "paused", "suspended"] as const;

/** Images of servers. */
export const snapshotActions: Readonly<Record<string, Action>> = {
  createImage: (doing) => {
    const { c, server, argument } = doing;
    if (!isObject(argument)) throw computeError(400, "Malformed request body");
    const name = textAt(argument, "name")?.trim() ?? "";
    if (argument["name"] === undefined) throw invalid("createImage", argument, "'name' is a required property");
    if (name === "" || name.length > 255)
      throw invalid("name", name, `'${name}' is too ${name === "" ? "short" : "long"}`);
    const metadata = argument["metadata"] === undefined ? {} : metadataOf(argument["metadata"]);
    requireUnlocked(c, server);
    requireState(server, states, "createImage");
    return answer(doing, imageOf(doing, { name, properties: { image_type: "snapshot", ...metadata } }));
  },
  createBackup: (doing) => {
    const { c, server } = doing;
    const { name, type, rotation } = backupOf(doing.argument);
    requireUnlocked(c, server);
    if (server.image_id === "") throw computeError(400, `The request is invalid.`);
    requireState(server, states, "createBackup");
    const properties = { image_type: "backup", backup_type: type };
    const image = rotation > 0 ? imageOf(doing, { name, properties }) : undefined;
    rotate(doing, { type, rotation });
    return image === undefined ? undefined : answer(doing, image);
  },
};

function backupOf(argument: unknown): { name: string; type: string; rotation: number } {
  const given: JsonObject = isObject(argument) ? argument : {};
  const missing = ["name", "backup_type", "rotation"].find((field) => given[field] === undefined);
  if (missing !== undefined) throw invalid("createBackup", argument, `'${missing}' is a required property`);
  const rotation = Number(given["rotation"]);
  if (!Number.isInteger(rotation))
    throw invalid("rotation", given["rotation"], `'${String(given["rotation"] as string)}' does not match '^[0-9]*$'`);
  if (rotation < 0) throw invalid("rotation", rotation, `${rotation} is less than the minimum of 0`);
  return { name: textAt(given, "name") ?? "", type: textAt(given, "backup_type") ?? "", rotation };
}

interface ImageFields {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
}

/** Makes an image of a server's disk, with the formats of the image it was made of, and active at once. */
export function imageOf({ c, parts, server }: ActionContext, { name, properties }: ImageFields): Image {
  const now = parts.kernel.timestamp();
  const base = parts.tables.images.get(server.image_id);
  return parts.tables.images.insert({
    id: parts.kernel.newId(),
    name,
    status: "active",
    visibility: "private",
    owner: server.project_id,
    disk_format: base?.disk_format ?? "raw",
    container_format: base?.container_format ?? "bare",
    size: base?.size ?? 0,
    virtual_size: null,
    checksum: base?.checksum ?? null,
    os_hash_algo: base?.os_hash_algo ?? null,
    os_hash_value: base?.os_hash_value ?? null,
    protected: false,
    os_hidden: false,
    min_ram: base?.min_ram ?? 0,
    min_disk: server.flavor.disk,
    created_at: now,
    updated_at: now,
    tags: [],
    properties: {
      ...base?.properties,
      base_image_ref: server.image_id,
      boot_roles: c.get("caller").roles.join(","),
      instance_uuid: server.id,
      image_location: "snapshot",
      image_state: "available",
      owner_id: server.project_id,
      user_id: server.user_id,
      ...properties,
    },
  });
}

/** Takes away the oldest backups of this kind past the number that is kept. */
function rotate({ parts, server }: ActionContext, { type, rotation }: { type: string; rotation: number }): void {
  const all = parts.tables.images
    .all()
    .filter(({ properties: p }) => p["instance_uuid"] === server.id && p["backup_type"] === type);
  for (const image of all.slice(0, Math.max(0, all.length - rotation))) parts.tables.images.remove(image.id);
}

/** From 2.45 the id in a body; before, the image's address in a header. */
function answer({ c }: ActionContext, image: Image): Response {
  if (c.get("minor") >= 45) return c.json({ image_id: image.id }, 202);
  return c.body(null, 202, { location: `${rootOf(c)}/images/${image.id}` });
}
