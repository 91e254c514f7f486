import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import {
  administer,
  allocationsOf,
  fits,
  placementError,
  usedOf,
  type Allocation,
  type PlacementApp,
  type PlacementState,
} from "../model.ts";
import { requireObject } from "./providers.ts";

/** What consumers have allocated, and how much a project has. */
export function mountAllocations(app: PlacementApp, state: PlacementState): void {
  const { allocations, kernel } = state;
  app.get("/allocations/:consumer", (c) => {
    administer(c, "allocations:list");
    const found = allocationsOf(state).find(({ id }) => id === c.req.param("consumer"));
    return c.json(found ? view(state, found, c.get("minor")) : { allocations: {} });
  });
  app.put("/allocations/:consumer", async (c) => {
    const body = requireObject(await bodyOf(c.req));
    administer(c, "allocations:update");
    kernel.atomic(() => put(state, c.req.param("consumer"), body));
    return c.body(null, 204);
  });
  app.post("/allocations", async (c) => {
    const body = requireObject(await bodyOf(c.req));
    administer(c, "allocations:manage");
    kernel.atomic(() => {
      // Released amounts are available to new allocations.
      const removed = Object.entries(body).filter(([, one]) => Object.keys(at(one, "allocations") ?? {}).length === 0);
      for (const [consumer, one] of removed) put(state, consumer, requireObject(one));
      const others = Object.entries(body).filter(([consumer]) => !removed.some(([gone]) => gone === consumer));
      for (const [consumer, one] of others) put(state, consumer, requireObject(one));
    });
    return c.body(null, 204);
  });
  app.delete("/allocations/:consumer", (c) => {
    administer(c, "allocations:delete");
    const id = c.req.param("consumer");
    if (!allocations.get(id)) throw placementError(404, `No allocations for consumer '${id}'`);
    allocations.remove(id);
    return c.body(null, 204);
  });
  app.get("/usages", (c) => {
    const { project_id: project, user_id: user } = c.req.query();
    if (project === undefined) {
      throw placementError(400, "Invalid query string parameters: 'project_id' is a required property");
    }
    if (!c.get("caller").isAdmin && project !== c.get("caller").projectId) administer(c, "usages");
    const mine = allocationsOf(state).filter(
      (one) => one.project_id === project && (user ?? one.user_id) === one.user_id,
    );
    return c.json({ usages: c.get("minor") >= 38 ? byType(mine) : sumOf(mine) });
  });
}

function put(state: PlacementState, consumer: string, body: Readonly<Record<string, unknown>>): void {
  const { allocations, providers } = state;
  const known = allocations.get(consumer);
  checkConsumer(known, body["consumer_generation"] ?? null);
  if (known) allocations.remove(consumer);
  const asked = Object.entries(requireObject(body["allocations"]));
  if (asked.length === 0) return;
  const taken = asked.map(
    ([providerId, one]) => [providerId, taking(state, providerId, at(one, "resources"))] as const,
  );
  for (const [id] of taken) providers.update(id, { generation: (providers.get(id)?.generation ?? 0) + 1 });
  allocations.insert({
    id: consumer,
    project_id: textAt(body, "project_id") ?? "",
    user_id: textAt(body, "user_id") ?? "",
    type: textAt(body, "consumer_type") ?? "unknown",
    generation: (known?.generation ?? 0) + 1,
    resources: Object.fromEntries(taken),
  });
}

/** 409 if another client changed the consumer meanwhile; null is a new one. */
function checkConsumer(known: Allocation | undefined, generation: unknown): void {
  const expected = known?.generation ?? null;
  if (generation === expected) return;
  const got = generation === null ? "None" : String(generation as number);
  const why = `consumer generation conflict - expected ${expected ?? "null"} but got ${got}`;
  throw placementError(409, why, "placement.concurrent_update");
}

/** What is allocated of one provider, if it has the capacity. */
function taking(state: PlacementState, providerId: string, amounts: unknown): Readonly<Record<string, number>> {
  const provider = state.providers.get(providerId);
  if (!provider) throw placementError(400, `Allocation for resource provider '${providerId}' that does not exist.`);
  const used = usedOf(state, provider);
  const taken: Record<string, number> = {};
  for (const [name, amount] of Object.entries(isObject(amounts) ? amounts : {})) {
    if (typeof amount !== "number") throw placementError(400, `JSON does not validate: ${name} is not an integer`);
    const inventory = provider.inventories[name];
    const refused = (why: string) => placementError(409, `Unable to allocate inventory: ${why}`);
    if (!inventory) throw refused(`Inventory for '${name}' on resource provider '${providerId}' invalid.`);
    if (!fits(inventory, used[name] ?? 0, amount)) {
      const what = `Unable to create allocation for '${name}' on resource provider '${providerId}'.`;
      const unit = amount < inventory.min_unit || amount > inventory.max_unit || amount % inventory.step_size !== 0;
      throw refused(
        `${what} The requested amount would ${unit ? "violate inventory constraints" : "exceed the capacity"}.`,
      );
    }
    taken[name] = amount;
  }
  return taken;
}

function view({ providers }: PlacementState, row: Allocation, minor: number) {
  const views = Object.entries(row.resources).map(([id, resources]) => [
    id,
    { resources, generation: providers.get(id)?.generation ?? 0 },
  ]);
  return {
    allocations: Object.fromEntries(views) as Readonly<Record<string, unknown>>,
    ...(minor >= 12 ? { project_id: row.project_id, user_id: row.user_id } : {}),
    ...(minor >= 28 ? { consumer_generation: row.generation } : {}),
    ...(minor >= 38 ? { consumer_type: row.type } : {}),
  };
}

function sumOf(rows: readonly Allocation[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { resources } of rows) {
    for (const taken of Object.values(resources)) {
      for (const [name, amount] of Object.entries(taken)) sums[name] = (sums[name] ?? 0) + amount;
    }
  }
  return sums;
}

function byType(rows: readonly Allocation[]): Readonly<Record<string, unknown>> {
  const types = [...new Set(rows.map((row) => row.type))];
  const views = types.map((type) => {
    const mine = rows.filter((row) => row.type === type);
    return [type, { ...sumOf(mine), consumer_count: mine.length }] as const;
  });
  return Object.fromEntries(views);
}
