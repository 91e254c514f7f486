import { at, bodyOf, isObject } from "../../kernel/json.ts";
import {
  administer,
  checkGeneration,
  placementError,
  isClass,
  unfit,
  usedOf,
  type Inventory,
  type PlacementApp,
  type PlacementState,
  type Provider,
} from "../model.ts";
import { providerOf, requireObject } from "./providers.ts";

const most = 2_147_483_647;

/** What providers have of each class of resource. */
export function mountInventories(app: PlacementApp, state: PlacementState): void {
  const path = "/resource_providers/:id/inventories";
  const whole = (row: Provider) => ({ resource_provider_generation: row.generation, inventories: row.inventories });
  const keep = (row: Provider, inventories: Provider["inventories"]): Provider => {
    const used = usedOf(state, row);
    const lost = Object.keys(row.inventories).find((name) => !inventories[name] && (used[name] ?? 0) > 0);
    if (lost !== undefined) {
      const why = `update conflict: Inventory for '${lost}' on resource provider '${row.id}' in use.`;
      throw placementError(409, why, "placement.inventory.inuse");
    }
    return state.providers.update(row.id, { inventories, generation: row.generation + 1 });
  };
  app.get(path, (c) => {
    administer(c, "resource_providers:inventories:list");
    return c.json(whole(providerOf(c, state)));
  });
  app.put(path, async (c) => {
    const body = requireObject(await bodyOf(c.req));
    administer(c, "resource_providers:inventories:update");
    const row = providerOf(c, state);
    const given = requireObject(body["inventories"]);
    const read = Object.entries(given).map(([name, one]) => [name, inventoryOf(state, name, one)] as const);
    checkGeneration(row, body["resource_provider_generation"]);
    return c.json(whole(keep(row, Object.fromEntries(read))));
  });
  // A generation in the body is ignored.
  app.post(path, async (c) => {
    const { resource_class: given, ...body } = requireObject(await bodyOf(c.req));
    administer(c, "resource_providers:inventories:create");
    const row = providerOf(c, state);
    if (typeof given !== "string")
      throw placementError(400, "JSON does not validate: 'resource_class' is a required property");
    if (!isClass(state, given)) {
      const why = `No such resource class ${given}.`;
      throw placementError(400, `Unable to create inventory for resource provider ${row.id}: ${why}`);
    }
    const inventory = inventoryOf(state, given, body);
    if (row.inventories[given]) throw placementError(409, `Update conflict: Inventory for '${given}' exists.`);
    const made = keep(row, { ...row.inventories, [given]: inventory });
    const location = `${new URL(c.req.url).origin}/placement/resource_providers/${row.id}/inventories/${given}`;
    return c.json({ ...inventory, resource_provider_generation: made.generation }, 201, { location });
  });
  app.delete(path, (c) => {
    administer(c, "resource_providers:inventories:delete");
    keep(providerOf(c, state), {});
    return c.body(null, 204);
  });
  app.get(`${path}/:class`, (c) => {
    administer(c, "resource_providers:inventories:show");
    const [row, name] = [providerOf(c, state), c.req.param("class")];
    const inventory = row.inventories[name];
    if (!inventory) throw placementError(404, `No inventory of class ${name} for ${row.id}`);
    return c.json({ ...inventory, resource_provider_generation: row.generation });
  });
  app.put(`${path}/:class`, async (c) => {
    const body = requireObject(await bodyOf(c.req));
    administer(c, "resource_providers:inventories:update");
    const [row, name] = [providerOf(c, state), c.req.param("class")];
    const { resource_provider_generation: generation, ...given } = body;
    checkGeneration(row, generation);
    if (!isClass(state, name)) throw placementError(404, `No such resource class ${name}.`);
    const inventory = inventoryOf(state, name, given);
    const made = keep(row, { ...row.inventories, [name]: inventory });
    return c.json({ ...inventory, resource_provider_generation: made.generation });
  });
  app.delete(`${path}/:class`, (c) => {
    administer(c, "resource_providers:inventories:delete");
    const [row, name] = [providerOf(c, state), c.req.param("class")];
    const { [name]: gone, ...left } = row.inventories;
    if (!gone) throw placementError(404, `No inventory of class ${name} found for delete`);
    if ((usedOf(state, row)[name] ?? 0) > 0) {
      const why = `Inventory for '${name}' on resource provider '${row.id}' in use.`;
      throw placementError(409, `Unable to delete inventory of class ${name}: ${why}`, "placement.inventory.inuse");
    }
    keep(row, left);
    return c.body(null, 204);
  });
}

function inventoryOf(state: PlacementState, name: string, given: unknown): Inventory {
  if (!isClass(state, name)) {
    const why = `Unknown resource class in inventory for resource provider: No such resource class ${name}.`;
    throw placementError(400, why);
  }
  const total = at(given, "total");
  if (typeof total === "number" && total < 1) {
    const schema = { maximum: most, minimum: 1, type: "integer" };
    const at = ["inventories", `/^[A-Z0-9_]+$/${name}`, "total"];
    throw unfit({ given: total, why: `${total} is less than the minimum of 1`, rule: "minimum", at, schema });
  }
  if (!isObject(given) || typeof total !== "number") {
    throw placementError(400, "JSON does not validate: 'total' is a required property");
  }
  const number = (field: string, usual: number) => {
    const value = given[field];
    return typeof value === "number" ? value : usual;
  };
  const inventory = {
    total,
    reserved: number("reserved", 0),
    min_unit: number("min_unit", 1),
    max_unit: number("max_unit", most),
    step_size: number("step_size", 1),
    allocation_ratio: number("allocation_ratio", 1),
  };
  if (inventory.reserved <= total) return inventory;
  throw placementError(
    400,
    `Unable to update inventory: Invalid inventory for '${name}'. The reserved value is greater than total.`,
  );
}
