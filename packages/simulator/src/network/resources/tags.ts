import type { Table } from "../../kernel/interface.ts";
import { isObject } from "../../kernel/json.ts";
import { shown } from "../kit/attributes.ts";
import {
  owned,
  pathOf,
  readBody,
  seen,
  type Collection,
  type NetworkApp,
  type NetworkRequest,
  type Row,
} from "../kit/collection.ts";
import { invalidInput, neutronError } from "../errors.ts";
import { touched, type NetworkState } from "../model.ts";

interface Tagged extends Row {
  readonly tags: readonly string[];
}

/** What tags need of a collection. */
export type TaggedCollection<T extends Tagged> = Pick<
  Collection<T, Record<never, never>>,
  "singular" | "plural" | "path" | "sees" | "owns"
> & { readonly table: Table<T> };

/** Routes /…/ID/tags and /…/ID/tags/TAG (Neutron's "standard-attr-tag"). */
export function mountTags<T extends Tagged>(
  app: NetworkApp,
  state: NetworkState,
  collection: TaggedCollection<T>,
): void {
  const notFound = (id: string) =>
    neutronError(404, "TagResourceNotFound", `Resource ${collection.plural} ${id} could not be found.`);
  // Only what seeing and owning need is used of it.
  const found = { ...collection, notFound } as unknown as Collection<T, Record<never, never>>;
  const path = `${pathOf(collection)}/:id/tags`;
  const set = (row: T, tags: readonly string[]) => {
    const change: Partial<Tagged> = { tags: [...new Set(tags)].sort(), ...touched(state.kernel, row) };
    state.kernel.atomic(() => collection.table.update(row.id, change as Partial<T>));
  };
  app.get(path, (c) => c.json({ tags: seen(found, c.var.caller, idOf(c)).tags }));
  app.put(path, async (c) => {
    const { tags } = await readBody(c);
    const asked = checkTags(tags);
    set(owned(found, c.var.caller, { id: idOf(c) }), asked);
    return c.json({ tags: asked });
  });
  app.delete(path, (c) => {
    set(owned(found, c.var.caller, { id: idOf(c) }), []);
    return c.body(null, 204);
  });
  app.get(`${path}/:tag`, (c) => {
    checkHas(seen(found, c.var.caller, idOf(c)), c.req.param("tag") ?? "");
    return c.body(null, 204);
  });
  app.put(`${path}/:tag`, (c) => {
    const tag = checkTag(c.req.param("tag") ?? "");
    const row = owned(found, c.var.caller, { id: idOf(c) });
    if (!row.tags.includes(tag)) set(row, [...row.tags, tag]);
    return c.json(null, 201);
  });
  app.delete(`${path}/:tag`, (c) => {
    const tag = c.req.param("tag") ?? "";
    const row = owned(found, c.var.caller, { id: idOf(c) });
    checkHas(row, tag);
    set(
      row,
      row.tags.filter((t) => t !== tag),
    );
    return c.body(null, 204);
  });
}

const idOf = (c: NetworkRequest): string => c.req.param("id") ?? "";

function checkHas(row: Tagged, tag: string): void {
  if (!row.tags.includes(tag)) throw neutronError(404, "TagNotFound", `Tag ${tag} could not be found.`);
}

function checkTags(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(checkTag);
  throw invalidInput(isObject(value) || value !== undefined ? `'${shown(value)}' is not a list.` : "Invalid tags body");
}

function checkTag(value: unknown): string {
  if (typeof value !== "string") throw invalidInput(`'${shown(value)}' is not a valid string.`);
  if (value.length > 255) throw invalidInput(`'${value}' exceeds maximum length of 255.`);
  return value;
}
