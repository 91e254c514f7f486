import { isList, isObject, type Json } from "./values.ts";

/** A value as Go prints it (%v). */
export function goText(value: Json): string {
  if (value === null) return "<nil>";
  if (isList(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([name, child]) => `${name}:${goText(child)}`).join(" ")}]`;
}

/** The type that Go's decoder gives a value. */
export function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (isList(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return Number.isInteger(value) ? "int64" : "float64";
}
