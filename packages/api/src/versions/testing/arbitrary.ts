import fc from "fast-check";
import type { JsonSchema } from "../../schema/crd.ts";

const durations = /(timeout|timeoutForControlPlane|Timeout|Period|ttl)$/;

/** Any value that a schema accepts, small enough to read: for properties that must hold for every object of a kind. */
export function arbitrary(schema: JsonSchema, name = ""): fc.Arbitrary<unknown> {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true)
    return fc.oneof(word, fc.integer(), fc.dictionary(word, word));
  if (schema["x-kubernetes-int-or-string"] === true) return fc.oneof(fc.nat(100), fc.constant("30%"));
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  const { type, format } = schema;
  if (type === "string") {
    if (format === "date-time") return fc.constantFrom("2026-01-01T00:00:00Z", "2026-06-01T12:30:00Z");
    return durations.test(name) ? fc.constantFrom("0s", "30s", "600s", "10m0s", "1h0m5s", "1.5s") : word;
  }
  if (type === "boolean") return fc.boolean();
  if (type === "integer" || type === "number") return fc.nat(5000);
  if (type === "array") return arrays(schema, name);
  const values = schema["additionalProperties"];
  if (typeof values === "object" && values !== null)
    return fc.dictionary(word, arbitrary(values as JsonSchema), { maxKeys: 3 });
  return objects(schema);
}

const word = fc.constantFrom("a", "b", "c", "d.example.com/v1", "e");

function arrays(schema: JsonSchema, name: string): fc.Arbitrary<unknown> {
  const keys = schema["x-kubernetes-list-map-keys"];
  const items = arbitrary(schema["items"] as JsonSchema, name);
  const minLength = Number(schema["minItems"] ?? 0);
  const key = (item: unknown) =>
    JSON.stringify((keys as string[]).map((one) => (item as Record<string, unknown>)[one] ?? null));
  if (Array.isArray(keys)) return fc.uniqueArray(items, { minLength, maxLength: 3, selector: key });
  if (schema["x-kubernetes-list-type"] === "set") return fc.uniqueArray(items, { minLength, maxLength: 3 });
  return fc.array(items, { minLength, maxLength: 3 });
}

function objects(schema: JsonSchema): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  const required = (schema["required"] ?? []) as string[];
  return fc.record(Object.fromEntries(properties.map(([field, child]) => [field, arbitrary(child, field)])), {
    requiredKeys: required.filter((field) => properties.some(([name]) => name === field)),
  });
}
