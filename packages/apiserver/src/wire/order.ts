import { isRecord } from "../json/json.ts";
import { structOf, type Field, type Tables } from "./tables.ts";

/**
 * A built-in object with its members in the order in which kube-apiserver writes them: fields as their struct has them,
 * keys of maps by name. A response to a patch has that order. The given object is not changed.
 */
export function inWireOrder(tables: Tables, object: { apiVersion?: unknown; kind?: unknown }): Record<string, unknown> {
  const { apiVersion, kind, ...rest } = object as Record<string, unknown>;
  const struct = structOf(String(apiVersion as string), String(kind as string));
  const inner = struct === undefined ? rest : (orderedStruct(tables, struct, rest) as Record<string, unknown>);
  return { kind, apiVersion, ...inner };
}

function orderedStruct(tables: Tables, struct: string, value: unknown): unknown {
  const fields = tables.byName(struct);
  if (!fields || !isRecord(value)) return value;
  const known = [...fields.values()].filter(({ name }) => value[name] !== undefined);
  const entries = known.map((field): [string, unknown] => [field.name, orderedField(tables, field, value[field.name])]);
  return Object.fromEntries([...entries, ...Object.entries(value).filter(([name]) => !fields.has(name))]);
}

function orderedField(tables: Tables, { shape, type }: Field, value: unknown): unknown {
  const one = (item: unknown): unknown => (type.includes(".") ? orderedStruct(tables, type, item) : item);
  if (shape === "list") return Array.isArray(value) ? value.map(one) : value;
  if (shape === "one" || !isRecord(value)) return one(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, one(item)]));
}
