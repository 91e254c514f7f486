import { isRecord } from "@causeway/foundation";

/**
 * What templates work on: JSON, and Go's integers as bigint. A number of JSON is a float64 in Go, which prints and
 * compares otherwise than an integer.
 */
export type Value = null | undefined | boolean | number | bigint | string | readonly Value[] | Fields;
/** A map with texts as keys. */
export interface Fields {
  readonly [name: string]: Value;
}

/** A map: neither nil nor a list. */
export function isFields(value: Value): value is Fields {
  return isRecord(value);
}

/** A list, also an empty one. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** An own field; undefined for others, whatever their name. */
export function fieldOf(value: Fields, name: string): Value {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Go's truth: empty values are false. */
export function isTrue(value: Value): boolean {
  if (value === null || value === undefined) return false;
  if (isList(value)) return value.length > 0;
  return isFields(value) ? Object.keys(value).length > 0 : Boolean(value);
}

/** What kind of value Go sees, for messages and `kindOf`. */
export function kindOf(value: Value): string {
  if (value === null || value === undefined) return "invalid";
  if (isList(value)) return "slice";
  if (isFields(value)) return "map";
  switch (typeof value) {
    case "bigint":
      return "int";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    default:
      return "string";
  }
}

/** As fmt.Print shows a value. */
export function show(value: Value): string {
  if (value === null || value === undefined) return "<no value>";
  if (isList(value)) return `[${value.map(inner).join(" ")}]`;
  if (isFields(value)) {
    const pairs = Object.keys(value).sort();
    return `map[${pairs.map((key) => `${key}:${inner(value[key])}`).join(" ")}]`;
  }
  return typeof value === "number" ? showFloat(value) : String(value);
}

function inner(value: Value): string {
  return value === null || value === undefined ? "<nil>" : show(value);
}

/** The shortest form of a float64, with an exponent as Go's %v writes it. */
export function showFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e21)) return String(value);
  const [digits, exponent = ""] = value.toExponential().split("e");
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** JSON, with integers as numbers. */
export function toJson(value: Value): unknown {
  if (typeof value === "bigint") return Number(value);
  if (isList(value)) return value.map(toJson);
  return isFields(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, toJson(value[key])]),
      )
    : (value ?? null);
}
