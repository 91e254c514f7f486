import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import { invalid } from "./create-request.ts";
import { computeError, requireAdmin, zones, type Aggregate, type ComputeApp, type ComputeParts } from "./model.ts";
import { pythonRepr } from "../kernel/python.ts";
import type { ComputeContext } from "./views.ts";

/** Groups of hosts. Zones of the seeded ones are what servers can be placed in; zones of others are only returned. */
export function addAggregateRoutes(app: ComputeApp, parts: ComputeParts): void {
  const { kernel, tables } = parts;
  const stamp = () => kernel.timestamp().replace(/Z$/, ".000000");
  if (tables.aggregates.all().length === 0) seed(parts, stamp());
  const aggregateOf = (c: ComputeContext) => {
    const id = c.req.param("id") ?? "";
    if (!/^-?\d+$/.test(id))
      throw computeError(400, `Invalid input for field/attribute id. Value: ${id}. '${id}' is not an integer`);
    const row = tables.aggregates.get(id);
    if (!row) throw computeError(404, `Aggregate ${id} could not be found.`);
    return row;
  };
  const answer = (c: ComputeContext, row: Aggregate) => c.json({ aggregate: view(row, c.get("minor")) });
  const touch = (row: Aggregate, change: Partial<Aggregate>) => tables.aggregates.update(row.id, change);

  app.get("/v2.1/os-aggregates", (c) => {
    requireAdmin(c.get("caller"), "os-aggregates:index");
    return c.json({ aggregates: tables.aggregates.all().map((row) => view(row, c.get("minor"))) });
  });
  app.get("/v2.1/os-aggregates/:id", (c) => {
    requireAdmin(c.get("caller"), "os-aggregates:show");
    return answer(c, aggregateOf(c));
  });
  app.post("/v2.1/os-aggregates", async (c) => {
    const given = at(await bodyOf(c.req), "aggregate");
    requireAdmin(c.get("caller"), "os-aggregates:create");
    const name = nameOf(given);
    const zone = textAt(given, "availability_zone");
    if (tables.aggregates.by("name", name).length > 0) throw computeError(409, `Aggregate ${name} already exists.`);
    const number = tables.aggregates.all().reduce((top, row) => Math.max(top, Number(row.id)), 0) + 1;
    const metadata = zone === undefined ? {} : { availability_zone: zone };
    const fresh = { id: String(number), uuid: kernel.newId(), name, hosts: [], metadata };
    return answerMade(c, tables.aggregates.insert({ ...fresh, created_at: stamp(), updated_at: null }));
  });
  app.put("/v2.1/os-aggregates/:id", async (c) => {
    const given = at(await bodyOf(c.req), "aggregate");
    requireAdmin(c.get("caller"), "os-aggregates:update");
    const row = aggregateOf(c);
    const zone = textAt(given, "availability_zone");
    const name = at(given, "name") === undefined ? row.name : nameOf(given);
    if (name !== row.name && tables.aggregates.by("name", name).length > 0) {
      throw computeError(409, `Aggregate ${name} already exists.`);
    }
    const metadata = zone === undefined ? row.metadata : { ...row.metadata, availability_zone: zone };
    return answer(c, touch(row, { name, metadata, updated_at: stamp() }));
  });
  app.delete("/v2.1/os-aggregates/:id", (c) => {
    requireAdmin(c.get("caller"), "os-aggregates:delete");
    const row = aggregateOf(c);
    if (row.hosts.length > 0) {
      throw computeError(400, `Cannot remove host from aggregate ${row.id}. Reason: Host aggregate is not empty.`);
    }
    tables.aggregates.remove(row.id);
    return c.body(null, 200);
  });
  app.post("/v2.1/os-aggregates/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const name = isObject(body) ? Object.keys(body)[0] : undefined;
    const argument = at(body, name ?? "");
    if (name === "add_host" || name === "remove_host") {
      requireAdmin(c.get("caller"), `os-aggregates:${name}`);
      return answer(
        c,
        touch(aggregateOf(c), { hosts: hostsAfter(aggregateOf(c), { name, host: textAt(argument, "host") ?? "" }) }),
      );
    }
    if (name !== "set_metadata") throw computeError(400, `There is no such action: ${name}`);
    requireAdmin(c.get("caller"), `os-aggregates:${name}`);
    const row = aggregateOf(c);
    const changed = touch(row, { metadata: metadataAfter(row, at(argument, "metadata")) });
    // The response shows a change that the database keeps with the metadata.
    return answer(c, { ...changed, updated_at: stamp() });
  });
  app.post("/v2.1/os-aggregates/:id/images", (c) => {
    requireAdmin(c.get("caller"), "os-aggregates:images");
    aggregateOf(c);
    return c.body(null, 202);
  });
}

function seed({ kernel, tables }: ComputeParts, now: string): void {
  for (const [place, [zone, host]] of Object.entries(zones).entries()) {
    tables.aggregates.insert({
      id: String(place + 1),
      uuid: kernel.newId(),
      name: zone,
      hosts: [host],
      metadata: { availability_zone: zone },
      created_at: now,
      updated_at: null,
    });
  }
}

function view({ uuid, ...row }: Aggregate, minor: number) {
  return {
    ...row,
    id: Number(row.id),
    ...(minor >= 41 ? { uuid } : {}),
    deleted_at: null,
    deleted: false,
    availability_zone: row.metadata["availability_zone"] ?? null,
  };
}

/** A new aggregate does not tell its hosts and metadata. */
function answerMade(c: ComputeContext, row: Aggregate): Response {
  const { hosts: _h, metadata: _m, ...visible } = view(row, c.get("minor"));
  return c.json({ aggregate: visible });
}

function nameOf(given: unknown): string {
  const name = at(given, "name");
  if (name === undefined) throw invalid("aggregate", given, "'name' is a required property");
  if (typeof name !== "string") throw invalid("name", name, `${pythonRepr(name)} is not of type 'string'`);
  if (name.trim() === "" || name.length > 255)
    throw invalid("name", name, `${pythonRepr(name)} is too ${name === "" ? "short" : "long"}`);
  return name;
}

function hostsAfter(
  row: Aggregate,
  { name, host }: { name: "add_host" | "remove_host"; host: string },
): readonly string[] {
  if (!Object.values(zones).includes(host)) throw computeError(404, `Compute host ${host} could not be found.`);
  if (name === "add_host") {
    if (row.hosts.includes(host)) throw computeError(409, `Aggregate ${row.id} already has host ${host}.`);
    return [...row.hosts, host];
  }
  if (!row.hosts.includes(host)) throw computeError(404, `Cannot remove host ${host} in aggregate ${row.id}`);
  return row.hosts.filter((other) => other !== host);
}

/** A key with null goes away. */
function metadataAfter(row: Aggregate, given: unknown): Readonly<Record<string, string>> {
  if (!isObject(given)) throw invalid("set_metadata", given, "'metadata' is a required property");
  const all = Object.entries({ ...row.metadata, ...given });
  return Object.fromEntries(all.flatMap(([key, value]) => (value === null ? [] : [[key, String(value as string)]])));
}
