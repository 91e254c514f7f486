import { Hono } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import { pythonRepr } from "../kernel/python.ts";
import { ServiceError } from "../kernel/service-error.ts";
import { addAllocationRoutes } from "./allocations.ts";
import { addInventoryRoutes } from "./inventories.ts";
import {
  administer,
  capacityOf,
  fits,
  hostTraits,
  isClass,
  placementError,
  placementState,
  standardClasses,
  unfit,
  usedOf,
  type PlacementApp,
  type PlacementContext,
  type PlacementState,
} from "./model.ts";
import { addProviderRoutes, rootOf } from "./providers.ts";
import { resourcesOf } from "./queries.ts";

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
  addProviderRoutes(app, state);
  addInventoryRoutes(app, state);
  addAllocationRoutes(app, state);
  addTraitRoutes(app, state);
  addClassRoutes(app, state);
  addCandidateRoute(app, state);
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

function addTraitRoutes(app: PlacementApp, { traits, providers }: PlacementState): void {
  const all = () => [...hostTraits, "HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", ...traits.all().map(({ id }) => id)];
  app.get("/traits", (c) => {
    administer(c, "traits:list");
    const asked = c.req.query("name") ?? "";
    const [, how, value = ""] = /^(startswith|in):(.*)$/.exec(asked) ?? [];
    const used = new Set(providers.all().flatMap((row) => row.traits));
    const found = all().filter((name) => (how === "in" ? value.split(",").includes(name) : name.startsWith(value)));
    const associated = c.req.query("associated");
    if (associated !== undefined && !/^(?:true|false)$/i.test(associated)) {
      const why = `The query parameter "associated" only accepts "true" or "false"`;
      throw placementError(400, why);
    }
    const wanted =
      associated === undefined ? found : found.filter((name) => used.has(name) === /^true$/i.test(associated));
    return c.json({ traits: wanted });
  });
  app.get("/traits/:name", (c) => {
    administer(c, "traits:show");
    if (!all().includes(c.req.param("name"))) throw placementError(404, `No such trait(s): ${c.req.param("name")}.`);
    return c.body(null, 204);
  });
  app.put("/traits/:name", (c) => {
    administer(c, "traits:update");
    const name = c.req.param("name");
    if (!/^CUSTOM_[A-Z0-9_]+$/.test(name)) {
      throw placementError(
        400,
        `The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"`,
      );
    }
    if (traits.get(name)) return c.body(null, 204);
    traits.insert({ id: name });
    return c.body(null, 201);
  });
  app.delete("/traits/:name", (c) => {
    administer(c, "traits:delete");
    const name = c.req.param("name");
    if (!name.startsWith("CUSTOM_")) throw placementError(400, `Cannot delete standard trait ${name}.`);
    if (!traits.get(name)) throw placementError(404, `No such trait(s): ${name}.`);
    if (providers.all().some((row) => row.traits.includes(name))) {
      throw placementError(409, `The trait ${name} is in use by a resource provider.`);
    }
    traits.remove(name);
    return c.body(null, 204);
  });
}

