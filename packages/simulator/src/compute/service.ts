import { Hono, type Context } from "hono";
import type { Ask } from "../kernel/ask.ts";
import type { Kernel, Service } from "../kernel/interface.ts";
import type { NetworkLinks } from "../kernel/links.ts";
import type { VolumeLinks } from "../kernel/volume-links.ts";
import { addAggregateRoutes } from "./aggregates.ts";
import { addExtensionRoutes } from "./extensions.ts";
import { addFlavorWriteRoutes } from "./flavor-writes.ts";
import { addHostReportRoutes } from "./host-reports.ts";
import { addHostRoutes } from "./hosts.ts";
import { addMigrationRoutes } from "./migrations.ts";
import { addProxyRoutes } from "./proxies.ts";
import { addUsageRoutes } from "./usage.ts";
import { addFlavorRoutes, seedFlavors } from "./flavors.ts";
import { addGroupRoutes } from "./groups.ts";
import { addKeypairRoutes } from "./keypairs.ts";
import { addInstanceActionRoutes } from "./instance-actions.ts";
import { Lifecycle } from "./lifecycle.ts";
import { microversions } from "./microversion.ts";
import { asServiceApp, computeTables, notFoundPage, type ComputeApp, type ComputeParts } from "./model.ts";
import { addProjectRoutes } from "./project.ts";
import { addActionRoutes } from "./server-actions.ts";
import { addDeviceRoutes } from "./server-devices.ts";
import { addLabelRoutes } from "./server-labels.ts";
import { strictQueries } from "./strict-queries.ts";
import { addServerRoutes } from "./servers.ts";
import { rootOf } from "./views.ts";

/** The microversions that are served: 2.1 to 2.93, the newest one of OpenStack 2022.2. */
export const computeVersions = {
  type: "compute",
  major: 2,
  minimum: 1,
  maximum: 93,
  legacyHeader: "x-openstack-nova-api-version",
} as const;

/** Nova v2.1, https://docs.openstack.org/api-ref/compute/ . */
export function createComputeService(
  kernel: Kernel,
  links: { readonly network: NetworkLinks; readonly volumes: VolumeLinks; readonly ask: Ask },
): Service {
  const parts: ComputeParts = { kernel, tables: computeTables(kernel), ...links };
  seedFlavors(parts);
  const lifecycle = new Lifecycle(parts);
  const app: ComputeApp = new Hono();
  addVersionRoutes(app);
  app.use("/v2.1/*", microversions(computeVersions));
  app.use("/v2.1/*", strictQueries());
  app.get("/v2.1", (c) => c.json({ version: currentVersion(c) }));
  app.get("/v2.1/", (c) => c.json({ version: currentVersion(c) }));
  addServerRoutes(app, parts, lifecycle);
  addLabelRoutes(app, parts, lifecycle);
  addDeviceRoutes(app, parts, lifecycle);
  // Before the orders to servers, of which it takes two.
  addProxyRoutes(app, parts);
  addActionRoutes(app, parts, lifecycle);
  addInstanceActionRoutes(app, parts);
  addFlavorRoutes(app, parts);
  addFlavorWriteRoutes(app, parts);
  addHostRoutes(app, parts);
  addHostReportRoutes(app, parts);
  addAggregateRoutes(app, parts);
  addMigrationRoutes(app, parts);
  addUsageRoutes(app, parts);
  addGroupRoutes(app, parts);
  addKeypairRoutes(app, parts);
  addProjectRoutes(app, parts);
  addExtensionRoutes(app);
  app.all("*", () => {
    throw notFoundPage();
  });
  return {
    type: "compute",
    name: "nova",
    catalogPath: "/v2.1",
    open: ["", "/", "/v2", "/v2/", "/v2.1", "/v2.1/"],
    app: asServiceApp(app),
  };
}

function currentVersion(c: Context): object {
  return {
    id: "v2.1",
    status: "CURRENT",
    version: "2.93",
    min_version: "2.1",
    updated: "2013-07-23T11:33:21Z",
    links: [
      { rel: "self", href: `${rootOf(c)}/v2.1/` },
      { rel: "describedby", type: "text/html", href: "http://docs.openstack.org/" },
    ],
    "media-types": [{ base: "application/json", type: "application/vnd.openstack.compute+json;version=2.1" }],
  };
}

/** Named by the list of versions; only its document is here. */
const oldVersion = (c: Context) => ({
  id: "v2.0",
  status: "SUPPORTED",
  version: "",
  min_version: "",
  updated: "2011-01-21T11:33:21Z",
  links: [{ rel: "self", href: `${rootOf(c)}/v2/` }],
});

function addVersionRoutes(app: ComputeApp): void {
  const described = { rel: "describedby", type: "text/html", href: "http://docs.openstack.org/" };
  const media = [{ base: "application/json", type: "application/vnd.openstack.compute+json;version=2" }];
  for (const path of ["/v2", "/v2/"]) {
    app.get(path, (c) => {
      const { links, ...version } = oldVersion(c);
      return c.json({ version: { ...version, links: [...links, described], "media-types": media } });
    });
  }
  app.get("/", (c) => {
    const links = [{ rel: "self", href: `${rootOf(c)}/v2.1/` }];
    const { id, status, version, min_version, updated } = currentVersion(c) as Readonly<Record<string, string>>;
    return c.json({ versions: [oldVersion(c), { id, status, version, min_version, updated, links }] });
  });
}
