import { Hono, type Context } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import type { VolumeLinks } from "../kernel/volume-links.ts";
import { microversions } from "../compute/microversion.ts";
import { computeError, notFoundPage } from "../compute/model.ts";
import { addAttachmentRoutes } from "./attachments.ts";
import { addBackupRoutes } from "./backups.ts";
import { Volumes } from "./lifecycle.ts";
import { defaultType, storageTables, type StorageApp, type StorageParts } from "./model.ts";
import { addLimitRoutes } from "./quota-routes.ts";
import { addGroupSnapshotRoutes } from "./group-snapshots.ts";
import { addGroupRoutes } from "./groups.ts";
import { addMetadataRoutes } from "./metadata.ts";
import { addOperationRoutes } from "./operations.ts";
import { addSnapshotActions } from "./snapshot-actions.ts";
import { addSnapshotRoutes } from "./snapshots.ts";
import { addTransferRoutes } from "./transfers.ts";
import { addTypeRoutes } from "./types.ts";
import { addVolumeActions } from "./volume-actions.ts";
import { storageRoot } from "./views.ts";
import { addVolumeRoutes } from "./volumes.ts";

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
  addOperationRoutes(app, parts);
  addVolumeRoutes(app, parts, volumes);
  addVolumeActions(app, parts, volumes);
  addMetadataRoutes(app, parts);
  addTransferRoutes(app, parts);
  const groups = addGroupRoutes(app, parts, volumes);
  addGroupSnapshotRoutes(app, parts, { ...groups, volumes });
  addAttachmentRoutes(app, parts);
  addBackupRoutes(app, parts, volumes);
  addSnapshotRoutes(app, parts, volumes);
  addSnapshotActions(app, parts, volumes);
  addTypeRoutes(app, parts);
  addLimitRoutes(app, parts);
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
