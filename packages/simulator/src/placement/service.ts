import { Hono } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { at, isObject } from "../kernel/json.ts";
import { ServiceError } from "../kernel/service-error.ts";
import { mountCandidates } from "./resources/allocation-candidates.ts";
import { mountAllocations } from "./resources/allocations.ts";
import { mountInventories } from "./resources/inventories.ts";
import { placementError, placementState, type PlacementApp, type PlacementContext } from "./model.ts";
import { mountProviders } from "./resources/providers.ts";
import { mountResourceClasses } from "./resources/resource-classes.ts";
import { mountTraits } from "./resources/traits.ts";

const newest = 39;

/** Placement 1.0 to 1.39, https://docs.openstack.org/api-ref/placement/ . Hosts are providers; servers consume them. */
export function createPlacementService(kernel: Kernel): Service {
  const state = placementState(kernel);
  const app: PlacementApp = new Hono();
  app.get("/", (c) => {
    const links = [{ rel: "self", href: "" }];
    const range = { max_version: `1.${newest}`, min_version: "1.0" };
    return c.json({ versions: [{ id: "v1.0", ...range, status: "CURRENT", links }] });
  });
  app.use("/*", async (c, next) => {
    const minor = minorOf(c.req.header("openstack-api-version"));
    c.set("minor", minor);
    await next();
    c.res.headers.set("openstack-api-version", `placement 1.${minor}`);
    c.res.headers.append("vary", "openstack-api-version");
  });
  app.onError((error, c) => {
    throw error instanceof ServiceError ? errorOfVersion(c, error) : error;
  });
  mountProviders(app, state);
  mountInventories(app, state);
  mountAllocations(app, state);
  mountTraits(app, state);
  mountResourceClasses(app, state);
  mountCandidates(app, state);
  app.all("*", () => {
    throw placementError(404, "");
  });
  return { type: "placement", name: "placement", catalogPath: "", app: app as unknown as Service["app"] };
}

/** An error in the form of its version: with the id of the request, and with a code since 1.23. */
function errorOfVersion(c: PlacementContext, { status, body, headers }: ServiceError): ServiceError {
  const errors = at(body, "errors");
  if (!Array.isArray(errors)) return new ServiceError(status, body, headers);
  const request_id = c.get("requestId");
  const withId = errors.filter(isObject).map(({ code, ...error }) => ({
    ...error,
    request_id,
    ...(c.get("minor") >= 23 && code !== undefined ? { code } : {}),
  }));
  return new ServiceError(status, { errors: withId }, headers);
}

function minorOf(header: string | undefined): number {
  const asked = /(?:^|,)\s*placement\s+(\S+)/i.exec(header ?? "")?.[1];
  if (asked === undefined) return 0;
  if (asked === "latest") return newest;
  const minor = /^1\.(\d+)$/.exec(asked)?.[1];
  if (minor !== undefined && Number(minor) <= newest) return Number(minor);
  const what =
    "The resource could not be generated that was acceptable to your browser (content of type application/json.";
  const detail = `${what} \n\n Invalid microversion: Unacceptable version header: ${asked}`;
  const error = { status: 406, title: "Not Acceptable", detail, max_version: `1.${newest}`, min_version: "1.0" };
  throw new ServiceError(406, { errors: [error] });
}
