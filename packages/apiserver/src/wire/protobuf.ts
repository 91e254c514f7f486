import type { Json } from "../json/json.ts";
import { structOf, type Field, type Tables } from "./tables.ts";

const SCHEMA = "definition.JSONSchemaProps";
const PLAIN = { writable: true, enumerable: true, configurable: true } as const;
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/**
 * Reads a built-in object from Kubernetes' protobuf form ("k8s\0" and a runtime.Unknown). Throws a plain Error
 * when the bytes are no such thing or the kind is not known.
 * Source: kubernetes.io "Kubernetes API Concepts", Kubernetes Protobuf encoding.
 */
export function readProtobuf(tables: Tables, bytes: Buffer): Json {
  if (!bytes.subarray(0, 4).equals(MAGIC)) throw new Error("the body does not begin with the protobuf prefix");
  let apiVersion = "";
  let kind = "";
  let raw: Buffer = Buffer.alloc(0);
  for (const entry of entries(bytes.subarray(4))) {
    if (entry.number === 1) {
      for (const meta of entries(bytesOf(entry))) {
        if (meta.number === 1) apiVersion = bytesOf(meta).toString();
        if (meta.number === 2) kind = bytesOf(meta).toString();
      }
    }
    if (entry.number === 2) raw = bytesOf(entry);
  }
  const struct = structOnWire(apiVersion, kind);
  if (struct === undefined || !tables.fields(struct))
    throw new Error(`${kind} of ${apiVersion} is not known in protobuf`);
  return { apiVersion, kind, ...message(tables, struct, raw) };
}

/** CRDs have a table for this alone: what they hold is judged by their schema. */
function structOnWire(apiVersion: string, kind: string): string | undefined {
  const isDefinition = apiVersion === "apiextensions.k8s.io/v1" && kind === "CustomResourceDefinition";
  return isDefinition ? "definition.CustomResourceDefinition" : structOf(apiVersion, kind);
}

interface Entry {
  readonly number: number;
  readonly value: bigint | Buffer;
}

function* entries(bytes: Buffer): Generator<Entry> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined || shift > 63n) throw new Error("the body ends in the middle of a number");
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error("the body ends in the middle of a field");
    at += length;
    return bytes.subarray(at - length, at);
  };
  /** Tags and lengths, of which most have one byte. */
  const small = (): number => {
    const byte = bytes[at] ?? 0x80;
    if (byte >= 0x80) return Number(varint());
    at += 1;
    return byte;
  };
  while (at < bytes.length) {
    const tag = small();
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 0) yield { number, value: varint() };
    else if (wireType === 1) yield { number, value: take(8) };
    else if (wireType === 2) yield { number, value: take(small()) };
    else if (wireType === 5) yield { number, value: take(4) };
    else throw new Error(`wire type ${wireType} is not used by Kubernetes`);
  }
}

function bytesOf({ value }: Entry): Buffer {
  if (typeof value === "bigint") throw new Error("a number is where a message should");
  return value;
}

function message(tables: Tables, struct: string, bytes: Buffer): Json {
  const fields = tables.byNumber(struct);
  const out: Json = {};
  for (const entry of entries(bytes)) {
    const field = fields?.get(entry.number);
    if (field) place(tables, { out, field, entry });
  }
  return out;
}

function place(tables: Tables, { out, field, entry }: { out: Json; field: Field; entry: Entry }): void {
  if (field.name === "") {
    Object.assign(out, message(tables, field.type, bytesOf(entry)));
    return;
  }
  if (field.shape === "map") {
    const [key, value] = mapEntry(tables, field, bytesOf(entry));
    // Defined, not assigned: a key "__proto__" is a key like any other.
    Object.defineProperty((out[field.name] ??= {}) as Json, key, { ...PLAIN, value });
    return;
  }
  if (field.shape === "list") {
    const items = field.wrapped ? wrappedItems(tables, field, bytesOf(entry)) : [one(tables, field.type, entry)];
    const list = (out[field.name] ??= []) as unknown[];
    for (const item of items) list.push(item);
    return;
  }
  const value = one(tables, field.type, entry);
  const zero = value === "" || value === 0 || value === false || value === null;
  if (!zero || field.pointer || field.always) out[field.name] = value;
}

