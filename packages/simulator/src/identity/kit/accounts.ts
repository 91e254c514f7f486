import type { Table } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { identityError, identityId, schemaError } from "../model.ts";
import { list } from "../listing.ts";
import { baseOf, callerOf, requireAdmin } from "./request.ts";
import type { IdentityApp, IdentityContext, IdentityEnv, IdentityParts } from "./request.ts";
import type { JsonView } from "../views.ts";

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
export function mountAccountKind<T extends { readonly id: string; readonly name: string }>(
  app: IdentityApp,
  { kernel }: IdentityParts,
  kind: AccountKind<T>,
): void {
  const { one, many, table } = kind;
  mountResource<IdentityEnv, T>(app, kernel, {
    path: `/v3/${many}`,
    one,
    many,
    updates: "patch",
    permit(c, verb) {
      if (verb === "show") {
        callerOf(c);
        if (kind.mayRead?.(c, table.get(c.req.param("id") ?? "")) === true) return;
        requireAdmin(c, `get_${one}`);
      } else requireAdmin(c, `${verb}_${verb === "list" ? many : one}`);
    },
    find(c) {
      const id = c.req.param("id") ?? "";
      const object = table.get(id);
      if (!object) throw identityError(404, `Could not find ${one}: ${id}.`);
      return object;
    },
    list: (c) => ({ rows: table.all().filter((object) => kind.listed?.(c, object) ?? true) }),
    respondList: (c, views) => list(c, many, views),
    view: (c, object, verb) => ({
      ...kind.view(object, baseOf(c)),
      ...(verb === "show" ? kind.details?.(c, object) : {}),
      ...(verb === "update" ? kind.changedView?.(object) : {}),
    }),
    // Keystone takes a body without the resource for an empty one.
    create(c, given) {
      if (given["name"] === undefined) throw schemaError("'name' is a required property");
      if (given["name"] === "") throw schemaError("Invalid input for field 'name': '' is too short");
      if (typeof given["name"] !== "string") throw schemaError("Invalid input for field 'name'");
      return table.insert(kind.make(identityId(kernel), given, c));
    },
    update: (_c, old, given) => table.update(old.id, kind.change(old, given)),
    remove(_c, object) {
      kind.release?.(object);
      table.remove(object.id);
    },
  });
}
