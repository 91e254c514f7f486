import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { invalid } from "../rules/create-request.ts";
import {
  computeError,
  requireAdmin,
  zones,
  type Aggregate,
  type ComputeApp,
  type ComputeEnv,
  type ComputeParts,
} from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import type { ComputeContext } from "../views.ts";

/** Groups of hosts. Zones of the seeded ones are what servers can be placed in; zones of others are only returned. */
export function mountAggregates(app: ComputeApp, parts: ComputeParts): void {
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
  const touch = (row: Aggregate, change: Partial<Aggregate>) => tables.aggregates.update(row.id, change);
  const answer = (c: ComputeContext, row: Aggregate) => c.json({ aggregate: view(row, c.get("minor")) });
  const refuseTaken = (name: string) => {
    if (tables.aggregates.by("name", name).length > 0) throw computeError(409, `Aggregate ${name} already exists.`);
  };
  mountResource<ComputeEnv, Aggregate>(app, kernel, {
    path: "/v2.1/os-aggregates",
    one: "aggregate",
    many: "aggregates",
    statuses: { create: 200, delete: 200 },
    permit: (c, verb) => requireAdmin(c.get("caller"), `os-aggregates:${verb === "list" ? "index" : verb}`),
    find: aggregateOf,
    list: () => ({ rows: tables.aggregates.all() }),
    view: (c, row, verb) => (verb === "create" ? newView : view)(row, c.get("minor")),
    // A create and an update complain about bodies in different words.
    givenOf(body, verb) {
      const given = at(body, "aggregate");
      if (verb === "create") nameOf(given);
      return given;
    },
    create(_c, given) {
      const name = nameOf(given);
      const zone = textAt(given, "availability_zone");
      refuseTaken(name);
      const number = tables.aggregates.all().reduce((top, row) => Math.max(top, Number(row.id)), 0) + 1;
      const metadata = zone === undefined ? {} : { availability_zone: zone };
      const fresh = { id: String(number), uuid: kernel.newId(), name, hosts: [], metadata };
      return tables.aggregates.insert({ ...fresh, created_at: stamp(), updated_at: null });
    },
    update(_c, row, given) {
      const zone = textAt(given, "availability_zone");
      const name = given["name"] === undefined ? row.name : nameOf(given);
      if (name !== row.name) refuseTaken(name);
      const metadata = zone === undefined ? row.metadata : { ...row.metadata, availability_zone: zone };
      return touch(row, { name, metadata, updated_at: stamp() });
    },
    remove(_c, row) {
      if (row.hosts.length > 0) {
        throw computeError(400, `Cannot remove host from aggregate ${row.id}. Reason: Host aggregate is not empty.`);
      }
      tables.aggregates.remove(row.id);
    },
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

/** The response to a create lacks hosts and metadata. */
function newView(row: Aggregate, minor: number): JsonObject {
  const { hosts: _h, metadata: _m, ...visible } = view(row, minor);
  return visible;
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
