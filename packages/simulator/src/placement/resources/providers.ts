import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import {
  administer,
  allocationsOf,
  checkGeneration,
  fits,
  placementError,
  usedOf,
  type PlacementApp,
  type PlacementContext,
  type PlacementEnv,
  type PlacementState,
  type Provider,
} from "../model.ts";
import { resourcesOf } from "../rules/queries.ts";

/** Resource providers and what hangs on each: aggregates, traits, usages, allocations. */
export function mountProviders(app: PlacementApp, state: PlacementState): void {
  const { providers, kernel } = state;
  mountResource<PlacementEnv, Provider>(app, kernel, {
    path: "/resource_providers",
    many: "resource_providers",
    permit: (c, verb) => administer(c, `resource_providers:${verb}`),
    find(c, verb) {
      if (verb !== "delete") return providerOf(c, state);
      const id = c.req.param("id") ?? "";
      const row = providers.get(id);
      if (!row) throw placementError(404, `No resource provider with uuid ${id} found for delete`);
      return row;
    },
    list: (c) => ({ rows: listed(state, new URL(c.req.url).searchParams) }),
    view: (c, row) => ({ ...providerView(row, c.get("minor")) }),
    update(_c, row, given) {
      const name = textAt(given, "name");
      if (name === undefined) throw placementError(400, "JSON does not validate: 'name' is a required property");
      if (name !== row.name && providers.by("name", name).length > 0) throw duplicate("name", name);
      const wanted = given["parent_provider_uuid"];
      const parent = wanted === undefined ? row.parent : parentOf(state, wanted);
      return providers.update(row.id, { name, parent });
    },
    remove(_c, row) {
      if (providers.all().some((other) => other.parent === row.id)) {
        const why = `Unable to delete parent resource provider ${row.id}: It has child resource providers.`;
        throw placementError(409, why, "placement.resource_provider.cannot_delete_parent");
      }
      if (consumersOf(state, row).length > 0) {
        const why = `Unable to delete resource provider ${row.id}: Resource provider has allocations.`;
        throw placementError(409, why, "placement.resource_provider.inuse");
      }
      providers.remove(row.id);
    },
  });
  // Its status and its body depend on the version.
  app.post("/resource_providers", async (c) => {
    const body = await bodyOf(c.req);
    administer(c, "resource_providers:create");
    const name = textAt(body, "name");
    if (name === undefined) throw placementError(400, "JSON does not validate: 'name' is a required property");
    const id = textAt(body, "uuid") ?? kernel.newId();
    if (providers.by("name", name).length > 0) throw duplicate("name", name);
    if (providers.get(id)) throw duplicate("uuid", id);
    const asked = at(body, "parent_provider_uuid");
    if (typeof asked === "string" && !providers.get(asked)) {
      const why = "Object action create failed because: parent provider UUID does not exist.";
      throw placementError(400, `Unable to create resource provider "${name}", ${id}: ${why}`);
    }
    const parent = parentOf(state, asked);
    const row = providers.insert({ id, name, generation: 0, parent, inventories: {}, traits: [], aggregates: [] });
    const location = `${new URL(c.req.url).origin}/placement/resource_providers/${id}`;
    if (c.get("minor") < 20) return c.body(null, 201, { location });
    return c.json(providerView(row, c.get("minor")), 200, { location });
  });
  mountParts(app, state);
}

function mountParts(app: PlacementApp, state: PlacementState): void {
  const { providers } = state;
  app.get("/resource_providers/:id/usages", (c) => {
    administer(c, "resource_providers:usages");
    const row = providerOf(c, state);
    return c.json({ resource_provider_generation: row.generation, usages: usedOf(state, row) });
  });
  app.get("/resource_providers/:id/allocations", (c) => {
    administer(c, "resource_providers:allocations:list");
    const row = providerOf(c, state);
    const consumers = consumersOf(state, row).map(({ id, generation, resources }) => [
      id,
      { resources: resources[row.id], ...(c.get("minor") >= 28 ? { consumer_generation: generation } : {}) },
    ]);
    const allocations = Object.fromEntries(consumers) as Readonly<Record<string, unknown>>;
    return c.json({ allocations, resource_provider_generation: row.generation });
  });
  const generation = (row: Provider, minor: number) =>
    minor >= 19 ? { resource_provider_generation: row.generation } : {};
  app.get("/resource_providers/:id/aggregates", (c) => {
    administer(c, "resource_providers:aggregates:list");
    const row = providerOf(c, state);
    return c.json({ aggregates: row.aggregates, ...generation(row, c.get("minor")) });
  });
  app.put("/resource_providers/:id/aggregates", async (c) => {
    const body = await bodyOf(c.req);
    administer(c, "resource_providers:aggregates:update");
    const row = providerOf(c, state);
    const given = c.get("minor") >= 19 ? at(body, "aggregates") : body;
    if (c.get("minor") >= 19) checkGeneration(row, at(body, "resource_provider_generation"));
    const made = providers.update(row.id, { aggregates: wordsOf(given), generation: row.generation + 1 });
    return c.json({ aggregates: made.aggregates, ...generation(made, c.get("minor")) });
  });
  app.get("/resource_providers/:id/traits", (c) => {
    administer(c, "resource_providers:traits:list");
    const row = providerOf(c, state);
    return c.json({ traits: row.traits, resource_provider_generation: row.generation });
  });
  app.put("/resource_providers/:id/traits", async (c) => {
    const body = await bodyOf(c.req);
    administer(c, "resource_providers:traits:update");
    const row = providerOf(c, state);
    checkGeneration(row, at(body, "resource_provider_generation"));
    const traits = wordsOf(at(body, "traits"));
    const strange = traits.find((trait) => trait.startsWith("CUSTOM_") && !state.traits.get(trait));
    if (strange !== undefined) throw placementError(400, `No such trait ${strange}`);
    const made = providers.update(row.id, { traits, generation: row.generation + 1 });
    return c.json({ traits: made.traits, resource_provider_generation: made.generation });
  });
  app.delete("/resource_providers/:id/traits", (c) => {
    administer(c, "resource_providers:traits:delete");
    const row = providerOf(c, state);
    providers.update(row.id, { traits: [], generation: row.generation + 1 });
    return c.body(null, 204);
  });
}

