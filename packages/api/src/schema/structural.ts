import type { JsonSchema } from "./crd.ts";

/**
 * What keeps a schema from being structural (apiextensions.k8s.io/v1: every node has a type or preserves unknown
 * fields or is int-or-string, no `const`, `$ref`, or logical junctors, `properties` and `additionalProperties` exclude
 * each other, list and map annotations fit). Returns one line per fault, each starting with the path.
 */
export function structuralFaults(schema: JsonSchema, path = ""): string[] {
  const at = path === "" ? "(root)" : path;
  return [...nodeFaults(schema, at), ...listFaults(schema, at), ...childFaults(schema, path)];
}

const forbidden = ["$ref", "$id", "const", "anyOf", "allOf", "oneOf", "not", "patternProperties", "uniqueItems"];

function nodeFaults(schema: JsonSchema, at: string): string[] {
  const faults = forbidden.filter((word) => word in schema).map((word) => `${at}: ${word} is not structural`);
  const free = schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (typeof schema["type"] !== "string" && !free) faults.push(`${at}: has no type`);
  if ("properties" in schema && "additionalProperties" in schema) {
    faults.push(`${at}: has properties and additionalProperties`);
  }
  const properties = (schema["properties"] ?? {}) as JsonSchema;
  for (const name of (schema["required"] ?? []) as string[]) {
    if (!(name in properties)) faults.push(`${at}: requires ${name}, which is no property`);
  }
  return faults;
}

function listFaults(schema: JsonSchema, at: string): string[] {
  if (schema["type"] !== "array") return [];
  if (schema["items"] === undefined) return [`${at}: a list without items`];
  if (schema["x-kubernetes-list-type"] !== "map") return [];
  const keys = schema["x-kubernetes-list-map-keys"] as string[];
  const items = schema["items"] as JsonSchema;
  const properties = (items["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = (items["required"] ?? []) as string[];
  return keys
    .filter((key) => !required.includes(key) && properties[key]?.["default"] === undefined)
    .map((key) => `${at}: list map key ${key} is neither required nor defaulted`);
}

function childFaults(schema: JsonSchema, path: string): string[] {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  const children: [string, unknown][] = properties.map(([name, child]) => [`${path}.${name}`, child]);
  children.push([`${path}[]`, schema["items"]], [`${path}{}`, schema["additionalProperties"]]);
  return children.flatMap(([at, child]) =>
    typeof child === "object" && child !== null ? structuralFaults(child as JsonSchema, at) : [],
  );
}
