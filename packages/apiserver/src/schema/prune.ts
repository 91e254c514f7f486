import { isList, isObject, type Json, type JsonObject } from "../patch/json.ts";
import { member } from "./field-error.ts";
import type { SchemaNode } from "./node.ts";

/** Members that every Kubernetes object has, whatever its schema says. */
const OBJECT_MEMBERS = new Set(["apiVersion", "kind", "metadata"]);

/** The value without the fields that the schema does not specify; the same value when there are none. `report` gets the path of each. */
export function pruneValue(
  node: SchemaNode,
  value: Json,
  at: { readonly path: string; readonly isObjectRoot: boolean },
  report: (path: string) => void,
): Json {
  if (isList(value)) {
    const { items } = node;
    if (items === undefined) return value;
    return mapList(value, (item, i) => pruneValue(items, item, below(`${at.path}[${i}]`, items), report));
  }
  if (!isObject(value)) return value;
  return mapMembers(value, (name, child) => {
    if (at.isObjectRoot && OBJECT_MEMBERS.has(name)) {
      return name === "metadata" && node.embedded ? prunedMetadata(child, member(at.path, name), report) : child;
    }
    const path = member(at.path, name);
    const schema = node.properties.get(name) ?? node.additional;
    if (schema === true) return child;
    if (schema !== undefined) return pruneValue(schema, child, below(path, schema), report);
    if (node.preserveUnknown) return child;
    report(path);
    return undefined;
  });
}

/** Members of metav1.ObjectMeta. */
const METADATA_MEMBERS = new Set([
  "annotations",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "finalizers",
  "generateName",
  "generation",
  "labels",
  "managedFields",
  "name",
  "namespace",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid",
]);

/** An object within an object has the metadata that all objects have, and no other. */
function prunedMetadata(metadata: Json, path: string, report: (path: string) => void): Json {
  if (!isObject(metadata)) return metadata;
  return mapMembers(metadata, (name, child) => {
    if (METADATA_MEMBERS.has(name)) return child;
    report(member(path, name));
    return undefined;
  });
}

function below(path: string, node: SchemaNode): { path: string; isObjectRoot: boolean } {
  return { path, isObjectRoot: node.embedded };
}

/** Maps a list; returns the same list when no item changed. */
export function mapList(list: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] {
  const mapped = list.map(change);
  return mapped.every((item, i) => item === list[i]) ? list : mapped;
}

/** Maps the members of an object, dropping those that become undefined; returns the same object when none changed. */
export function mapMembers(object: JsonObject, change: (name: string, value: Json) => Json | undefined): JsonObject {
  let changed = false;
  const entries: [string, Json][] = [];
  for (const [name, value] of Object.entries(object)) {
    const next = change(name, value);
    if (next !== value) changed = true;
    if (next !== undefined) entries.push([name, next]);
  }
  return changed ? Object.fromEntries(entries) : object;
}
