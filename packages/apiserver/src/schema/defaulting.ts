import { CausewayError } from "@causeway/foundation";
import { extentOf, MAXIMUM_BODY } from "../bounds.ts";
import { isList, isObject, type Json, type JsonObject } from "../json/values.ts";
import type { SchemaNode } from "./node.ts";
import { mapList, mapMembers } from "./prune.ts";

/** What becomes of nulls that are neither allowed nor replaced by a default. */
type Strays = "dropped" | "kept";

/** What filling in defaults may still cost: a default is filled in as often as there are objects that lack it. */
interface DefaultsBudget {
  readonly strays: Strays;
  /** Bytes of defaults. */
  bytes: number;
  /** Values that are visited. */
  values: number;
}

const MAXIMUM_VALUES = 5_000_000;

/**
 * The value with the schema's defaults filled in, at every depth that exists. A null where the schema is not nullable
 * but has a default counts as absent, and one without a default is dropped. The same value comes back when nothing was
 * to fill. Throws SCHEMA_DEFAULTS_TOO_LARGE when defaults make the value larger than a body may be.
 */
export function defaultValue(node: SchemaNode, value: Json, strays: Strays = "dropped"): Json {
  return filledIn(node, value, { strays, bytes: MAXIMUM_BODY, values: MAXIMUM_VALUES });
}

function filledIn(node: SchemaNode, value: Json, filling: DefaultsBudget): Json {
  spend(filling, { values: 1, bytes: 0 });
  if (isList(value)) {
    const { items } = node;
    return items === undefined ? value : mapList(value, (item) => orDefault(items, item, filling));
  }
  if (!isObject(value)) return value;
  return mapMembers(withMissing(node, value, filling), (name, child) => {
    const schema = node.properties.get(name) ?? node.additional;
    if (schema === undefined || schema === true) return child;
    return filling.strays === "dropped" && isStray(schema, child) ? undefined : orDefault(schema, child, filling);
  });
}

function spend(filling: DefaultsBudget, { values, bytes }: { readonly values: number; readonly bytes: number }): void {
  filling.values -= values;
  filling.bytes -= bytes;
  if (filling.values >= 0 && filling.bytes >= 0) return;
  const message = "the defaults of the schema make the object too large";
  throw new CausewayError("SCHEMA_DEFAULTS_TOO_LARGE", message, { hint: "Shorten the list that lacks them." });
}

function isStray(node: SchemaNode, value: Json): boolean {
  return value === null && !node.nullable && node.default === undefined;
}

function orDefault(node: SchemaNode, value: Json, filling: DefaultsBudget): Json {
  if (value !== null || node.nullable || node.default === undefined) return filledIn(node, value, filling);
  spend(filling, { values: 0, bytes: extentOf(node.default, MAXIMUM_BODY).bytes });
  return filledIn(node, node.default, filling);
}

function withMissing(node: SchemaNode, object: JsonObject, filling: DefaultsBudget): JsonObject {
  const missing = node.defaults.flatMap(({ name, value, bytes }): [string, Json][] => {
    spend(filling, { values: 1, bytes: 0 });
    if (Object.hasOwn(object, name)) return [];
    spend(filling, { values: 0, bytes });
    return [[name, value]];
  });
  return missing.length === 0 ? object : Object.fromEntries([...Object.entries(object), ...missing]);
}
