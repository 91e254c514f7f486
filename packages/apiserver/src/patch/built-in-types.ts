import {
  ANY_SCALAR,
  BOOLEAN,
  DEDUCED,
  listOf,
  mapOf,
  type ListType,
  type MergeType,
  METADATA,
  NUMERIC,
  STRING,
} from "../schema/merge-type.ts";
import { structOf, type Field, type Tables } from "../wire/tables.ts";
import { MERGE_TABLES } from "./merge-tables.generated.ts";

/** How one field of a built-in struct merges. */
export interface Mark {
  readonly atomic: boolean;
  readonly relation: ListType["relation"];
  readonly keys: readonly string[];
  readonly keyDefaults: Readonly<Record<string, string | number>>;
  /** The key by which a strategic merge finds items; "" merges values, undefined replaces the list. */
  readonly mergeKey: string | undefined;
  /** A strategic merge may name the members to keep. */
  readonly retainKeys: boolean;
}

const PLAIN: Mark = {
  atomic: false,
  relation: "atomic",
  keys: [],
  keyDefaults: {},
  mergeKey: undefined,
  retainKeys: false,
};

const SCALARS: Readonly<Record<string, MergeType>> = {
  string: STRING,
  bytes: STRING,
  bool: BOOLEAN,
  int32: NUMERIC,
  int64: NUMERIC,
  double: NUMERIC,
  Duration: STRING,
  Raw: { map: mapOf({}, () => DEDUCED) },
  Fields: { map: mapOf({}, () => DEDUCED) },
};

/** Merging of the built-in kinds, read from the tables when first requested. */
export class BuiltInTypes {
  readonly #tables: Tables;
  readonly #types = new Map<string, MergeType>();
  readonly #marks = new Map<string, ReadonlyMap<string, Mark>>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** The type of a kind; one without a table is data without a schema, but for its metadata. */
  ofKind(apiVersion: string, kind: string): MergeType {
    const struct = structOf(apiVersion, kind);
    if (struct === "apiextensions.CustomResourceDefinition") return DEFINITION;
    if (struct === undefined || !this.#tables.flat(struct)) return UNKNOWN_KIND;
    const known = this.#types.get(`kind ${struct}`);
    if (known) return known;
    const own = this.#fieldsOf(struct);
    const type = { map: mapOf({ ...own, apiVersion: () => STRING, kind: () => STRING, metadata: () => METADATA }) };
    this.#types.set(`kind ${struct}`, type);
    return type;
  }

  /** How a strategic merge treats the fields of a struct. */
  marks(struct: string): ReadonlyMap<string, Mark> {
    const known = this.#marks.get(struct);
    if (known) return known;
    const line = Object.hasOwn(MERGE_TABLES, struct) ? MERGE_TABLES[struct] : undefined;
    const own = new Map(
      (line ?? "")
        .split(" ")
        .filter((entry) => entry !== "")
        .map(markOf),
    );
    const embedded = (this.#tables.fields(struct) ?? []).filter((f) => f.name === "");
    for (const { type } of embedded) for (const [name, mark] of this.marks(type)) if (name !== "~") own.set(name, mark);
    this.#marks.set(struct, own);
    return own;
  }

  fields(struct: string): readonly Field[] | undefined {
    return this.#tables.flat(struct);
  }

  #fieldsOf(struct: string): Record<string, () => MergeType> {
    const marks = this.marks(struct);
    const fields = this.#tables.flat(struct) ?? [];
    return Object.fromEntries(fields.map((f) => [f.name, () => this.#fieldType(f, marks.get(f.name) ?? PLAIN)]));
  }

  #fieldType(field: Field, mark: Mark): MergeType {
    const one = (): MergeType => this.#valueType(field.type, field.shape === "one" && mark.atomic);
    if (field.shape === "one") return one();
    if (field.shape === "list") return { list: listOf(one, mark) };
    const values = field.wrapped ? (): MergeType => ({ list: listOf(one) }) : one;
    return { map: mapOf({}, values, mark.atomic) };
  }

  #valueType(name: string, atomic: boolean): MergeType {
    if (!name.includes(".")) return SCALARS[name] ?? ANY_SCALAR;
    if (name === "meta.ObjectMeta") return METADATA;
    const key = atomic ? `atomic ${name}` : name;
    const known = this.#types.get(key);
    if (known) return known;
    const whole = atomic || this.marks(name).get("~")?.atomic === true;
    const type = { map: mapOf(this.#fieldsOf(name), undefined, whole) };
    this.#types.set(key, type);
    return type;
  }
}

/** Conditions are found by their type in all kinds. */
const CONDITIONS: MergeType = {
  list: listOf(() => DEDUCED, { relation: "map", keys: ["type"], keyDefaults: { type: "" } }),
};

const UNKNOWN_STATUS: MergeType = { map: mapOf({ conditions: () => CONDITIONS }, () => DEDUCED) };

const within = (fields: Readonly<Record<string, () => MergeType>>): (() => MergeType) => {
  const type: MergeType = { map: mapOf(fields, () => DEDUCED) };
  return () => type;
};

const DEFINITION: MergeType = {
  map: mapOf(
    {
      apiVersion: () => STRING,
      kind: () => STRING,
      metadata: () => METADATA,
      spec: within({ names: within({ plural: () => STRING }), conversion: () => DEDUCED, versions: () => DEDUCED }),
      status: within({ acceptedNames: within({ plural: () => STRING }), conditions: () => CONDITIONS }),
    },
    () => DEDUCED,
  ),
};

const UNKNOWN_KIND: MergeType = {
  map: mapOf(
    { apiVersion: () => STRING, kind: () => STRING, metadata: () => METADATA, status: () => UNKNOWN_STATUS },
    () => DEDUCED,
  ),
};

function markOf(entry: string): readonly [string, Mark] {
  const name = entry.slice(0, entry.indexOf("="));
  const marks = entry.slice(name.length + 1);
  const keyed = /m\(([^)]*)\)/.exec(marks)?.[1];
  const plain = marks.replaceAll(/[mp]\([^)]*\)/g, "");
  const keys = keyed?.split(",").map((key) => key.split("=") as [string, string | undefined]) ?? [];
  const defaults = keys.filter((key): key is [string, string] => key[1] !== undefined);
  return [
    name,
    {
      atomic: plain.includes("a"),
      relation: keyed === undefined ? (plain.includes("s") ? "set" : "atomic") : "map",
      keys: keys.map(([key]) => key),
      keyDefaults: Object.fromEntries(
        defaults.map(([key, value]) => [key, /^\d+$/.test(value) ? Number(value) : value]),
      ),
      mergeKey: /p\(([^)]*)\)/.exec(marks)?.[1],
      retainKeys: plain.includes("r"),
    },
  ];
}
