import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { locationsOf, pool } from "../rules/export-locations.ts";
import { instantOf, requireAdmin, type Share, type ShareApp, type ShareContext, type ShareParts } from "../model.ts";
import { supportOfType } from "../rules/scheduling.ts";
import { usableType } from "./types.ts";
import { shareView } from "../views.ts";

/** What the backend still has of a share that Manila gave up; its id is the share's. */
interface Unmanaged {
  readonly id: string;
  readonly share_proto: string;
  readonly size: number;
}

const unmanaged = ({ kernel }: ShareParts) => kernel.table<Unmanaged>("_unmanaged_share");

/**
 * Taking over what the backend has: https://docs.openstack.org/api-ref/shared-file-system/#manage-share-since-api-v2-7
 * .
 */
export function mountManagement(app: ShareApp, parts: ShareParts): void {
  const { kernel, shares } = parts;
  kernel.timers.handler("share.managed", (argument) => {
    const [id = "", former = ""] = argument.split(" ");
    const [share, kept] = [shares.get(id), unmanaged(parts).get(former)];
    if (share?.status !== "manage_starting") return;
    if (kept?.share_proto !== share.share_proto) return void shares.update(id, { status: "manage_error" });
    unmanaged(parts).remove(former);
    shares.update(id, { status: "available", size: kept.size, place: "exported" });
  });
  kernel.timers.handler("share.unmanaged", (id) => {
    const share = shares.get(id);
    if (share?.status !== "unmanage_starting") return;
    if (locationsOf(share).length > 0) {
      unmanaged(parts).insert({ id, share_proto: share.share_proto, size: share.size });
    }
    for (const rule of parts.rules.by("share_id", id)) parts.rules.remove(rule.id);
    shares.remove(id);
  });
  app.post("/v2/shares/manage", async (c) => {
    const given = at(await bodyOf(c.req), "share");
    requireAdmin(c);
    const { share, path } = askedShare(c, parts, given);
    if (shares.all().some((one) => locationsOf(one).some((location) => location.path === path))) {
      throw computeError(409, "Invalid share: A share already exists with the export path specified.");
    }
    shares.insert(share);
    const former = /share-([0-9a-f-]{36})$/.exec(path)?.[1] ?? "";
    kernel.timers.after(kernel.delay("share.create"), "share.managed", `${share.id} ${former}`);
    return c.json({ share: shareView(c, share) });
  });
}

/** Unmanages a share, which remains on the backend. Throws Manila's 403 for one that has snapshots. */
export function unmanage({ kernel, shares, snapshots }: ShareParts, { id }: Share): void {
  const count = snapshots.by("share_id", id).length;
  if (count > 0) {
    throw computeError(403, `Share '${id}' can not be unmanaged because it has '${count}' dependent snapshot(s).`);
  }
  shares.update(id, { status: "unmanage_starting" });
  kernel.timers.after(kernel.delay("share.delete"), "share.unmanaged", id);
}

function askedShare(
  c: ShareContext,
  parts: ShareParts,
  given: unknown,
): { readonly share: Share; readonly path: string } {
  if (!isObject(given)) throw computeError(422, "Share entity not found in request body");
  const [path, proto, host] = ["export_path", "protocol", "service_host"].map((field) => required(given, field));
  const [service = "", place] = String(host).split("#");
  if (place === undefined) throw computeError(400, "service_host parameter should contain pool.");
  if (host !== pool) throw computeError(404, `Service ${service} could not be found.`);
  const name = textAt(given, "share_type");
  const type = knownType(c, parts, name);
  const { projectId, userId } = c.get("caller");
  const share: Share = {
    id: parts.kernel.newId(),
    name: textAt(given, "name") ?? null,
    description: textAt(given, "description") ?? null,
    project_id: projectId,
    user_id: userId,
    status: "manage_starting",
    size: 0,
    share_proto: String(proto).toUpperCase(),
    is_public: false,
    metadata: {},
    snapshot_id: null,
    share_network_id: null,
    type: { id: type.id, name: type.name },
    supports: supportOfType(type),
    place: "none",
    managed: true,
    created_at: instantOf(parts.kernel),
  };
  return { share, path: String(path) };
}

function knownType(c: ShareContext, parts: ShareParts, name: string | undefined) {
  const known = parts.types.get(name ?? "") ?? parts.types.by("name", name ?? "")[0];
  if (name !== undefined && !known) throw computeError(404, `Share type with name ${name} could not be found.`);
  return usableType(parts, c, name);
}

function required(given: JsonObject, field: string): string {
  if (given[field] === undefined) throw computeError(422, `Required parameter ${field} not found`);
  const text = textAt(given, field) ?? "";
  if (text === "") throw computeError(422, `Required parameter ${field} is empty`);
  return text;
}
