import { clusterDescriptions } from "../descriptions/cluster.ts";
import { coreDescriptions } from "../descriptions/core.ts";
import { kubeadmDescriptions } from "../descriptions/kubeadm.ts";
import { olderDescriptions } from "../descriptions/older.ts";
import { openstackDescriptions } from "../descriptions/openstack.ts";
import type { JsonSchema } from "./crd.ts";

/** Which table wins depends on the group: some fields have the same name in all, and another meaning. */
const tables: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  "infrastructure.cluster.x-k8s.io": [
    openstackDescriptions,
    clusterDescriptions,
    kubeadmDescriptions,
    olderDescriptions,
  ],
  "bootstrap.cluster.x-k8s.io": [kubeadmDescriptions, clusterDescriptions, coreDescriptions, olderDescriptions],
};
const others = [clusterDescriptions, kubeadmDescriptions, coreDescriptions, olderDescriptions];

/**
 * The schema with a description at each field that `kubectl explain` may show: its own, or that of the tables, which
 * are searched for "PARENT.FIELD" first and for "FIELD" then.
 */
export function described(schema: JsonSchema, group: string, more: Readonly<Record<string, string>> = {}): JsonSchema {
  return walk(schema, { tables: [...(tables[group] ?? others), more], name: "" });
}

/** The descriptions of a schema as a table: another version of the kind has most fields in common. */
export function descriptionsOf(schema: JsonSchema, name = ""): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [field, child] of Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)) {
    const { description } = child;
    Object.assign(result, descriptionsOf(child, field));
    if (typeof description === "string")
      Object.assign(result, { [`${name}.${field}`]: description, [field]: description });
  }
  for (const inner of ["items", "additionalProperties"] as const) {
    if (isSchema(schema[inner])) Object.assign(result, descriptionsOf(schema[inner], name));
  }
  return result;
}

interface Place {
  readonly tables: readonly Readonly<Record<string, string>>[];
  /** The field that the schema belongs to. */
  readonly name: string;
}

function walk(schema: JsonSchema, place: Place): JsonSchema {
  const result: JsonSchema = { ...schema };
  const properties = schema["properties"];
  if (isSchema(properties)) {
    const entries = Object.entries(properties).map(([name, child]) => [name, field(child as JsonSchema, name, place)]);
    result["properties"] = Object.fromEntries(entries) as JsonSchema;
  }
  for (const inner of ["items", "additionalProperties"] as const) {
    if (isSchema(schema[inner])) result[inner] = walk(schema[inner], place);
  }
  return result;
}

function field(schema: JsonSchema, name: string, { tables: searched, name: parent }: Place): JsonSchema {
  const inner = walk(schema, { tables: searched, name });
  // The API server describes an object's metadata itself, and refuses CRDs that do.
  if (schema["description"] !== undefined || (parent === "" && name === "metadata")) return inner;
  const description = find(searched, `${parent}.${name}`) ?? find(searched, name);
  return description === undefined ? inner : { description, ...inner };
}

function find(searched: readonly Readonly<Record<string, string>>[], key: string): string | undefined {
  for (const table of searched) if (Object.hasOwn(table, key)) return table[key];
  return undefined;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}