function addClassRoutes(app: PlacementApp, { classes, providers }: PlacementState): void {
  const view = (name: string) => ({ name, links: [{ rel: "self", href: `/resource_classes/${name}` }] });
  const refused = (name: string) => {
    const pattern = "^CUSTOM_[A-Z0-9_]+$";
    const schema = { maxLength: 255, pattern, type: "string" };
    return unfit({
      given: name,
      why: `${pythonRepr(name)} does not match '${pattern}'`,
      rule: "pattern",
      at: ["name"],
      schema,
    });
  };
  app.post("/resource_classes", async (c) => {
    const name = textAt(await bodyOf(c.req), "name") ?? "";
    administer(c, "resource_classes:create");
    if (!/^CUSTOM_[A-Z0-9_]+$/.test(name)) throw refused(name);
    if (classes.get(name)) throw placementError(409, `Conflicting resource class already exists: ${name}`);
    classes.insert({ id: name });
    return c.body(null, 201, { location: `${new URL(c.req.url).origin}/placement/resource_classes/${name}` });
  });
  const all = (): readonly string[] => [...standardClasses, ...classes.all().map(({ id }) => id)];
  app.get("/resource_classes", (c) => {
    administer(c, "resource_classes:list");
    return c.json({ resource_classes: all().map(view) });
  });
  app.get("/resource_classes/:name", (c) => {
    administer(c, "resource_classes:show");
    if (!all().includes(c.req.param("name")))
      throw placementError(404, `No such resource class ${c.req.param("name")}.`);
    return c.json(view(c.req.param("name")));
  });
  app.put("/resource_classes/:name", (c) => {
    administer(c, "resource_classes:update");
    const name = c.req.param("name");
    if (!/^CUSTOM_[A-Z0-9_]+$/.test(name))
      throw placementError(400, `JSON does not validate: '${name}' does not match '^CUSTOM\\\\_[A-Z0-9_]+$'`);
    if (classes.get(name)) return c.body(null, 204);
    classes.insert({ id: name });
    return c.body(null, 201);
  });
  app.delete("/resource_classes/:name", (c) => {
    administer(c, "resource_classes:delete");
    const name = c.req.param("name");
    if (!classes.get(name)) {
      const standard: readonly string[] = standardClasses;
      if (standard.includes(name)) {
        const why = `Cannot delete standard resource class ${name}.`;
        throw placementError(400, `Error in delete resource class: ${why}`);
      }
      throw placementError(404, `No such resource class ${name}.`);
    }
    if (providers.all().some((row) => row.inventories[name])) {
      throw placementError(409, `Resource class ${name} is in use in inventory`);
    }
    classes.remove(name);
    return c.body(null, 204);
  });
}

/** GET /allocation_candidates: each provider that has capacity for the one unnumbered group of resources. */
function addCandidateRoute(app: PlacementApp, state: PlacementState): void {
  app.get("/allocation_candidates", (c) => {
    administer(c, "allocation_candidates:list");
    const query = new URL(c.req.url).searchParams;
    const asked = query.get("resources");
    if (asked === null) {
      const why = "There must be at least one resources or resources[$S] parameter.";
      throw placementError(400, why, "placement.query.missing_value");
    }
    const wanted = resourcesOf(asked);
    const strange = wanted.find(([name]) => !isClass(state, name));
    if (strange !== undefined) {
      const why = `Invalid resource class in resources parameter: No such resource class ${strange[0]}.`;
      throw placementError(400, why);
    }
    const required = query.get("required")?.split(",") ?? [];
    const limit = Number(query.get("limit") ?? Infinity);
    const found = state.providers.all().filter((row) => {
      const used = usedOf(state, row);
      const has = required.every((trait) => row.traits.includes(trait.replace(/^!/, "")) !== trait.startsWith("!"));
      return has && wanted.every(([name, amount]) => fits(row.inventories[name], used[name] ?? 0, amount));
    });
    const chosen = found.slice(0, limit);
    const resources = Object.fromEntries(wanted);
    const minor = c.get("minor");
    return c.json({
      allocation_requests: chosen.map(({ id }) => ({
        allocations: minor >= 12 ? { [id]: { resources } } : [{ resource_provider: { uuid: id }, resources }],
        ...(minor >= 34 ? { mappings: { "": [id] } } : {}),
      })),
      provider_summaries: Object.fromEntries(chosen.map((row) => [row.id, summary(state, row, minor)])),
    });
  });
}

function summary(state: PlacementState, row: Parameters<typeof usedOf>[1], minor: number) {
  const used = usedOf(state, row);
  const resources = Object.entries(row.inventories).map(([name, inventory]) => [
    name,
    { capacity: capacityOf(inventory), used: used[name] ?? 0 },
  ]);
  const family = { parent_provider_uuid: row.parent, root_provider_uuid: rootOf(state, row) };
  return {
    resources: Object.fromEntries(resources) as Readonly<Record<string, unknown>>,
    ...(minor >= 17
      ? { traits: row.traits.toSorted((a, b) => Number(a.startsWith("CUSTOM_")) - Number(b.startsWith("CUSTOM_"))) }
      : {}),
    ...(minor >= 29 ? family : {}),
  };
}
