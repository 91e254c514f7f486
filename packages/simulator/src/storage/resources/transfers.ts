import { randomBytes } from "node:crypto";
import { computeError } from "../../compute/model.ts";
import { bodyOf, textAt } from "../../kernel/json.ts";
import type { Table } from "../../kernel/interface.ts";
import { ownedBy } from "../../kernel/rest/owned.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { pageOf } from "../listing.ts";
import { cinderLater, instantOf, volumeFor, type StorageApp, type StorageEnv, type StorageParts } from "../model.ts";
import { checkQuota } from "../rules/quota.ts";
import { storageRoot, type StorageContext } from "../views.ts";

const notFound = (id: string) => computeError(404, `Transfer ${id} could not be found.`);

interface Transfer {
  readonly id: string;
  readonly name: string | null;
  readonly project_id: string;
  readonly volume_id: string;
  readonly auth_key: string;
  readonly created_at: string;
  readonly no_snapshots: boolean;
}

/**
 * A volume changes its project: offered with a key, accepted by the project that has the key. os-volume-transfer, and
 * volume-transfers from 3.55.
 */
export function mountTransfers(app: StorageApp, parts: StorageParts): void {
  for (const path of ["os-volume-transfer", "volume-transfers"]) addRoutes(app, parts, path);
}

function addRoutes(app: StorageApp, parts: StorageParts, path: string): void {
  const { kernel, tables } = parts;
  const transfers: Table<Transfer> = kernel.table("volume_transfer", ["project_id", "volume_id"]);
  const base = `/v3/:project/${path}`;
  const brief = (c: StorageContext, t: Transfer) => {
    const [root, project] = [storageRoot(c), c.get("caller").projectId];
    const links = [
      { rel: "self", href: `${root}/v3/${project}/${path}/${t.id}` },
      { rel: "bookmark", href: `${root}/${project}/${path}/${t.id}` },
    ];
    return { id: t.id, name: t.name, volume_id: t.volume_id, links };
  };
  const full = (c: StorageContext, t: Transfer) => ({
    ...brief(c, t),
    created_at: t.created_at,
    ...(path === "volume-transfers" && c.get("minor") >= 55 ? { no_snapshots: t.no_snapshots } : {}),
    ...(path === "volume-transfers" && c.get("minor") >= 57
      ? { source_project_id: t.project_id, destination_project_id: null, accepted: false }
      : {}),
  });
  const found = (c: StorageContext, id = c.req.param("id") ?? ""): Transfer => {
    const transfer = transfers.get(id);
    if (transfer) return transfer;
    throw notFound(id);
  };
  /** Any caller with the key may accept; only the volume's owner may read and withdraw the offer. */
  const own = (c: StorageContext): Transfer => {
    const transfer = found(c);
    return ownedBy(c.get("caller"), transfer, () => notFound(transfer.id));
  };
  mountResource<StorageEnv, Transfer>(app, kernel, {
    ...cinderLater("transfer"),
    path: base,
    many: "transfers",
    lists: ["list", "detail"],
    find: own,
    list(c) {
      const all = c.get("caller").isAdmin ? transfers.all() : transfers.by("project_id", c.get("caller").projectId);
      const rows = all.map((transfer) => ({ ...transfer, source_project_id: transfer.project_id }));
      return { rows: pageOf(c, rows, (id) => ({ ...found(c, id), source_project_id: "" }), "transfer").page };
    },
    view: (c, transfer, verb) => ({
      ...(verb === "list" ? brief(c, transfer) : full(c, transfer)),
      ...(verb === "create" ? { auth_key: transfer.auth_key } : {}),
    }),
    create(c, given) {
      const volume = volumeFor(tables, c.get("caller"), textAt(given, "volume_id") ?? "");
      if (volume.status !== "available") throw computeError(400, "Invalid volume: status must be available");
      tables.volumes.update(volume.id, { status: "awaiting-transfer" });
      return transfers.insert({
        id: kernel.newId(),
        name: textAt(given, "name") ?? null,
        project_id: volume.project_id,
        volume_id: volume.id,
        auth_key: randomBytes(8).toString("hex"),
        created_at: instantOf(kernel),
        no_snapshots: given["no_snapshots"] === true,
      });
    },
    remove(_c, transfer) {
      tables.volumes.update(transfer.volume_id, { status: "available" });
      transfers.remove(transfer.id);
    },
  });
  app.post(`${base}/:id/accept`, async (c) => {
    const key = textAt(await bodyOf(c.req), "accept", "auth_key");
    const transfer = found(c);
    if (key !== transfer.auth_key) {
      throw computeError(400, `Invalid auth key: Attempt to transfer ${transfer.id} with invalid auth key.`);
    }
    const { projectId, userId } = c.get("caller");
    const volume = tables.volumes.get(transfer.volume_id);
    checkQuota(parts, projectId, { volumes: 1, gigabytes: volume?.size ?? 0 });
    tables.volumes.update(transfer.volume_id, { project_id: projectId, user_id: userId, status: "available" });
    transfers.remove(transfer.id);
    return c.json({ transfer: brief(c, transfer) }, 202);
  });
}
