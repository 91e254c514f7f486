import type { Identified, Table } from "../kernel/interface.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../kernel/json.ts";
import { list } from "./lists.ts";
import { identityError, identityId, schemaError } from "./model.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityParts,
} from "./request.ts";
import type { JsonView } from "./views.ts";

/** Something that Keystone keeps as it is given: services, endpoints, regions, policies, consumers, credentials. */
export interface PlainObject extends Identified {
  readonly fields: JsonObject;
}

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
  /** Anybody with a token may read it. */
  readonly open?: boolean;
  /** Its id is the caller's to choose, by PUT; there is no POST. */
  readonly chosen?: true;
  /** What is said of an id that is taken. */
  readonly duplicate?: string;
  /** The id that a caller may choose. */
  idOf?(given: JsonObject): string | undefined;
}

export const plainTable = (parts: Pick<IdentityParts, "kernel">, one: string): Table<PlainObject> =>
  parts.kernel.table(`_${one}`);

/** List, show, create, change and delete of a kind, for administrators. */
export function addPlainRoutes(app: IdentityApp, parts: IdentityParts, kind: PlainKind): void {
  const { path, one, many } = kind;
  const table = plainTable(parts, one);
  const viewOf = (c: IdentityContext, { id, fields }: PlainObject): JsonView => {
    const shown = Object.entries(fields).filter(([key]) => kind.once?.includes(key) !== true);
    return { ...Object.fromEntries(shown), id, links: { self: `${baseOf(c)}/${path}/${id}` } };
  };
  const may = (c: IdentityContext, rule: string) => (kind.open === true ? callerOf(c) : requireAdmin(c, rule));
  const kept = (c: IdentityContext): PlainObject => {
    const object = table.get(c.req.param("id") ?? "");
    if (!object) throw identityError(404, `Could not find ${one}: ${c.req.param("id") ?? ""}.`);
    return object;
  };
  const given = async (c: IdentityContext): Promise<JsonObject> => {
    const body = at(await bodyOf(c.req), one);
    if (!isObject(body)) throw schemaError(`'${one}' is a required property`);
    return body;
  };
  app.get(`/v3/${path}`, (c) => {
    may(c, `list_${many}`);
    return list(c, many, [...(kind.seeded?.(c) ?? []), ...table.all().map((object) => viewOf(c, object))]);
  });
  const create = async (c: IdentityContext) => {
    requireAdmin(c, `create_${one}`);
    const body = await given(c);
    const id = c.req.param("id") ?? kind.idOf?.(body) ?? identityId(parts.kernel);
    if (table.get(id)) {
      const why = kind.duplicate ?? `Conflict occurred attempting to store ${one} - Duplicate ID, ${id}..`;
      throw identityError(409, why);
    }
    const object = table.insert({ id, fields: kind.make(body, id) });
    return c.json({ [one]: { ...viewOf(c, object), ...object.fields, id } }, 201);
  };
  if (kind.chosen !== true) app.post(`/v3/${path}`, create);
  if (kind.idOf || kind.chosen) app.put(`/v3/${path}/:id`, create);
  app.get(`/v3/${path}/:id`, (c) => {
    may(c, `get_${one}`);
    const seeded = kind.seeded?.(c).find((view) => view["id"] === c.req.param("id"));
    return c.json({ [one]: seeded ?? viewOf(c, kept(c)) });
  });
  app.patch(`/v3/${path}/:id`, async (c) => {
    requireAdmin(c, `update_${one}`);
    const old = kept(c);
    const body = await given(c);
    const fields = { ...old.fields, ...body, ...kind.check?.(body, old) };
    return c.json({ [one]: viewOf(c, table.update(old.id, { fields })) });
  });
  app.delete(`/v3/${path}/:id`, (c) => {
    requireAdmin(c, `delete_${one}`);
    const { id } = kept(c);
    kind.release?.(id);
    table.remove(id);
    return c.body(null, 204);
  });
}

/** A text of the body that must be there. */
export function required(given: JsonObject, field: string): string {
  const value = textAt(given, field);
  if (value === undefined) throw schemaError(`'${field}' is a required property`);
  return value;
}