const duplicate = (field: string, value: string) => {
  const why = `Conflicting resource provider ${field}: ${value} already exists.`;
  return placementError(409, why, `placement.duplicate_${field}`);
};

/** The provider of a route below /resource_providers/:id; throws 404. */
export function providerOf(c: PlacementContext, { providers }: PlacementState): Provider {
  const id = c.req.param("id") ?? "";
  const row = providers.get(id);
  if (!row) throw placementError(404, `No resource provider with uuid ${id} found`);
  return row;
}

const consumersOf = (state: PlacementState, row: Provider) =>
  allocationsOf(state).filter(({ resources }) => resources[row.id] !== undefined);

function parentOf({ providers }: PlacementState, given: unknown): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given === "string" && providers.get(given)) return given;
  throw placementError(400, `parent provider UUID does not exist.`, "placement.undefined_code");
}

const wordsOf = (given: unknown): readonly string[] => {
  if (Array.isArray(given) && given.every((word) => typeof word === "string")) return [...new Set(given)];
  throw placementError(400, "JSON does not validate: a list of strings is required");
};

/** The provider at the top of a tree. */
export function rootOf({ providers }: PlacementState, row: Provider): string {
  const parent = row.parent === null ? undefined : providers.get(row.parent);
  return parent ? rootOf({ providers } as PlacementState, parent) : row.id;
}

function listed(state: PlacementState, query: URLSearchParams): readonly Provider[] {
  const known = ["name", "uuid", "member_of", "in_tree", "required", "resources"];
  const strange = [...query.keys()].find((key) => !known.includes(key));
  if (strange !== undefined) {
    const why = `Additional properties are not allowed ('${strange}' was unexpected)`;
    throw placementError(400, `Invalid query string parameters: ${why}`);
  }
  const wanted = resourcesOf(query.get("resources") ?? "");
  const [required, tree] = [query.get("required")?.split(",") ?? [], query.get("in_tree")];
  const members = query.get("member_of")?.replace(/^in:/, "").split(",") ?? [];
  return state.providers.all().filter((row) => {
    const used = usedOf(state, row);
    if (query.has("name") && query.get("name") !== row.name) return false;
    if (query.has("uuid") && query.get("uuid") !== row.id) return false;
    const top = state.providers.get(tree ?? "");
    if (tree !== null && (!top || rootOf(state, row) !== rootOf(state, top))) return false;
    if (members.length > 0 && !members.some((member) => row.aggregates.includes(member))) return false;
    if (
      !required.every((trait) =>
        trait.startsWith("!") ? !row.traits.includes(trait.slice(1)) : row.traits.includes(trait),
      )
    )
      return false;
    return wanted.every(([name, amount]) => fits(row.inventories[name], used[name] ?? 0, amount));
  });
}

function providerView(row: Provider, minor: number) {
  const parts = ["inventories", "usages"];
  if (minor >= 1) parts.push("aggregates");
  if (minor >= 6) parts.push("traits");
  if (minor >= 11) parts.push("allocations");
  const href = `/resource_providers/${row.id}`;
  const links = [{ rel: "self", href }, ...parts.map((part) => ({ rel: part, href: `${href}/${part}` }))];
  const family = minor >= 14 ? { parent_provider_uuid: row.parent, root_provider_uuid: row.parent ?? row.id } : {};
  return { uuid: row.id, name: row.name, generation: row.generation, links, ...family };
}

/** True if a body is an object; Placement's 400 otherwise. */
export function requireObject(body: unknown): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body;
  throw placementError(400, "Malformed JSON: Expecting value: line 1 column 1 (char 0)");
}
