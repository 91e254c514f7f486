import { Hono, type Context } from "hono";
import type { Ask } from "../kernel/ask.ts";
import type { Kernel, Service } from "../kernel/interface.ts";
import type { NetworkLinks } from "../kernel/links.ts";
import type { VolumeLinks } from "../kernel/volume-links.ts";
import { mountAggregates } from "./resources/aggregates.ts";
import { mountExtensions } from "./resources/extensions.ts";
import { mountFlavorWrites } from "./resources/flavor-writes.ts";
import { mountHostReports } from "./resources/host-reports.ts";
import { mountHosts } from "./resources/hosts.ts";
import { mountMigrations } from "./resources/migrations.ts";
import { mountProxies } from "./resources/proxies.ts";
import { mountUsage } from "./resources/usage.ts";
import { mountFlavors, seedFlavors } from "./resources/flavors.ts";
import { mountGroups } from "./resources/groups.ts";
import { mountKeypairs } from "./resources/keypairs.ts";
import { mountInstanceActions } from "./resources/instance-actions.ts";
import { Lifecycle } from "./rules/lifecycle.ts";
import { microversions } from "./kit/microversion.ts";
import { asServiceApp, computeTables, notFoundPage, type ComputeApp, type ComputeParts } from "./model.ts";
import { mountProject } from "./resources/project.ts";
import { mountActions } from "./resources/server-actions.ts";
import { mountDevices } from "./resources/server-devices.ts";
import { mountLabels } from "./resources/server-labels.ts";
import { strictQueries } from "./kit/strict-queries.ts";
import { mountServers } from "./resources/servers.ts";
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
  mountVersions(app);
  app.use("/v2.1/*", microversions(computeVersions));
  app.use("/v2.1/*", strictQueries());
  app.get("/v2.1", (c) => c.json({ version: currentVersion(c) }));
  app.get("/v2.1/", (c) => c.json({ version: currentVersion(c) }));
  mountServers(app, parts, lifecycle);
  mountLabels(app, parts, lifecycle);
  mountDevices(app, parts, lifecycle);
  // Before the orders to servers, of which it takes two.
  mountProxies(app, parts);
  mountActions(app, parts, lifecycle);
  mountInstanceActions(app, parts);
  mountFlavors(app, parts);
  mountFlavorWrites(app, parts);
  mountHosts(app, parts);
  mountHostReports(app, parts);
  mountAggregates(app, parts);
  mountMigrations(app, parts);
  mountUsage(app, parts);
  mountGroups(app, parts);
  mountKeypairs(app, parts);
  mountProject(app, parts);
  mountExtensions(app);
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

function mountVersions(app: ComputeApp): void {
  const described = { rel: "describedby", type: "text/html", href: "http://docs.openstack.org/" };
  const media = [{ base: "application/json", type: "application/vnd.openstack.compute+json;version=2" }];
  const old = (c: Context) => {
    const { links, ...version } = oldVersion(c);
    return c.json({ version: { ...version, links: [...links, described], "media-types": media } });
  };
  app.get("/v2", old);
  app.get("/v2/", old);
  app.get("/", (c) => {
    const links = [{ rel: "self", href: `${rootOf(c)}/v2.1/` }];
    const { id, status, version, min_version, updated } = currentVersion(c) as Readonly<Record<string, string>>;
    return c.json({ versions: [oldVersion(c), { id, status, version, min_version, updated, links }] });
  });
}