function wrappedItems(tables: Tables, field: Field, bytes: Buffer): unknown[] {
  return [...entries(bytes)].filter((e) => e.number === 1).map((e) => one(tables, field.type, e));
}

function mapEntry(tables: Tables, field: Field, bytes: Buffer): [string, unknown] {
  let key = "";
  let value: unknown = field.wrapped ? [] : "";
  for (const entry of entries(bytes)) {
    if (entry.number === 1) key = bytesOf(entry).toString();
    if (entry.number === 2) {
      value = field.wrapped ? wrappedItems(tables, field, bytesOf(entry)) : one(tables, field.type, entry);
    }
  }
  return [key, value];
}

function one(tables: Tables, type: string, entry: Entry): unknown {
  switch (type) {
    case "int32":
    case "int64":
      return Number(BigInt.asIntN(64, BigInt(entry.value as bigint)));
    case "bool":
      return entry.value !== 0n;
    case "double":
      return bytesOf(entry).readDoubleLE(0);
    case "string":
      return bytesOf(entry).toString();
    case "bytes":
      return bytesOf(entry).toString("base64");
    case "Quantity":
      return bytesOf([...entries(bytesOf(entry))][0] ?? { number: 1, value: Buffer.alloc(0) }).toString();
    case "Time":
    case "MicroTime":
      return instant(bytesOf(entry), type === "MicroTime");
    case "Duration":
      return `${Number(numbers(bytesOf(entry)).get(1) ?? 0n) / 1e9}s`;
    case "IntOrString":
      return intOrString(bytesOf(entry));
    case "Raw":
    case "Fields":
    case "Json":
      return json(bytesOf(entry), type === "Json" ? null : {});
    default:
      return isSchemaOr(type) ? schemaOr(tables, type, bytesOf(entry)) : message(tables, type, bytesOf(entry));
  }
}

/** Bytes whose first field is a JSON text, if there is one. */
function json(bytes: Buffer, otherwise: unknown): unknown {
  const [text] = entries(bytes);
  return text ? (JSON.parse(bytesOf(text).toString()) as unknown) : otherwise;
}

/** Where a JSON schema has a schema or something else: the number of each among the fields. */
const SCHEMA_OR = {
  SchemaOrArray: { schema: 1, other: 2 },
  SchemaOrStrings: { schema: 1, other: 2 },
  SchemaOrBool: { schema: 2, other: 1 },
} as const;

function isSchemaOr(type: string): type is keyof typeof SCHEMA_OR {
  return Object.hasOwn(SCHEMA_OR, type);
}

function schemaOr(tables: Tables, type: keyof typeof SCHEMA_OR, bytes: Buffer): unknown {
  const { schema, other } = SCHEMA_OR[type];
  const found = [...entries(bytes)];
  const one = found.find(({ number }) => number === schema);
  if (one) return message(tables, SCHEMA, bytesOf(one));
  const others = found.filter(({ number }) => number === other);
  if (type === "SchemaOrBool") return others.some(({ value }) => value !== 0n);
  return others.map((entry) =>
    type === "SchemaOrArray" ? message(tables, SCHEMA, bytesOf(entry)) : bytesOf(entry).toString(),
  );
}

function numbers(bytes: Buffer): Map<number, bigint> {
  const found = new Map<number, bigint>();
  for (const { number, value } of entries(bytes))
    if (typeof value === "bigint") found.set(number, BigInt.asIntN(64, value));
  return found;
}

function instant(bytes: Buffer, micro: boolean): string | null {
  const parts = numbers(bytes);
  const seconds = parts.get(1);
  if (seconds === undefined) return null;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  if (!micro) return `${text}Z`;
  return `${text}.${String(Math.floor(Number(parts.get(2) ?? 0n) / 1000)).padStart(6, "0")}Z`;
}

function intOrString(bytes: Buffer): string | number {
  let text = "";
  let number = 0;
  let isText = false;
  for (const entry of entries(bytes)) {
    if (entry.number === 1) isText = entry.value === 1n;
    if (entry.number === 2) number = Number(BigInt.asIntN(64, entry.value as bigint));
    if (entry.number === 3) text = bytesOf(entry).toString();
  }
  return isText ? text : number;
}
