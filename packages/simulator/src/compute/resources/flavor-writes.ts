import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import { invalid } from "../rules/create-request.ts";
import { flavorView } from "./flavors.ts";
import { requireFlavor } from "../rules/usable-flavors.ts";
import {
  computeError,
  requireAdmin,
  type ComputeApp,
  type ComputeEnv,
  type ComputeParts,
  type Flavor,
} from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import type { ComputeContext } from "../views.ts";

const largest = 2_147_483_647;

/** Making, describing and deleting flavors, their extra specs, and whom they are for. Administrators only. */
export function mountFlavorWrites(app: ComputeApp, parts: ComputeParts): void {
  const { tables, kernel } = parts;
  const flavorOf = (c: ComputeContext) => requireFlavor(tables, c.get("caller"), c.req.param("id") ?? "");
  app.post("/v2.1/flavors", async (c) => {
    const given = readFlavor(await bodyOf(c.req), c.get("minor"));
    requireAdmin(c.get("caller"), "os-flavor-manage:create");
    const flavor = { ...given, id: given.id === "" ? kernel.newId() : given.id };
    if (tables.flavors.get(flavor.id)) throw computeError(409, `Flavor with ID ${flavor.id} already exists.`);
    if (tables.flavors.by("name", flavor.name).length > 0) {
      throw computeError(409, `Flavor with name ${flavor.name} already exists.`);
    }
    return c.json({ flavor: flavorView(c, tables.flavors.insert({ ...flavor, projects: [] })) });
  });
  app.put("/v2.1/flavors/:id", async (c) => {
    const given = at(await bodyOf(c.req), "flavor");
    requireAdmin(c.get("caller"), "os-flavor-manage:update");
    if (!isObject(given)) throw computeError(400, "'flavor' is a required property");
    const description = given["description"];
    if (description === undefined) throw invalid("flavor", given, "'description' is a required property");
    const flavor = tables.flavors.update(flavorOf(c).id, {
      description: description === null ? null : String(description as string),
    });
    return c.json({ flavor: flavorView(c, flavor) });
  });
  app.delete("/v2.1/flavors/:id", (c) => {
    requireAdmin(c.get("caller"), "os-flavor-manage:delete");
    tables.flavors.remove(flavorOf(c).id);
    return c.body(null, 202);
  });
  mountExtraSpecs(app, parts);
  mountAccess(app, parts);
}

function mountExtraSpecs(app: ComputeApp, { tables }: ComputeParts): void {
  mountKeyValues<ComputeEnv, Flavor>(app, {
    path: "/v2.1/flavors/:id/os-extra_specs",
    many: "extra_specs",
    writes: ["add", "set"],
    addShows: "given",
    statuses: { remove: 200 },
    permit(c, verb) {
      if (verb === "remove") requireAdmin(c.get("caller"), "os-flavor-extra-specs:delete");
    },
    given(c, body, verb) {
      if (verb !== "set") {
        const specs = readSpecs(at(body, "extra_specs"), "extra_specs");
        requireAdmin(c.get("caller"), "os-flavor-extra-specs:create");
        return specs;
      }
      const specs = readSpecs(body, "None");
      requireAdmin(c.get("caller"), "os-flavor-extra-specs:update");
      if (Object.keys(specs).length > 1) throw invalid("", specs, `${pythonRepr(specs)} has too many properties`);
      if (specs[c.req.param("key") ?? ""] === undefined) throw computeError(400, "Request body and URI mismatch");
      return specs;
    },
    find: (c) => requireFlavor(tables, c.get("caller"), c.req.param("id") ?? ""),
    pairsOf: ({ extra_specs }) => extra_specs,
    keep: (_c, { id }, extra_specs) => void tables.flavors.update(id, { extra_specs }),
    unknownKey: (c, { id }) =>
      computeError(404, `Flavor ${id} has no extra specs with key ${c.req.param("key") ?? ""}.`),
  });
}

