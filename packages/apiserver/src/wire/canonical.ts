import type { KubeObject } from "@causeway/kubernetes";
import { isRecord, type Json } from "../json/json.ts";
import { DEFAULTS } from "./defaults/all.ts";
import type { Rules } from "./defaults/rule.ts";
import { canonicalQuantity } from "../syntax/quantity.ts";
import { structOf, type Field, type Tables } from "./tables.ts";

/**
 * Gives a built-in object the form that kube-apiserver's decoder, defaults and encoder give it: without fields its kind
 * does not have and without empty optional ones, with defaults, with what is said even when empty, quantities and times
 * in their canonical form. Objects of kinds without a table remain as they are. Changes it in place.
 */
export function canonical(tables: Tables, object: Json): void {
  const struct = structOf(String(object["apiVersion"] as string), String(object["kind"] as string));
  if (struct !== undefined && tables.byName(struct)) settle({ tables, rules: DEFAULTS }, struct, object);
}

/** The metadata of any object in the same form. Changes it in place. */
export function canonicalMetadata(tables: Tables, metadata: Json): void {
  settle({ tables, rules: {} }, "meta.ObjectMeta", metadata);
}

/**
 * An object of the same kind as encoders write one that has nothing, not even defaults; undefined for kinds without a
 * table.
 */
export function blankOf(tables: Tables, { apiVersion, kind }: KubeObject): KubeObject | undefined {
  const struct = structOf(apiVersion, kind);
  if (struct === undefined || !tables.byName(struct)) return undefined;
  const empty: Json = { apiVersion, kind, metadata: {} };
  settle({ tables, rules: {} }, struct, empty);
  return empty as unknown as KubeObject;
}

/** The same for one field of it, which may be missing yet. */
export function canonicalField(tables: Tables, object: Json, name: string): void {
  const struct = structOf(String(object["apiVersion"] as string), String(object["kind"] as string));
  const field = struct === undefined ? undefined : tables.byName(struct)?.get(name);
  if (!field || !field.type.includes(".")) return;
  const value = isRecord(object[name]) ? object[name] : {};
  settle({ tables, rules: DEFAULTS }, field.type, value);
  object[name] = value;
}

/** What the kinds' fields are, and what is filled in. */
interface Known {
  readonly tables: Tables;
  readonly rules: Rules;
}

function settle(known: Known, struct: string, value: Json): void {
  const fields = known.tables.byName(struct);
  if (!fields) return;
  for (const [name, child] of Object.entries(value)) {
    const field = fields.get(name);
    if (!field || child === null || (!field.pointer && isEmpty(child, field) && !isReset(field))) delete value[name];
  }
  known.rules[struct]?.(value);
  for (const field of fields.values()) {
    const child = value[field.name];
    if (child === undefined) {
      const empty = zeroOf(known, field);
      if (empty !== undefined) value[field.name] = empty;
    } else if (field.name !== "managedFields") value[field.name] = settled(known, field, child);
  }
}

/** Who sends no managers at all ends the tracking of the object; no such list is ever stored. */
function isReset({ name, type }: Field): boolean {
  return name === "managedFields" && type === "meta.ManagedFieldsEntry";
}

/** The zero value of a field, which is not said unless the field is one that is said always. */
function isEmpty(value: unknown, { shape, always, type }: Field): boolean {
  // An absent list and an empty one are stored alike; only a PolicyRule distinguishes them for field ownership.
  if (shape === "list") return Array.isArray(value) && value.length === 0 && !(always && type === "rbac.PolicyRule");
  if (shape === "map") return isRecord(value) && Object.keys(value).length === 0;
  return !always && (value === "" || value === 0 || value === false) && type !== "IntOrString" && type !== "Quantity";
}

/** The value that is written for an absent field, or undefined when none is. */
function zeroOf(known: Known, { name, shape, type, pointer, always }: Field): unknown {
  if (shape !== "one" || pointer) return always ? null : undefined;
  if (type.includes(".")) {
    const empty: Json = {};
    settle(known, type, empty);
    return empty;
  }
  // Structs with texts of their own are said even when the field is optional.
  if (type === "Time" || type === "MicroTime") return name === "creationTimestamp" ? undefined : null;
  if (type === "Raw") return null;
  if (type === "Quantity") return "0";
  if (type === "IntOrString") return 0;
  if (!always) return undefined;
  return ZERO[type];
}

const ZERO: Readonly<Record<string, unknown>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  bytes: null,
};

function settled(known: Known, field: Field, value: unknown): unknown {
  if (field.shape === "one") return one(known, field, value);
  if (field.shape === "list") return Array.isArray(value) ? value.map((v) => one(known, field, v)) : value;
  if (!isRecord(value)) return value;
  if (field.wrapped) return value;
  if (field.type === "string") return mapped(value, (v) => v ?? "");
  if (field.type === "bytes") return mapped(value, bytes);
  // Resource lists are in thousandths at most.
  if (field.type === "Quantity") return mapped(value, (v) => canonicalQuantity(v, -3));
  return field.type.includes(".") ? mapped(value, (v) => one(known, field, v)) : value;
}

function mapped(value: Json, change: (value: unknown) => unknown): Json {
  for (const [name, item] of Object.entries(value)) value[name] = change(item);
  return value;
}

function one(known: Known, field: Field, value: unknown): unknown {
  const { type } = field;
  // Null among the items of a list or the values of a map is what is zero.
  if (value === null) return zeroOf(known, { ...field, shape: "one", pointer: false, always: true }) ?? null;
  if (type.includes(".")) {
    if (isRecord(value)) settle(known, type, value);
    return value;
  }
  if (type === "Quantity") return canonicalQuantity(value);
  if (type === "bytes") return bytes(value);
  if (type === "Time" || type === "MicroTime") return instant(value, type);
  return value;
}

/** Bytes are written in base64, however they were sent. */
function bytes(value: unknown): unknown {
  return Array.isArray(value) ? Buffer.from(value as number[]).toString("base64") : (value ?? "");
}

const UTC: Readonly<Record<string, RegExp>> = {
  Time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  MicroTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
};

/** Times are written in UTC, in seconds or in microseconds. */
function instant(value: unknown, type: "Time" | "MicroTime"): unknown {
  if (typeof value !== "string" || UTC[type]?.test(value) === true) return value;
  const at = Date.parse(value);
  if (Number.isNaN(at)) return value;
  const seconds = new Date(at).toISOString().slice(0, 19);
  if (type === "Time") return `${seconds}Z`;
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? "";
  return `${seconds}.${fraction.padEnd(6, "0").slice(0, 6)}Z`;
}
