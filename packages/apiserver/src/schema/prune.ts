import { MAXIMUM_STRICT_ERRORS } from "../bounds.ts";
import { isList, isObject, type Json, type JsonObject } from "../json/values.ts";
import { item, member } from "./field-error.ts";
import type { SchemaNode } from "./node.ts";

/** Members that every Kubernetes object has, whatever its schema says. */
const OBJECT_MEMBERS = new Set(["apiVersion", "kind", "metadata"]);

interface Place {
  readonly path: string;
  /** The same with keys of maps in brackets, as errors show fields of embedded metadata. */
  readonly keyed: string;
  readonly isObjectRoot: boolean;
}

/** The report about a pruned field; `inner` when it was in the metadata of an object within. */
type Report = (path: string, where?: "inner") => void;

/**
 * The paths of fields that a schema does not specify, no more than messages show, in the order of kube-apiserver: the
 * schema's own first, each kind sorted.
 */
export function unknownPaths(node: SchemaNode, value: Json): string[] {
  const [own, inner]: [string[], string[]] = [[], []];
  pruneValue(node, value, rootPlace(true), (path, where) => {
    if (own.length + inner.length < MAXIMUM_STRICT_ERRORS) (where ? inner : own).push(path);
  });
  return [...own.toSorted(), ...inner.toSorted()];
}

/** Where pruning begins. */
export function rootPlace(isObjectRoot: boolean): Place {
  return { path: "", keyed: "", isObjectRoot };
}

/**
 * The value without the fields that the schema does not specify; the same value when there are none. `report` gets the
 * path of each.
 */
export function pruneValue(node: SchemaNode, value: Json, at: Place, report: Report): Json {
  if (isList(value)) {
    const { items } = node;
    if (items === undefined) return value;
    return mapList(value, (child, i) => {
      const place = { path: item(at.path, i), keyed: item(at.keyed, i), isObjectRoot: items.embedded };
      return pruneValue(items, child, place, report);
    });
  }
  if (!isObject(value)) return value;
  return mapMembers(value, (name, child) => {
    if (at.isObjectRoot && OBJECT_MEMBERS.has(name)) {
      return name === "metadata" && node.embedded ? prunedMetadata(child, member(at.keyed, name), report) : child;
    }
    const path = member(at.path, name);
    const property = node.properties.get(name);
    const schema = property ?? node.additional;
    if (schema === true) return child;
    if (schema !== undefined) {
      const keyed = property ? member(at.keyed, name) : item(at.keyed, name);
      return pruneValue(schema, child, { path, keyed, isObjectRoot: schema.embedded }, report);
    }
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
function prunedMetadata(metadata: Json, path: string, report: Report): Json {
  if (!isObject(metadata)) return metadata;
  return mapMembers(metadata, (name, child) => {
    if (METADATA_MEMBERS.has(name)) return child;
    report(member(path, name), "inner");
    return undefined;
  });
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
