import { isList, isObject, type Json } from "../../json/values.ts";
import { matchesFormat } from "../formats.ts";
import type { SchemaNode } from "../node.ts";
import { parseDuration } from "./environment.ts";
import type { CelEnvironment } from "./cel-environment.ts";

/**
 * A JSON value as CEL sees it through its schema: integers exact, times and durations as such, names escaped where CEL
 * reserves them.
 */
export function toCel(environment: CelEnvironment, node: SchemaNode | undefined, value: Json): unknown {
  if (typeof value === "number") {
    return node?.type === "number" || !Number.isInteger(value) ? value : BigInt(value);
  }
  if (typeof value === "string") return fromString(environment, node?.format, value);
  if (isList(value)) return value.map((item) => toCel(environment, node?.items, item));
  if (!isObject(value)) return value;
  // A member that a schema names and that is null is as good as absent.
  const isNamed = (node?.properties.size ?? 0) > 0;
  const present = isNamed ? Object.entries(value).filter(([, child]) => child !== null) : Object.entries(value);
  const entries = present.map(([name, child]): [string, unknown] => {
    const property = node?.properties.get(name);
    const schema = property ?? (node?.additional === true ? undefined : node?.additional);
    return [property === undefined ? name : escapeName(name), toCel(environment, schema, child)];
  });
  return Object.fromEntries(entries);
}

function fromString(environment: CelEnvironment, format: string | undefined, value: string): unknown {
  if (format === undefined || !matchesFormat(format, value)) return value;
  if (format === "date-time" || format === "date") return new Date(value);
  if (format === "duration") return parseDuration(environment, value);
  if (format === "byte") return new Uint8Array(Buffer.from(value, "base64"));
  return value;
}

const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The identifier by which a rule names a property (apiextensions, "Field path escaping"). */
export function escapeName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}
