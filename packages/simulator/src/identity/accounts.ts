import type { Table } from "../kernel/interface.ts";
import { at, bodyOf, isObject, type JsonObject } from "../kernel/json.ts";
import { identityError, identityId, schemaError } from "./model.ts";
import { list } from "./lists.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityParts,
} from "./request.ts";
import type { JsonView } from "./views.ts";

/** A kind of account: projects, users, groups, roles, domains. */
export interface AccountKind<T extends { readonly id: string; readonly name: string }> {
  readonly one: string;
  readonly many: string;
  readonly table: Table<T>;
  view(object: T, base: string): JsonView;
  /** The object for a checked body. Throws Keystone's 400, 403 or 409. */
  make(id: string, given: JsonObject, c: IdentityContext): T;
  change(old: T, given: JsonObject): Partial<T>;
  /** The view that only the response to a change returns. */
  changedView?(object: T): JsonView;
  /** What GET of one object returns in addition to its view, by the query. */
  details?(c: IdentityContext, object: T): JsonView;
  /** Before it goes: throws where it may not, removes what hangs on it. */
  release?(object: T): void;
  /** What a list includes; undefined: all. */
  listed?(c: IdentityContext, object: T): boolean;
  /** What a caller who is no administrator may read. */
  mayRead?(c: IdentityContext, object: T | undefined): boolean;
}

/** The routes that all kinds of accounts have. */
export function addAccountRoutes<T extends { readonly id: string; readonly name: string }>(
  app: IdentityApp,
  { kernel }: IdentityParts,
  kind: AccountKind<T>,
): void {
  const { one, many, table } = kind;
  const found = (c: IdentityContext): T => {
    const id = c.req.param("id") ?? "";
    const object = table.get(id);
    if (!object) throw identityError(404, `Could not find ${one}: ${id}.`);
    return object;
  };
  const answer = (c: IdentityContext, object: T, status: 200 | 201 = 200) =>
    c.json({ [one]: kind.view(object, baseOf(c)) }, status);
  const given = async (c: IdentityContext): Promise<JsonObject> => {
    const body = at(await bodyOf(c.req), one);
    // Keystone takes a body without the resource for an empty one.
    if (!isObject(body)) return {};
    return body;
  };

  app.get(`/v3/${many}`, (c) => {
    requireAdmin(c, `list_${many}`);
    return list(
      c,
      many,
      table
        .all()
        .filter((object) => kind.listed?.(c, object) ?? true)
        .map((object) => kind.view(object, baseOf(c))),
    );
  });
  app.post(`/v3/${many}`, async (c) => {
    requireAdmin(c, `create_${one}`);
    const body = await given(c);
    if (body["name"] === undefined) throw schemaError("'name' is a required property");
    if (body["name"] === "") throw schemaError("Invalid input for field 'name': '' is too short");
    if (typeof body["name"] !== "string") throw schemaError("Invalid input for field 'name'");
    return answer(c, table.insert(kind.make(identityId(kernel), body, c)), 201);
  });
  app.get(`/v3/${many}/:id`, (c) => {
    const object = table.get(c.req.param("id"));
    callerOf(c);
    if (kind.mayRead?.(c, object) !== true) requireAdmin(c, `get_${one}`);
    const asked = found(c);
    return c.json({ [one]: { ...kind.view(asked, baseOf(c)), ...kind.details?.(c, asked) } });
  });
  app.patch(`/v3/${many}/:id`, async (c) => {
    requireAdmin(c, `update_${one}`);
    const old = found(c);
    const changed = table.update(old.id, kind.change(old, await given(c)));
    return c.json({ [one]: { ...kind.view(changed, baseOf(c)), ...kind.changedView?.(changed) } });
  });
  app.delete(`/v3/${many}/:id`, (c) => {
    requireAdmin(c, `delete_${one}`);
    const object = found(c);
    kernel.atomic(() => {
      kind.release?.(object);
      table.remove(object.id);
    });
    return c.body(null, 204);
  });
}
