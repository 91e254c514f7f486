import type { SchemaNode } from "./node.ts";

/**
 * How patches see a value: which parts server-side apply gives owners of their own, and by what a strategic merge finds a list's items.
 * `atomic` has one owner for all of it; `struct` one per field; `set` one per item; `map` one per item, found by `keys`.
 * Source: KEP-555 and the x-kubernetes-list-type, -list-map-keys and -map-type extensions.
 */
export type Shape =
  | { readonly kind: "atomic" }
  | {
      readonly kind: "struct";
      field(name: string): Shape;
      /** The name is no field of a schema but a key of somebody's data: then the member is owned as well as what it holds. */
      isKey(name: string): boolean;
      /** A union: a strategic merge may name the members to keep. */
      readonly retainKeys?: boolean;
    }
  | { readonly kind: "set" }
  | {
      readonly kind: "map";
      readonly keys: readonly string[];
      /** Values that a key has when an item leaves it out. */
      readonly keyDefaults: Readonly<Record<string, string | number | boolean>>;
      readonly item: Shape;
    };

export const ATOMIC: Shape = { kind: "atomic" };
export const SET: Shape = { kind: "set" };

/** For data without a schema: members are owned one by one, lists as a whole. */
export const UNTYPED: Shape = { kind: "struct", field: () => UNTYPED, isKey: () => true };

const TYPE_META = new Set(["apiVersion", "kind"]);

/** The shape that a structural schema gives; `isObjectRoot` adds the metadata that every object has. */
export function shapeOf(node: SchemaNode, isObjectRoot = false): Shape {
  if (node.embedded || isObjectRoot) {
    return {
      kind: "struct",
      field: (name) => {
        if (name === "metadata") return METADATA;
        return TYPE_META.has(name) ? ATOMIC : fieldOf(node, name);
      },
      isKey: (name) => name !== "metadata" && !TYPE_META.has(name) && !node.properties.has(name),
    };
  }
  if (node.intOrString) return ATOMIC;
  if (node.type === "array") return listShape(node);
  if (node.mapAtomic) return ATOMIC;
  if (node.type === "object") {
    return { kind: "struct", field: (name) => fieldOf(node, name), isKey: (name) => !node.properties.has(name) };
  }
  return node.preserveUnknown ? UNTYPED : ATOMIC;
}

function fieldOf(node: SchemaNode, name: string): Shape {
  const schema = node.properties.get(name) ?? node.additional;
  return schema === undefined || schema === true ? UNTYPED : shapeOf(schema);
}

function listShape(node: SchemaNode): Shape {
  if (node.listType === "set") return SET;
  if (node.listType !== "map" || node.items === undefined) return ATOMIC;
  const { items } = node;
  const keyDefaults = Object.fromEntries(
    node.listKeys.flatMap((key) => {
      const value = items.properties.get(key)?.default;
      return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [[key, value]] : [];
    }),
  );
  return { kind: "map", keys: node.listKeys, keyDefaults, item: shapeOf(items) };
}

/** metav1.ObjectMeta: owner references are found by uid, finalizers are a set. */
export const METADATA: Shape = {
  kind: "struct",
  field: (name) => {
    if (name === "finalizers") return SET;
    if (name === "ownerReferences") return { kind: "map", keys: ["uid"], keyDefaults: {}, item: ATOMIC };
    return name === "labels" || name === "annotations" ? UNTYPED : ATOMIC;
  },
  isKey: () => false,
};
