import { array, isRecord, record, type Json } from "../json/json.ts";
import type { Field, Tables } from "./tables.ts";

const ZEROS: Readonly<Record<string, unknown>> = { string: "", bool: false, Quantity: "0", Time: null };

/**
 * A struct as kube-apiserver shows it where it shows its own form of an object instead of the wire's: every field, by
 * its Go name, in the order of the struct. Structs of the meta group have the form of the wire.
 */
export function internalForm(tables: Tables, struct: string, value: unknown): unknown {
  const fields = struct.startsWith("meta.") ? undefined : tables.flat(struct);
  if (!fields) return value ?? null;
  const given = record(value);
  const shown = fields.map((field): Json => {
    // Metadata is in the struct itself.
    if (field.type === "meta.ObjectMeta") return record(given[field.name]);
    return { [goName(field.name)]: fieldForm(tables, field, given[field.name] ?? undefined) };
  });
  return Object.assign({}, ...shown) as Json;
}

function fieldForm(tables: Tables, field: Field, value: unknown): unknown {
  const { type, shape, pointer } = field;
  if (shape === "list") return value === undefined ? null : array(value).map((v) => internalForm(tables, type, v));
  if (shape === "map") return isRecord(value) ? sorted(value) : null;
  if (value === undefined && pointer) return null;
  if (tables.fields(type)) return internalForm(tables, type, value);
  return value ?? (type in ZEROS ? ZEROS[type] : 0);
}

function sorted(map: Json): Json {
  return Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function goName(name: string): string {
  const initials = /^(api|url|uid)(?=[A-Z]|$)/.exec(name)?.[0] ?? name.slice(0, 1);
  return `${initials.toUpperCase()}${name.slice(initials.length)}`;
}
