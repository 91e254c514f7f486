import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import { Tables } from "../../wire/tables.ts";
import { BuiltInTypes } from "../built-in-types.ts";
import { printedPaths } from "./field-set.ts";
import { allowedByAnnotation, withLastApplied } from "./last-applied.ts";
import type { Typed } from "./ownership.ts";
import { pathsSet } from "./field-set.ts";

const KEY = "kubectl.kubernetes.io/last-applied-configuration";
const TYPED: Typed = {
  apiVersion: "v1",
  type: new BuiltInTypes(new Tables()).ofKind("v1", "ConfigMap"),
  reset: pathsSet(["status"]),
  form: () => undefined,
};
const map = (data: object | undefined, annotations?: object): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "m", ...(annotations && { annotations }) },
    ...(data && { data }),
  }) as KubeObject;

// The rows are those of apimachinery's pkg/util/managedfields/internal/lastapplied_test.go.
describe("the fields that kubectl may take over", () => {
  const allowed = (annotation: unknown, data: object): string[] | undefined => {
    const live = map(data, annotation === undefined ? {} : { [KEY]: annotation });
    const before = { ...map(data), metadata: { name: "m" } } as never;
    const set = allowedByAnnotation(live, before, TYPED);
    return set && printedPaths(set).filter((p) => p.startsWith(".data"));
  };
  const json = (value: unknown): string => JSON.stringify(value);

  test("are what it applied and is there so", () => {
    const applied = json(map({ a: "1", b: "2", c: "3" }));
    expect(allowed(applied, { a: "1", b: "x" })).toEqual([".data.a"]);
    expect(allowed(applied, { a: "1", b: "2", c: "3", d: "4" })).toEqual([".data.a", ".data.b", ".data.c"]);
  });

  test.each<[string, unknown]>([
    ["is not there", undefined],
    ["is empty", ""],
    ["is no JSON", "{"],
    ["is no object", "[]"],
    ["is of another version", json({ ...map({ a: "1" }), apiVersion: "v2" })],
    ["is not of its type", json({ ...map(undefined), data: 1 })],
  ])("are unknown where the annotation %s", (_what, annotation) => {
    expect(allowed(annotation, { a: "1" })).toBeUndefined();
  });

  test("are unknown without an object", () => {
    expect(allowedByAnnotation(undefined, {}, TYPED)).toBeUndefined();
  });
});

describe("kubectl's record", () => {
  const recorded = (object: KubeObject, applied: KubeObject): Record<string, string> | undefined =>
    withLastApplied(object, applied).metadata.annotations as Record<string, string> | undefined;

  test("is not begun", () => {
    const [bare, other, empty] = [map({}), map({}, { a: "b" }), map({}, { [KEY]: "" })];
    expect([bare, other, empty].map((o) => withLastApplied(o, map({ x: "1" })))).toEqual([bare, other, empty]);
  });

  test("is of what is applied, as Go writes it", () => {
    const applied = map({ b: "<&>\u2028", a: "1" }, { z: "1", [KEY]: "old" });
    expect(recorded(map({}, { [KEY]: "old", x: "y" }), applied)).toEqual({
      x: "y",
      [KEY]:
        '{"apiVersion":"v1","data":{"a":"1","b":"\\u003c\\u0026\\u003e\\u2028"},"kind":"ConfigMap","metadata":{"annotations":{"z":"1"},"name":"m"}}\n',
    });
    const list = { ...map(undefined), data: [1, null, true, { b: "<", a: 1 }] } as unknown as KubeObject;
    expect(recorded(map({}, { [KEY]: "old" }), list)?.[KEY]).toContain('"data":[1,null,true,{"a":1,"b":"\\u003c"}]');
  });

  test("goes where annotations would be larger than 256 KiB", () => {
    const base = `{"apiVersion":"v1","data":{"a":""},"kind":"ConfigMap","metadata":{"name":"m"}}\n`.length + KEY.length;
    const sized = (size: number) =>
      recorded(map({}, { [KEY]: "old", x: "y" }), map({ a: "v".repeat(size - base - 2) }));
    expect(Object.keys(sized(256 * 1024) ?? {})).toEqual(["x", KEY]);
    expect(sized(256 * 1024 + 1)).toEqual({ x: "y" });
  });
});
