import type { JsonSchema } from "./crd.ts";

/** Walks of a structural schema over a value, for the tests of kinds: what the API server does on admission. */

/** Paths of fields the schema does not know, which strict field validation refuses. */
export function unknownFields(schema: JsonSchema, value: unknown, path = ""): string[] {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return [];
  if (Array.isArray(value)) {
    const items = schema["items"] as JsonSchema;
    return value.flatMap((item, index) => unknownFields(items, item, `${path}[${index}]`));
  }
  if (typeof value !== "object" || value === null) return [];
  const properties = schema["properties"] as Record<string, JsonSchema> | undefined;
  const rest = schema["additionalProperties"] as JsonSchema | undefined;
  if (properties === undefined && rest === undefined) return path.endsWith(".metadata") ? [] : [path];
  return Object.entries(value).flatMap(([name, child]) => {
    const known = properties?.[name] ?? rest;
    return known ? unknownFields(known, child, `${path}.${name}`) : [`${path}.${name}`];
  });
}

/** The value with the schema's defaults filled in, as the API server stores it. */
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withDefaults(schema["items"] as JsonSchema, item));
  if (typeof value !== "object" || value === null) return value;
  const out: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)) {
    if (out[name] === undefined && "default" in child) out[name] = structuredClone(child["default"]);
    if (out[name] !== undefined) out[name] = withDefaults(child, out[name]);
  }
  return out;
}

/** Every default of a schema with the schema it must satisfy. */
export function defaultsOf(schema: JsonSchema): { schema: JsonSchema; value: unknown }[] {
  const own = "default" in schema ? [{ schema, value: schema["default"] }] : [];
  const children = [
    ...Object.values((schema["properties"] ?? {}) as Record<string, JsonSchema>),
    schema["items"],
    schema["additionalProperties"],
  ];
  return [
    ...own,
    ...children.flatMap((child) =>
      typeof child === "object" && child !== null ? defaultsOf(child as JsonSchema) : [],
    ),
  ];
}
