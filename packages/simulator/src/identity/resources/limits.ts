import type { Table } from "../../kernel/interface.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { list } from "../listing.ts";
import { identityError, identityId, schemaError } from "../model.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityEnv,
  type IdentityParts,
} from "../kit/request.ts";

/** What a service counts, and how much of it a project has unless it has a limit of its own. */
interface RegisteredLimit {
  readonly id: string;
  readonly service_id: string;
  readonly region_id: string | null;
  readonly resource_name: string;
  readonly default_limit: number;
  readonly description: string | null;
}

interface Limit {
  readonly id: string;
  readonly service_id: string;
  readonly region_id: string | null;
  readonly resource_name: string;
  readonly resource_limit: number;
  readonly project_id: string | null;
  readonly domain_id: string | null;
  readonly description: string | null;
}

type Counted = Pick<Limit, "service_id" | "region_id" | "resource_name">;

const sameThing = (a: Counted, b: Counted): boolean =>
  a.service_id === b.service_id && a.region_id === b.region_id && a.resource_name === b.resource_name;

/**
 * Unified limits: https://docs.openstack.org/api-ref/identity/v3/#unified-limits . Stored and returned; no service here
 * reads them.
 */
export function mountLimits(app: IdentityApp, { kernel }: IdentityParts): void {
  const registered: Table<RegisteredLimit> = kernel.table("_registered_limit");
  const limits: Table<Limit> = kernel.table("_limit");
  const view = (c: IdentityContext, path: string, row: RegisteredLimit | Limit) => ({
    ...row,
    links: { self: `${baseOf(c)}/${path}/${row.id}` },
  });
  const found = <T extends { readonly id: string }>(c: IdentityContext, table: Table<T>, what: string): T => {
    const id = c.req.param("id") ?? "";
    const row = table.get(id);
    if (!row) throw identityError(404, `Could not find ${what} for ${id}.`);
    return row;
  };
  const duplicate = (what: string) =>
    identityError(409, `Conflict occurred attempting to store ${what} - Duplicate entry.`);

  app.get("/v3/limits/model", (c) => {
    callerOf(c);
    const description = "Limit enforcement and validation does not take project hierarchy into consideration.";
    return c.json({ model: { name: "flat", description } });
  });
  const refuseUsed = (row: RegisteredLimit): void => {
    if (!limits.all().some((limit) => sameThing(limit, row))) return;
    const why = "because there are project limits associated with it.";
    throw identityError(403, `Unable to update or delete registered limit ${row.id} ${why}`);
  };
  mountResource<IdentityEnv, RegisteredLimit>(app, kernel, {
    path: "/v3/registered_limits",
    one: "registered_limit",
    many: "registered_limits",
    updates: "patch",
    permit(c, verb) {
      if (verb === "update" || verb === "delete") requireAdmin(c, `${verb}_registered_limit`);
      else callerOf(c);
    },
    find: (c) => found(c, registered, "registered limit"),
    list: () => ({ rows: registered.all() }),
    respondList: (c, views) => list(c, "registered_limits", views),
    view: (c, row) => view(c, "registered_limits", row),
    bodyMissing: () => schemaError("'registered_limit' is a required property"),
    update(_c, row, given) {
      refuseUsed(row);
      const [service_id, resource_name] = [textAt(given, "service_id"), textAt(given, "resource_name")];
      return registered.update(row.id, {
        ...(service_id === undefined ? {} : { service_id }),
        ...(resource_name === undefined ? {} : { resource_name }),
        ...(given["region_id"] === undefined ? {} : { region_id: textAt(given, "region_id") ?? null }),
        ...(given["default_limit"] === undefined ? {} : { default_limit: amount(given, "default_limit") }),
        ...(given["description"] === undefined ? {} : { description: textAt(given, "description") ?? null }),
      });
    },
    remove(_c, row) {
      refuseUsed(row);
      registered.remove(row.id);
    },
  });
  app.post("/v3/registered_limits", async (c) => {
    requireAdmin(c, "create_registered_limits");
    const asked = await many(c, "registered_limits");
    const made = kernel.atomic(() =>
      asked.map((given) => {
        const row = { id: identityId(kernel), ...counted(given), default_limit: amount(given, "default_limit") };
        if (registered.all().some((other) => sameThing(other, row))) throw duplicate("registered_limit");
        return registered.insert({ ...row, description: textAt(given, "description") ?? null });
      }),
    );
    return c.json({ registered_limits: made.map((row) => view(c, "registered_limits", row)) }, 201);
  });
  mountResource<IdentityEnv, Limit>(app, kernel, {
    path: "/v3/limits",
    one: "limit",
    many: "limits",
    updates: "patch",
    permit(c, verb) {
      if (verb === "update" || verb === "delete") requireAdmin(c, `${verb}_limit`);
      else callerOf(c);
    },
    find(c, verb) {
      const row = found(c, limits, "limit");
      if (verb === "show" && row.project_id !== callerOf(c).projectId) requireAdmin(c, "get_limit");
      return row;
    },
    // A token of a project sees that project's limits, also an administrator's.
    list: (c) => ({ rows: limits.all().filter(({ project_id }) => project_id === callerOf(c).projectId) }),
    respondList: (c, views) => list(c, "limits", views),
    view: (c, row) => view(c, "limits", row),
    bodyMissing: () => schemaError("'limit' is a required property"),
    update: (_c, { id }, given) =>
      limits.update(id, {
        ...(given["resource_limit"] === undefined ? {} : { resource_limit: amount(given, "resource_limit") }),
        ...(given["description"] === undefined ? {} : { description: textAt(given, "description") ?? null }),
      }),
    remove: (_c, { id }) => limits.remove(id),
  });
  app.post("/v3/limits", async (c) => {
    requireAdmin(c, "create_limits");
    const asked = await many(c, "limits");
    const made = kernel.atomic(() =>
      asked.map((given) => {
        const thing = counted(given);
        if (!registered.all().some((row) => sameThing(row, thing))) {
          throw identityError(403, "Unable to create a limit that has no corresponding registered limit.");
        }
        const [project_id, domain_id] = [textAt(given, "project_id") ?? null, textAt(given, "domain_id") ?? null];
        const taken = limits.all().some((row) => sameThing(row, thing) && row.project_id === project_id);
        if (taken) throw duplicate("limit");
        const resource_limit = amount(given, "resource_limit");
        const description = textAt(given, "description") ?? null;
        return limits.insert({
          id: identityId(kernel),
          ...thing,
          project_id,
          domain_id,
          resource_limit,
          description,
        });
      }),
    );
    return c.json({ limits: made.map((row) => view(c, "limits", row)) }, 201);
  });
}

/** Limits are made many at a time. */
async function many(c: IdentityContext, field: string): Promise<readonly JsonObject[]> {
  const given = at(await bodyOf(c.req), field);
  if (!Array.isArray(given)) throw schemaError(`'${field}' is a required property`);
  return given.filter(isObject);
}

function counted(given: JsonObject): Counted {
  const missing = ["service_id", "resource_name"].find((field) => textAt(given, field) === undefined);
  if (missing !== undefined) throw schemaError(`'${missing}' is a required property`);
  return {
    service_id: textAt(given, "service_id") ?? "",
    region_id: textAt(given, "region_id") ?? null,
    resource_name: textAt(given, "resource_name") ?? "",
  };
}

function amount(given: JsonObject, field: string): number {
  const value = given[field];
  if (typeof value === "number" && Number.isInteger(value) && value >= -1) return value;
  throw schemaError(`Invalid input for field '${field}': ${String(value)} is not of type 'integer'`);
}
