import fc from "fast-check";
import { expect, test } from "vitest";
import { growthOf, LINEAR } from "../testing/growth.ts";
import { readProtobuf } from "./protobuf.ts";
import { CORE_TABLES } from "./core-tables.generated.ts";
import { DEFINITION_TABLES } from "./definition-tables.generated.ts";
import { GROUP_TABLES } from "./group-tables.generated.ts";
import { Tables } from "./tables.ts";
import { unknownBuiltInFields } from "./unknown-fields.ts";

const tables = new Tables();
const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))];
const field = (number: number, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
};
const envelope = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  Buffer.concat([Buffer.from("k8s\0"), field(1, Buffer.concat([field(1, apiVersion), field(2, kind)])), field(2, raw)]);

test("a Secret is read with its maps and bytes", () => {
  const metadata = field(1, Buffer.concat([field(1, "s"), field(3, "default")]));
  const data = field(2, Buffer.concat([field(1, "a"), field(2, "b")]));
  expect(readProtobuf(tables, envelope("v1", "Secret", Buffer.concat([metadata, data, field(3, "Opaque")])))).toEqual({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s", namespace: "default" },
    data: { a: "Yg==" },
    type: "Opaque",
  });
});

test("maps and lists of many entries are read in linear time", () => {
  const many = (count: number): Buffer => {
    const data = Array.from({ length: count }, (_, n) => field(2, Buffer.concat([field(1, `key${n}`), field(2, "v")])));
    const finalizers = Array.from({ length: count }, () => field(14, "f"));
    return envelope("v1", "ConfigMap", Buffer.concat([field(1, Buffer.concat(finalizers)), ...data]));
  };
  expect(Object.keys(readProtobuf(tables, many(100))["data"] as object)).toHaveLength(100);
  expect(growthOf(many, (bytes) => readProtobuf(tables, bytes), 500)).toBeLessThan(LINEAR);
});

test("a key that is called __proto__ is a key like any other", () => {
  const data = field(2, Buffer.concat([field(1, "__proto__"), field(2, "v")]));
  const read = readProtobuf(tables, envelope("v1", "ConfigMap", data));
  expect(JSON.stringify(read["data"])).toBe('{"__proto__":"v"}');
});

test("bytes that are no object are refused, never misread or endless", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const body = envelope("v1", "Pod", Buffer.from(bytes));
      try {
        expect(readProtobuf(tables, body)).toMatchObject({ kind: "Pod" });
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
  expect(() => readProtobuf(tables, Buffer.from("{}"))).toThrow("prefix");
  expect(() => readProtobuf(tables, envelope("v1", "Nothing", Buffer.alloc(0)))).toThrow("not known");
});

test("every entry of the tables can be read, and what it refers to is there", () => {
  const scalars = ["string", "bool", "int32", "int64", "double", "bytes", "Time", "MicroTime", "Duration", "Quantity"];
  const forms = ["IntOrString", "Raw", "Fields", "Json", "SchemaOrArray", "SchemaOrBool", "SchemaOrStrings"];
  for (const struct of Object.keys({ ...CORE_TABLES, ...GROUP_TABLES, ...DEFINITION_TABLES })) {
    for (const { type } of tables.fields(struct) ?? []) {
      const known = [...scalars, ...forms].includes(type) || tables.fields(type) !== undefined;
      expect(known, `${struct} refers to ${type}`).toBe(true);
    }
  }
});

test("fields that a kind does not have are found at any depth", () => {
  const spec = { containers: [{ name: "a", livenessProbe: { httpGet: { port: 1 }, bogus: 1 } }], colour: "red" };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", labels: { any: "x" } }, spec };
  expect(unknownBuiltInFields(tables, pod)).toEqual(["spec.containers[0].livenessProbe.bogus", "spec.colour"]);
  expect(unknownBuiltInFields(tables, { apiVersion: "example.com/v1", kind: "Widget" })).toEqual([]);
});
