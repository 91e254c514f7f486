import { computeError } from "../../compute/model.ts";
import { textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { labelsOf, mountMetadata } from "./metadata.ts";
import { asksForAll, shareFor, instantOf, isTrue, manila, pageOf } from "../model.ts";
import type { Share, ShareApp, ShareContext, ShareEnv, ShareParts } from "../model.ts";
import { checkShareQuota } from "./quotas.ts";
import { placed, supportOfType } from "../rules/scheduling.ts";
import { usableType } from "./types.ts";
import { briefView, shareView } from "../views.ts";

const protocols = ["NFS", "CIFS", "CEPHFS"];
const filters = ["name", "description", "status", "snapshot_id", "share_network_id", "metadata"];

/** Shares: create, list, show, change, delete, their metadata and where they are exported. */
export function mountShares(app: ShareApp, parts: ShareParts): void {
  const { kernel, shares } = parts;
  settle(parts);
  mountResource<ShareEnv, Share>(app, kernel, {
    ...manila,
    path: "/v2/shares",
    one: "share",
    many: "shares",
    lists: ["list", "detail"],
    find: (c) => shareFor(c, parts, c.req.param("id") ?? ""),
    list(c) {
      const { projectId } = c.get("caller");
      // Nothing is deleted softly here; public shares of others are returned on request.
      if (isTrue(c.req.query("is_soft_deleted"))) return { rows: [] };
      const others = isTrue(c.req.query("is_public"));
      const seen = shares.all().filter((share) => share.project_id === projectId || (others && share.is_public));
      return { rows: pageOf(c, asksForAll(c) ? shares.all() : seen, filters) };
    },
    view: (c, share, verb) => (verb === "list" ? briefView(c, "shares", share) : shareView(c, share)),
    create(c, given) {
      const share = shares.insert(asked(c, parts, given));
      if (kernel.outcome("share.create", share.name ?? "", share.type?.name ?? "") !== "stuck")
        kernel.timers.after(kernel.delay("share.create"), "share.settle", `${share.id} creating available`);
      return share;
    },
    update: (c, { id, name, description, is_public }, given) =>
      shares.update(id, {
        name: changedText(given, "name", name),
        description: changedText(given, "description", description),
        is_public: publicity(c, given) ?? is_public,
      }),
    remove(_c, { id, status, name }) {
      // The real service forgets to fill its words in.
      const isFree = /^(available|error|inactive|error_deleting|.*_error)$/.test(status);
      if (!isFree || parts.snapshots.by("share_id", id).length > 0)
        throw computeError(403, "Invalid share: %(reason)s.");
      shares.update(id, { status: "deleting" });
      const outcome = kernel.outcome("share.delete", name ?? "");
      const end = outcome === "error" ? "error_deleting" : "gone";
      if (outcome !== "stuck")
        kernel.timers.after(kernel.delay("share.delete"), "share.settle", `${id} deleting ${end}`);
    },
  });
  mountMetadata(app, {
    path: "/v2/shares/:id/metadata",
    get: (c) => {
      const id = c.req.param("id") ?? "";
      if (!shares.get(id)) throw computeError(404, "Share not found.");
      return shareFor(c, parts, id).metadata;
    },
    set: (c, metadata) => void shares.update(c.req.param("id") ?? "", { metadata }),
  });
}

function settle(parts: ShareParts): void {
  const { kernel, shares, rules } = parts;
  kernel.timers.handler("share.settle", (argument) => {
    const [id = "", from, to = ""] = argument.split(" ");
    const share = shares.get(id);
    if (!share || share.status !== from) return;
    if (to !== "gone") return void shares.update(id, from === "creating" ? placed(parts, share) : { status: to });
    for (const rule of rules.by("share_id", id)) rules.remove(rule.id);
    shares.remove(id);
  });
}

/** The share for a body. Throws what Manila responds, which for missing fields is a 500. */
function asked(c: ShareContext, parts: ShareParts, given: JsonObject): Share {
  const { kernel } = parts;
  const proto = textAt(given, "share_proto")?.toUpperCase();
  if (proto === undefined || given["size"] === undefined) {
    const message = "The server has either erred or is incapable of performing the requested operation.";
    throw computeError(500, message);
  }
  const origins = knownOrigins(parts, given);
  const type = usableType(parts, c, textAt(given, "share_type"));
  const size = sizeOf(given["size"]);
  if (!protocols.includes(proto)) {
    const why = "It is either disabled or unsupported. Available protocols: ['NFS', 'CIFS', 'CEPHFS'].";
    throw computeError(400, `Invalid input received: Invalid share protocol provided: ${proto}. ${why}`);
  }
  const isPublic = publicity(c, given) ?? false;
  const handlesServers = /^(true|t|yes|y|on|1)$/i.test(type.extra_specs["driver_handles_share_servers"] ?? "");
  if (handlesServers && origins.share_network_id === null) {
    throw computeError(400, "Share network must be set when the driver_handles_share_servers is true.");
  }
  const { projectId, userId } = c.get("caller");
  checkShareQuota(parts, projectId, { gigabytes: size, shares: 1 });
  return {
    id: kernel.newId(),
    name: textAt(given, "display_name") ?? textAt(given, "name") ?? null,
    description: textAt(given, "display_description") ?? textAt(given, "description") ?? null,
    project_id: projectId,
    user_id: userId,
    status: "creating",
    size,
    share_proto: proto,
    is_public: isPublic,
    metadata: given["metadata"] === undefined ? {} : labelsOf(given["metadata"]),
    ...origins,
    ...contentOf(parts, origins.snapshot_id),
    type: { id: type.id, name: type.name },
    supports: supportOfType(type),
    // A copy is where its original is.
    place: origins.snapshot_id === null ? "none" : "placed",
    created_at: instantOf(kernel),
  };
}

function contentOf({ snapshots }: ShareParts, snapshot: string | null): Pick<Share, "content"> {
  const content = snapshots.get(snapshot ?? "")?.content;
  return content === undefined ? {} : { content };
}

/** What a share is made from and where it is to be, if all of it is there; else 404. */
function knownOrigins(parts: ShareParts, given: JsonObject): Pick<Share, "snapshot_id" | "share_network_id"> {
  const snapshot = textAt(given, "snapshot_id");
  if (snapshot !== undefined && !parts.snapshots.get(snapshot)) {
    throw computeError(404, `ShareSnapshotNotFound: Snapshot ${snapshot} could not be found.`);
  }
  const zone = textAt(given, "availability_zone");
  if (zone !== undefined && zone !== "nova") throw computeError(404, "Availability zone %(id)s could not be found.");
  const group = textAt(given, "share_group_id");
  // No backend here makes groups.
  if (group !== undefined) throw computeError(404, `Share group ${group} could not be found.`);
  const network = textAt(given, "share_network_id");
  if (network !== undefined && !parts.networks.get(network)) {
    throw computeError(404, `Share network ${network} could not be found.`);
  }
  return { snapshot_id: snapshot ?? null, share_network_id: network ?? null };
}

/** A name or description that a change gives, by either of its names; null takes it away. */
export function changedText(given: JsonObject, field: string, before: string | null): string | null {
  const said = [`display_${field}`, field].find((name) => given[name] !== undefined);
  return said === undefined ? before : (textAt(given, said) ?? null);
}

/** Whether a body makes a share public, which only operators may. Throws Manila's refusals. */
function publicity(c: ShareContext, given: JsonObject): boolean | undefined {
  const said = given["is_public"];
  if (said === undefined) return undefined;
  const word = typeof said === "string" ? said.toLowerCase() : JSON.stringify(said);
  const isPublic = ["1", "on", "t", "true", "y", "yes"].includes(word);
  if (!isPublic && !["0", "f", "false", "n", "no", "off"].includes(word)) {
    const words = "'0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'";
    const written = typeof said === "string" ? said : JSON.stringify(said);
    throw computeError(400, `Unrecognized value '${written}', acceptable values are: ${words}`);
  }
  if (isPublic && !c.get("caller").isAdmin) {
    throw computeError(403, "User is not authorized to set 'is_public' to True in the request.");
  }
  return isPublic;
}

function sizeOf(given: unknown): number {
  const size = Number(given);
  if (Number.isInteger(size) && size >= 1) return size;
  const written = typeof given === "string" ? given : JSON.stringify(given);
  throw computeError(400, `Invalid input received: Share size '${written}' must be an integer and greater than 0.`);
}
