import { Hono, type Context } from "hono";
import { computeError, notFoundPage } from "../compute/model.ts";
import { ServiceError } from "../kernel/service-error.ts";
import type { Kernel, Service } from "../kernel/interface.ts";
import { mountShareActions } from "./resources/actions.ts";
import { mountAbsentGroups, mountGroupTypes } from "./resources/groups.ts";
import { mountInstances } from "./resources/instances.ts";
import { mountLocations } from "./resources/locations.ts";
import { mountManagement } from "./resources/manage.ts";
import { mountMessages } from "./resources/messages.ts";
import { shareParts, type ShareApp } from "./model.ts";
import { mountShareNetworks } from "./resources/networks.ts";
import { mountOperators } from "./resources/operators.ts";
import { mountShareQuotas } from "./resources/quotas.ts";
import { mountSecurityServices } from "./resources/security-services.ts";
import { mountShares } from "./resources/shares.ts";
import { mountSnapshotInstances } from "./resources/snapshot-instances.ts";
import { mountSnapshots } from "./resources/snapshots.ts";
import { mountTypes, seedTypes } from "./resources/types.ts";

const header = "x-openstack-manila-api-version";
const newest = 73;

/**
 * Manila v2, https://docs.openstack.org/api-ref/shared-file-system/ : shares, access, snapshots, share networks, types.
 * Nothing is mounted.
 */
export function createShareService(kernel: Kernel): Service {
  const parts = shareParts(kernel);
  seedTypes(parts);
  const app: ShareApp = new Hono();
  app.get("/", (c) => c.json({ versions: [old(c), version(c)] }, 300));
  app.get("/v2", (c) => c.json({ versions: [version(c)] }));
  app.get("/v2/", (c) => c.json({ versions: [version(c)] }));
  app.use("/v2/*", async (c, next) => {
    const asked = c.req.header(header);
    const minor = minorOf(asked);
    if (minor === undefined) {
      // The real service forgets to fill these words in.
      const message =
        "Version %(req_ver)s is not supported by the API. Minimum is %(min_ver)s and maximum is %(max_ver)s.";
      throw new ServiceError(406, { computeFault: { code: 406, message } }, { [header]: asked ?? "" });
    }
    c.set("minor", minor);
    await next();
    if (c.res.headers.get("content-type")?.startsWith("text/html") !== true) c.res.headers.set(header, `2.${minor}`);
    c.res.headers.append("vary", "X-OpenStack-Manila-API-Version");
  });
  mountShares(app, parts);
  mountShareActions(app, parts);
  mountSnapshots(app, parts);
  mountShareNetworks(app, parts);
  mountShareQuotas(app, parts);
  mountTypes(app, parts);
  mountLocations(app, parts);
  mountInstances(app, parts);
  mountManagement(app, parts);
  mountSnapshotInstances(app, parts);
  mountSecurityServices(app, parts);
  mountMessages(app, parts);
  mountGroupTypes(app, parts);
  mountAbsentGroups(app, parts);
  mountOperators(app, parts);
  app.all("*", () => {
    throw notFoundPage();
  });
  return {
    type: "sharev2",
    name: "manilav2",
    catalogPath: "/v2",
    open: ["", "/", "/v2", "/v2/"],
    app: app as unknown as Service["app"],
  };
}

/** Undefined: there is no such version. Throws 400 for what is none. */
function minorOf(asked: string | undefined): number | undefined {
  if (asked === undefined) return 0;
  if (asked === "latest") return newest;
  const match = /^(\d+)\.(\d+)$/.exec(asked);
  if (!match) {
    throw computeError(
      400,
      "API Version String %(version)s is of invalid format. Must be of format MajorNum.MinorNum.",
    );
  }
  return match[1] === "2" && Number(match[2]) <= newest ? Number(match[2]) : undefined;
}

const document = (c: Context, root: string) => ({
  links: [
    { rel: "describedby", type: "text/html", href: "http://docs.openstack.org/" },
    { rel: "self", href: `${new URL(c.req.url).origin}/share/${root}/` },
  ],
  "media-types": [{ base: "application/json", type: "application/vnd.openstack.share+json;version=1" }],
});
const updated = "2015-08-27T11:33:21Z";

const version = (c: Context) => ({
  id: "v2.0",
  status: "CURRENT",
  version: `2.${newest}`,
  min_version: "2.0",
  updated,
  ...document(c, "v2"),
});

/** The version before, which the real service lists still; it is not served here. */
const old = (c: Context) => ({
  id: "v1.0",
  status: "DEPRECATED",
  version: "",
  min_version: "",
  updated,
  ...document(c, "v1"),
});
