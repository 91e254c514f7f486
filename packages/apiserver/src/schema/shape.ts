import type { SchemaNode } from "./node.ts";

/**
 * How server-side apply sees a value: which parts have owners of their own.
 * `atomic` has one owner for all of it; `struct` one per field; `set` one per item; `map` one per item, found by `keys`.
 * Source: KEP-555 and the x-kubernetes-list-type, -list-map-keys and -map-type extensions.
 */
export type Shape =
  | { readonly kind: "atomic" }
  | { readonly kind: "struct"; field(name: string): Shape }
  | { readonly kind: "set" }
  | {
      readonly kind: "map";
      readonly keys: readonly string[];
      /** Values that a key has when an item leaves it out. */
      readonly keyDefaults: Readonly<Record<string, string | number | boolean>>;
      readonly item: Shape;
    };

export const ATOMIC: Shape = { kind: "atomic" };

/** Members are owned one by one, each by the shape of its value: for data without a schema. Lists are atomic. */
export const UNTYPED: Shape = { kind: "struct", field: () => UNTYPED };

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
    };
  }
  if (node.intOrString) return ATOMIC;
  if (node.type === "array") return listShape(node);
  if (node.mapAtomic) return ATOMIC;
  if (node.type === "object") return { kind: "struct", field: (name) => fieldOf(node, name) };
  return node.preserveUnknown ? UNTYPED : ATOMIC;
}

function fieldOf(node: SchemaNode, name: string): Shape {
  const schema = node.properties.get(name) ?? node.additional;
  return schema === undefined || schema === true ? UNTYPED : shapeOf(schema);
}

function listShape(node: SchemaNode): Shape {
  if (node.listType === "set") return { kind: "set" };
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
    if (name === "finalizers") return { kind: "set" };
    if (name === "ownerReferences") return { kind: "map", keys: ["uid"], keyDefaults: {}, item: ATOMIC };
    return name === "labels" || name === "annotations" ? UNTYPED : ATOMIC;
  },
};
