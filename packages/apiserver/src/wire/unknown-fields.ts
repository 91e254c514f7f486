import { extended, MAXIMUM_STRICT_ERRORS } from "../bounds.ts";
import { isRecord } from "../json/json.ts";
import { structOf, type Tables } from "./tables.ts";

/**
 * Paths of fields of a built-in object that its kind does not have, no more than messages show; none for kinds without
 * a table.
 */
export function unknownBuiltInFields(tables: Tables, object: { apiVersion?: unknown; kind?: unknown }): string[] {
  const struct = structOf(String(object.apiVersion as string), String(object.kind as string));
  const found: string[] = [];
  if (struct !== undefined && tables.flat(struct)) {
    const { apiVersion: _version, kind: _kind, ...rest } = object as Record<string, unknown>;
    walk(tables, struct, { value: rest, path: "", found });
  }
  return found;
}

/** The same of the metadata of any object. */
export function unknownMetadata(tables: Tables, metadata: unknown): string[] {
  const found: string[] = [];
  walk(tables, "meta.ObjectMeta", { value: metadata, path: "metadata", found });
  return found;
}

function walk(tables: Tables, struct: string, at: { value: unknown; path: string; found: string[] }): void {
  const known = tables.byName(struct);
  if (!tables.flat(struct) || !isRecord(at.value)) return;
  for (const [name, value] of Object.entries(at.value)) {
    const path = extended(at.path, at.path === "" ? name : `.${name}`);
    const field = known?.get(name);
    if (!field) {
      if (at.found.length < MAXIMUM_STRICT_ERRORS) at.found.push(path);
      continue;
    }
    if (field.shape === "list" && Array.isArray(value)) {
      value.forEach((item, i) =>
        walk(tables, field.type, { value: item, path: extended(path, `[${i}]`), found: at.found }),
      );
    } else if (field.shape === "map" && isRecord(value)) {
      for (const [key, item] of Object.entries(value)) {
        walk(tables, field.type, { value: item, path: extended(path, `.${key}`), found: at.found });
      }
    } else walk(tables, field.type, { value, path, found: at.found });
  }
}
