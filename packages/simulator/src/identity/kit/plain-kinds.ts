import type { Identified, Table } from "../../kernel/interface.ts";
import { textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { list } from "../listing.ts";
import { identityError, identityId, schemaError } from "../model.ts";
import { baseOf, callerOf, requireAdmin } from "./request.ts";
import type { IdentityApp, IdentityContext, IdentityEnv, IdentityParts } from "./request.ts";
import type { JsonView } from "../views.ts";

/** Something that Keystone keeps as it is given: services, endpoints, regions, policies, consumers, credentials. */
export interface PlainObject extends Identified {
  readonly fields: JsonObject;
}

/** One kind of resource that `mountPlainKind` serves; `one` and `many` are the names in bodies. */
export interface PlainKind {
  /** "services", "OS-OAUTH1/consumers" */
  readonly path: string;
  readonly one: string;
  readonly many: string;
  /** Seeded objects that exist in addition to the stored ones. */
  seeded?(c: IdentityContext): readonly JsonView[];
  /** Checked fields of a new one. Throws Keystone's 400 or 409. */
  make(given: JsonObject, id: string): JsonObject;
  /** Checks a change, and returns the further fields that it sets. */
  check?(given: JsonObject, old: PlainObject): JsonObject;
  /** Before it goes. */
  release?(id: string): void;
  /** Fields that only the response to the create returns. */
  readonly once?: readonly string[];
  /** Every user with a token may read it. */
  readonly open?: boolean;
  /** Its id is the caller's to choose, by PUT; there is no POST. */
  readonly chosen?: true;
  /** What is said of an id that is in use. */
  readonly duplicate?: string;
  /** The id that a caller may choose. */
  idOf?(given: JsonObject): string | undefined;
}

/** The table of a plain kind, by its singular: "_service". */
export const plainTable = (parts: Pick<IdentityParts, "kernel">, one: string): Table<PlainObject> =>
  parts.kernel.table(`_${one}`);

/** List, show, create, update and delete of a kind, for administrators. */
export function mountPlainKind(app: IdentityApp, parts: IdentityParts, kind: PlainKind): void {
  const { path, one, many } = kind;
  const table = plainTable(parts, one);
  mountResource<IdentityEnv, PlainObject>(app, parts.kernel, {
    path: `/v3/${path}`,
    one,
    many,
    createdBy: kind.chosen ? ["put"] : kind.idOf ? ["post", "put"] : ["post"],
    updates: "patch",
    bodyMissing: () => schemaError(`'${one}' is a required property`),
    permit(c, verb) {
      if (kind.open === true && (verb === "list" || verb === "show")) callerOf(c);
      else requireAdmin(c, `${verb === "show" ? "get" : verb}_${verb === "list" ? many : one}`);
    },
    find(c, verb) {
      const id = c.req.param("id") ?? "";
      const seeded = verb === "show" ? kind.seeded?.(c).find((view) => view["id"] === id) : undefined;
      const object = seeded ? { id, fields: seeded } : table.get(id);
      if (!object) throw identityError(404, `Could not find ${one}: ${id}.`);
      return object;
    },
    list: () => ({ rows: table.all() }),
    respondList: (c, views) => list(c, many, [...(kind.seeded?.(c) ?? []), ...views]),
    view(c, { id, fields }, verb) {
      const shown = Object.entries(fields).filter(([key]) => verb === "create" || kind.once?.includes(key) !== true);
      return { links: { self: `${baseOf(c)}/${path}/${id}` }, ...Object.fromEntries(shown), id };
    },
    create(c, given) {
      const id = c.req.param("id") ?? kind.idOf?.(given) ?? identityId(parts.kernel);
      if (table.get(id)) {
        const why = kind.duplicate ?? `Conflict occurred attempting to store ${one} - Duplicate ID, ${id}..`;
        throw identityError(409, why);
      }
      return table.insert({ id, fields: kind.make(given, id) });
    },
    update: (_c, old, given) =>
      table.update(old.id, { fields: { ...old.fields, ...given, ...kind.check?.(given, old) } }),
    remove(_c, { id }) {
      kind.release?.(id);
      table.remove(id);
    },
  });
}

/** A text of the body that must be there. */
export function required(given: JsonObject, field: string): string {
  const value = textAt(given, field);
  if (value === undefined) throw schemaError(`'${field}' is a required property`);
  return value;
}