function mountAccess(app: ComputeApp, { tables }: ComputeParts): void {
  const flavorOf = (c: ComputeContext) => requireFlavor(tables, c.get("caller"), c.req.param("id") ?? "");
  const access = (flavor: Flavor) => ({
    flavor_access: (flavor.projects ?? []).map((tenant_id) => ({ flavor_id: flavor.id, tenant_id })),
  });
  app.get("/v2.1/flavors/:id/os-flavor-access", (c) => {
    const flavor = flavorOf(c);
    if (flavor.is_public ?? true) throw computeError(404, "Access list not available for public flavors.");
    return c.json(access(flavor));
  });
  app.post("/v2.1/flavors/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const verb = ["addTenantAccess", "removeTenantAccess"].find((name) => at(body, name) !== undefined);
    if (verb === undefined) throw computeError(400, "There is no such action");
    const tenant = textAt(body, verb, "tenant") ?? "";
    requireAdmin(c.get("caller"), `os-flavor-access:${verb === "addTenantAccess" ? "add" : "remove"}_tenant_access`);
    const flavor = flavorOf(c);
    const had = flavor.projects ?? [];
    // Refusals name a flavor by its place in the database.
    const number = tables.flavors.all().indexOf(flavor) + 1;
    if (verb === "addTenantAccess") {
      if (flavor.is_public ?? true) throw computeError(409, "Can not add access to a public flavor.");
      const what = `Flavor access already exists for flavor ${number} and project ${tenant} combination.`;
      if (had.includes(tenant)) throw computeError(409, what);
      return c.json(access(tables.flavors.update(flavor.id, { projects: [...had, tenant] })));
    }
    const what = `Flavor access not found for ${number} / ${tenant} combination.`;
    if (!had.includes(tenant)) throw computeError(404, what);
    return c.json(access(tables.flavors.update(flavor.id, { projects: had.filter((id) => id !== tenant) })));
  });
}

function readSpecs(given: unknown, field: string): Readonly<Record<string, string>> {
  if (!isObject(given)) throw invalid(field, given, `${pythonRepr(given)} is not of type 'object'`);
  const entries = Object.entries(given).map(([key, value]) => {
    if (!/^[a-zA-Z0-9-_:. ]{1,255}$/.test(key)) {
      throw invalid(field, given, `'${key}' does not match any of the regexes: '^[a-zA-Z0-9-_:. ]{1,255}$'`);
    }
    if (typeof value !== "string" && typeof value !== "number") {
      throw invalid(key, value, `${pythonRepr(value)} is not of type 'string', 'number'`);
    }
    return [key, String(value)] as const;
  });
  return Object.fromEntries(entries);
}

const known = [
  "name",
  "id",
  "ram",
  "vcpus",
  "disk",
  "OS-FLV-EXT-DATA:ephemeral",
  "swap",
  "rxtx_factor",
  "os-flavor-access:is_public",
];

/** A flavor out of a body, in the order that the real schema complains in. */
function readFlavor(body: unknown, minor: number): Flavor {
  const given = at(body, "flavor");
  if (!isObject(given)) throw computeError(400, "'flavor' is a required property");
  const missing = ["name", "ram", "vcpus", "disk"].find((field) => given[field] === undefined);
  if (missing !== undefined) throw invalid("flavor", given, `'${missing}' is a required property`);
  const allowed = minor >= 55 ? [...known, "description"] : known;
  const unknown = Object.keys(given).find((field) => !allowed.includes(field));
  if (unknown !== undefined) {
    throw invalid("flavor", given, `Additional properties are not allowed (${pythonRepr(unknown)} was unexpected)`);
  }
  return {
    id: idOf(given["id"]),
    name: nameOf(given["name"]),
    ram: amount(given, "ram", 1),
    vcpus: amount(given, "vcpus", 1),
    disk: amount(given, "disk", 0),
    ephemeral: amount(given, "OS-FLV-EXT-DATA:ephemeral", 0),
    swap: amount(given, "swap", 0),
    rxtx_factor: Number(given["rxtx_factor"] ?? 1),
    is_public: truth(given["os-flavor-access:is_public"]),
    description: textAt(given, "description") ?? null,
    extra_specs: {},
  };
}

function nameOf(value: unknown): string {
  if (typeof value !== "string") throw invalid("name", value, `${pythonRepr(value)} is not of type 'string'`);
  if (value.trim() === "" || value.length > 255) {
    throw invalid("name", value, `${pythonRepr(value)} is too ${value.length > 255 ? "long" : "short"}`);
  }
  return value.trim();
}

/** "" asks for a new one. */
function idOf(value: unknown): string {
  if (value === undefined || value === null || value === "auto") return "";
  const text = String(value as string | number);
  if (/^(?! )[a-zA-Z0-9. _-]+(?<! )$/.test(text) && text.length <= 255) return text;
  throw invalid("id", value, `${pythonRepr(value)} does not match '^(?! )[a-zA-Z0-9. _-]+(?<! )$'`);
}

function amount(given: JsonObject, field: string, least: 0 | 1): number {
  const value = given[field] ?? 0;
  const number = typeof value === "string" && /^[0-9]+$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) {
    throw invalid(field, value, `${pythonRepr(value)} does not match '^[0-9]*$'`);
  }
  if (number < least) throw invalid(field, value, `${number} is less than the minimum of ${least}`);
  if (number > largest) throw invalid(field, value, `${number} is greater than the maximum of ${largest}`);
  return number;
}

const truth = (value: unknown): boolean =>
  value === undefined || value === true || /^(true|1|on|yes|y|t)$/i.test(String(value as string));
