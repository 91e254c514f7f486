import { Hono, type Context } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import type { VolumeLinks } from "../kernel/volume-links.ts";
import { microversions } from "../compute/kit/microversion.ts";
import { computeError, notFoundPage } from "../compute/model.ts";
import { mountAttachments } from "./resources/attachments.ts";
import { mountBackups } from "./resources/backups.ts";
import { Volumes } from "./rules/lifecycle.ts";
import { defaultType, storageTables, type StorageApp, type StorageParts } from "./model.ts";
import { mountLimits } from "./resources/quota-routes.ts";
import { mountGroupSnapshots } from "./resources/group-snapshots.ts";
import { mountGroups } from "./resources/groups.ts";
import { mountMetadata } from "./resources/metadata.ts";
import { mountOperations } from "./resources/operations.ts";
import { mountSnapshotActions } from "./resources/snapshot-actions.ts";
import { mountSnapshots } from "./resources/snapshots.ts";
import { mountTransfers } from "./resources/transfers.ts";
import { mountTypes } from "./resources/types.ts";
import { mountVolumeActions } from "./resources/volume-actions.ts";
import { storageRoot } from "./views.ts";
import { mountVolumes } from "./resources/volumes.ts";

/**
 * Cinder v3, https://docs.openstack.org/api-ref/block-storage/v3/ : volumes, snapshots, backups, attachments, types,
 * limits. No bytes.
 */
export function createStorageService(kernel: Kernel): Service & { readonly links: VolumeLinks } {
  const parts: StorageParts = { kernel, tables: storageTables(kernel) };
  const volumes = new Volumes(parts);
  seedTypes(parts);
  const app: StorageApp = new Hono();
  app.get("/", (c) => c.json({ versions: [version(c)] }, 300));
  app.get("/v3/", (c) => c.json({ versions: [version(c)] }));
  app.use("/v3/:project/*", microversions({ type: "volume", major: 3, minimum: 0, maximum: 70 }));
  app.use("/v3/:project/*", async (c, next) => {
    const { projectId, isAdmin } = c.get("caller");
    const project = c.req.param("project");
    if (project !== projectId && !isAdmin) throw computeError(400, `Malformed request url`);
    await next();
  });
  mountOperations(app, parts);
  mountVolumes(app, parts, volumes);
  mountVolumeActions(app, parts, volumes);
  mountMetadata(app, parts);
  mountTransfers(app, parts);
  const groups = mountGroups(app, parts, volumes);
  mountGroupSnapshots(app, parts, { ...groups, volumes });
  mountAttachments(app, parts);
  mountBackups(app, parts, volumes);
  mountSnapshots(app, parts, volumes);
  mountSnapshotActions(app, parts, volumes);
  mountTypes(app, parts);
  mountLimits(app, parts);
  app.all("*", () => {
    throw notFoundPage();
  });
  return {
    type: "volumev3",
    name: "cinderv3",
    catalogPath: "/v3/{project_id}",
    open: ["", "/", "/v3/"],
    app: app as unknown as Service["app"],
    links: volumes,
  };
}

const version = (c: Context) => ({
  id: "v3.0",
  status: "CURRENT",
  version: "3.70",
  min_version: "3.0",
  updated: "2022-08-31T00:00:00Z",
  links: [
    { rel: "describedby", type: "text/html", href: "https://docs.openstack.org/" },
    { rel: "self", href: `${storageRoot(c)}/v3/` },
  ],
  "media-types": [{ base: "application/json", type: "application/vnd.openstack.volume+json;version=3" }],
});

function seedTypes({ kernel, tables }: StorageParts): void {
  if (tables.types.all().length > 0) return;
  tables.types.insert({ id: kernel.newId(), name: defaultType, description: "Default Volume Type" });
  tables.types.insert({ id: kernel.newId(), name: "fast", description: "second volume type" });
}
