import { pythonRepr } from "../../kernel/python.ts";
import { htmlPage } from "../../kernel/html-page.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import type { Schema } from "./schemas.ts";

/** Throws Glance's 400, in the words of Python's jsonschema, for the first thing that a schema does not allow. */
export function checkBySchema(value: unknown, schema: Schema): asserts value is JsonObject {
  const wrong = isObject(value) ? wrongInObject(value, schema) : `${pythonRepr(value)} is not of type 'object'`;
  if (wrong === undefined) return;
  const explanation = `Provided object does not match schema '${schema.name ?? ""}': ${wrong}`;
  throw htmlPage(400, { explanation });
}

function wrongInObject(value: JsonObject, schema: Schema): string | undefined {
  const missing = schema.required?.find((name) => value[name] === undefined);
  if (missing !== undefined) return `'${missing}' is a required property`;
  const rest = schema.additionalProperties;
  for (const [name, field] of Object.entries(value)) {
    const own = schema.properties?.[name];
    if (!own && rest === false) return `Additional properties are not allowed ('${name}' was unexpected)`;
    const wrong = wrongIn(field, own ?? (rest || {}));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function wrongIn(value: unknown, schema: Schema): string | undefined {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return `${pythonRepr(value)} is not of type ${types.map((type) => `'${type}'`).join(", ")}`;
  }
  if (schema.enum && !schema.enum.some((one) => one === value)) {
    return `${pythonRepr(value)} is not one of ${pythonRepr(schema.enum)}`;
  }
  if (typeof value === "string") return wrongInText(value, schema);
  if (typeof value === "number" && value < (schema.minimum ?? -Infinity)) {
    return `${value} is less than the minimum of ${schema.minimum ?? 0}`;
  }
  if (Array.isArray(value)) return wrongInList(value, schema);
  return isObject(value) ? wrongInObject(value, schema) : undefined;
}

function wrongInText(value: string, { maxLength, minLength, pattern }: Schema): string | undefined {
  if (value.length > (maxLength ?? Infinity)) return `${pythonRepr(value)} is too long`;
  if (value.length < (minLength ?? 0)) return `${pythonRepr(value)} is too short`;
  return pattern === undefined || new RegExp(pattern).test(value)
    ? undefined
    : `${pythonRepr(value)} does not match ${pythonRepr(pattern)}`;
}

function wrongInList(value: readonly unknown[], { items, uniqueItems }: Schema): string | undefined {
  for (const item of items ? value : []) {
    const wrong = wrongIn(item, items ?? {});
    if (wrong !== undefined) return wrong;
  }
  return uniqueItems && new Set(value).size < value.length ? `${pythonRepr(value)} has non-unique elements` : undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}
