import type { SchemaNode } from "./node.ts";

/** What a scalar may be; "untyped" is any of them. */
type ScalarType = "numeric" | "string" | "boolean" | "untyped";

/** How server-side apply sees a list. */
export interface ListType {
  /** atomic: one owner for all of it. set: one per value. map: one per item, found by its keys. */
  readonly relation: "atomic" | "set" | "map";
  readonly keys: readonly string[];
  /** Values that a key has when an item leaves it out. */
  readonly keyDefaults: Readonly<Record<string, string | number | boolean>>;
  readonly item: MergeType;
}

/** How server-side apply sees an object. */
export interface MapType {
  /** One owner for all of it; otherwise one per member. */
  readonly atomic: boolean;
  /** The type of a field that the schema names. */
  field(name: string): MergeType | undefined;
  /** The type of all other members; undefined where there are to be none. */
  readonly rest: MergeType | undefined;
}

/**
 * How server-side apply sees a value: what it may be, and which parts of it have owners of their own. A value that may
 * be several things has several members. Source: KEP-555 and the x-kubernetes-list-type, -list-map-keys and -map-type
 * extensions.
 */
export interface MergeType {
  readonly scalar?: ScalarType;
  readonly list?: ListType;
  readonly map?: MapType;
}

/** Integers and floating-point numbers: apply does not distinguish them. */
export const NUMERIC: MergeType = { scalar: "numeric" };
/** Text, whatever its format. */
export const STRING: MergeType = { scalar: "string" };
/** True or false. */
export const BOOLEAN: MergeType = { scalar: "boolean" };
/** A value without a type in its schema. */
export const ANY_SCALAR: MergeType = { scalar: "untyped" };

const NO_FIELD = (): undefined => undefined;

/** Data without a schema, owned as a whole. */
const UNTYPED_ATOMIC: MergeType = {
  scalar: "untyped",
  list: listOf(() => UNTYPED_ATOMIC),
  map: mapOf({}, () => UNTYPED_ATOMIC, true),
};

/** Data without a schema: members are owned one by one, lists as a whole. */
export const DEDUCED: MergeType = {
  scalar: "untyped",
  list: listOf(() => UNTYPED_ATOMIC),
  map: mapOf({}, () => DEDUCED),
};

/** An atomic list, or one with the relation of `more`. */
export function listOf(item: () => MergeType, more: Partial<Omit<ListType, "item">> = {}): ListType {
  let made: MergeType | undefined;
  return {
    relation: "atomic",
    keys: [],
    keyDefaults: {},
    ...more,
    get item() {
      return (made ??= item());
    },
  };
}

/** Fields by name, each made when it is first requested. */
export function mapOf(
  fields: Readonly<Record<string, () => MergeType>>,
  rest?: () => MergeType,
  atomic = false,
): MapType {
  const made = new Map<string, MergeType>();
  let madeRest: MergeType | undefined;
  return {
    atomic,
    field(name) {
      const known = made.get(name);
      if (known || !Object.hasOwn(fields, name)) return known;
      const type = fields[name]?.();
      if (type) made.set(name, type);
      return type;
    },
    get rest() {
      return (madeRest ??= rest?.());
    },
  };
}

const OWNER: MergeType = {
  map: mapOf(
    {
      apiVersion: () => STRING,
      kind: () => STRING,
      name: () => STRING,
      uid: () => STRING,
      controller: () => BOOLEAN,
      blockOwnerDeletion: () => BOOLEAN,
    },
    undefined,
    true,
  ),
};

const TEXTS: MergeType = { map: { atomic: false, field: NO_FIELD, rest: STRING } };

/** metav1.ObjectMeta: owner references are found by uid, finalizers are a set. */
export const METADATA: MergeType = {
  map: mapOf({
    annotations: () => TEXTS,
    labels: () => TEXTS,
    creationTimestamp: () => ANY_SCALAR,
    deletionTimestamp: () => ANY_SCALAR,
    deletionGracePeriodSeconds: () => NUMERIC,
    generation: () => NUMERIC,
    generateName: () => STRING,
    name: () => STRING,
    namespace: () => STRING,
    resourceVersion: () => STRING,
    selfLink: () => STRING,
    uid: () => STRING,
    finalizers: () => ({ list: listOf(() => STRING, { relation: "set" }) }),
    managedFields: () => ({ list: listOf(() => DEDUCED) }),
    ownerReferences: () => ({
      list: listOf(() => OWNER, { relation: "map", keys: ["uid"], keyDefaults: { uid: "" } }),
    }),
  }),
};

const OBJECT_FIELDS: Readonly<Record<string, () => MergeType>> = {
  apiVersion: () => STRING,
  kind: () => STRING,
  metadata: () => METADATA,
};

/** The type that a structural schema gives; an object's root and embedded resources have metadata. */
export function mergeTypeOf(node: SchemaNode, isRoot = false, preserve = false): MergeType {
  const open = preserve || node.preserveUnknown;
  if (isRoot || node.embedded) return { map: objectType(node, open, OBJECT_FIELDS) };
  switch (node.type) {
    case "object":
      return { map: objectType(node, open) };
    case "array":
      return { list: arrayType(node, open) };
    case "integer":
    case "number":
      return NUMERIC;
    case "boolean":
      return BOOLEAN;
    case "string":
      return node.format === undefined || node.format === "byte" ? STRING : ANY_SCALAR;
    default:
      return { scalar: "untyped", list: arrayType(node, open), map: objectType(node, open) };
  }
}

function objectType(node: SchemaNode, open: boolean, more: Readonly<Record<string, () => MergeType>> = {}): MapType {
  const own = [...node.properties].map(([name, child]) => [name, () => mergeTypeOf(child, false, open)] as const);
  const fields = { ...Object.fromEntries(own), ...more };
  const { additional } = node;
  const rest =
    additional === true
      ? () => DEDUCED
      : additional
        ? () => mergeTypeOf(additional, false, open)
        : open || Object.keys(fields).length === 0
          ? () => DEDUCED
          : undefined;
  return mapOf(fields, rest, node.mapAtomic);
}

function arrayType(node: SchemaNode, open: boolean): ListType {
  const { items, listType = "atomic", listKeys } = node;
  if (!items) return listOf(() => UNTYPED_ATOMIC);
  const keyDefaults = Object.fromEntries(
    listKeys.flatMap((key) => {
      const value = items.properties.get(key)?.default;
      return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [[key, value]] : [];
    }),
  );
  return listOf(() => mergeTypeOf(items, false, open), { relation: listType, keys: listKeys, keyDefaults });
}
