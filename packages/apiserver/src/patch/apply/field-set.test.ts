import { describe, expect, test } from "vitest";
import {
  difference,
  EMPTY,
  fieldSet,
  fromFieldsV1,
  intersection,
  isEmpty,
  LEAF,
  pathsSet,
  printedPaths,
  toFieldsV1,
  union,
  unionOf,
  without,
  type FieldSet,
} from "./field-set.ts";

/** A set of paths such as "spec.replicas". */
const set = (...paths: readonly string[]): FieldSet => pathsSet(...paths.map((p) => p.split(".")));
const shown = (fields: FieldSet): string[] => printedPaths(fields).map((p) => p.slice(1));
const root = (fields: FieldSet): FieldSet => ({ ...fields, member: true });

const [A, B] = [set("a.b", "a.c", "d"), set("a.b", "d.e", "f")];

// The rows are those of structured-merge-diff's fieldpath/set_test.go.
describe("sets of field paths", () => {
  test.each<[string, FieldSet, readonly string[]]>([
    ["have unions", union(A, B), ["d", "f", "a.b", "a.c", "d.e"]],
    ["have the same unions in the other order", union(B, A), ["d", "f", "a.b", "a.c", "d.e"]],
    ["have unions of many", unionOf([A, EMPTY, B, set("g")]), ["d", "f", "g", "a.b", "a.c", "d.e"]],
    ["have unions of none", unionOf([]), []],
    ["have intersections", intersection(A, B), ["a.b"]],
    ["have intersections of members", intersection(union(A, set("a")), set("a")), ["a"]],
    ["have differences", difference(A, B), ["d", "a.c"]],
    ["have other differences", difference(B, A), ["f", "d.e"]],
    ["have differences of parents", difference(set("a", "a.b"), set("a")), ["a.b"]],
    ["lose what is below", without(B, A), ["f"]],
    ["lose nothing that is above", without(A, B), ["d", "a.c"]],
    ["lose all with their root", without(A, LEAF), []],
  ])("%s", (_what, fields, expected) => {
    expect(shown(fields)).toEqual(expected);
  });

  test("are returned as they are where nothing changes", () => {
    expect(union(A, set("a.b", "d"))).toBe(A);
    expect(union(A, EMPTY)).toBe(A);
    expect(union(EMPTY, A)).toBe(A);
    expect(unionOf([EMPTY, A])).toBe(A);
    expect(difference(A, set("x", "a.x"))).toBe(A);
    expect(without(A, set("x"))).toBe(A);
    expect(difference(root(A), EMPTY)).toEqual(root(A));
  });

  test("have members at their root", () => {
    expect(union(A, root(EMPTY)).member).toBe(true);
    expect(union(root(A), B).member).toBe(true);
    expect(union(A, B).member).toBe(false);
    expect(unionOf([root(A), B]).member).toBe(true);
    expect(unionOf([A, B]).member).toBe(false);
    expect([intersection(root(A), root(B)).member, intersection(root(A), B).member]).toEqual([true, false]);
    expect(intersection(A, root(B)).member).toBe(false);
    expect([difference(root(A), B).member, difference(root(A), root(B)).member]).toEqual([true, false]);
    expect(difference(A, B).member).toBe(false);
    expect(without(root(A), B).member).toBe(true);
  });

  test("are empty without members and children", () => {
    expect([EMPTY, LEAF, A].map(isEmpty)).toEqual([true, false, false]);
    expect(isEmpty(difference(A, A))).toBe(true);
    expect(fieldSet(false, [["f:a", EMPTY]])).toBe(EMPTY);
    expect(fieldSet(true, [["f:a", EMPTY]])).toBe(LEAF);
    expect(fieldSet(false, [["f:a", LEAF]]).children.size).toBe(1);
    expect(pathsSet([])).toBe(LEAF);
  });
});

describe("fieldsV1", () => {
  const wire = {
    "f:a": { ".": {}, "f:b": {}, 'k:{"x":1}': { ".": {}, "f:x": {} }, 'v:"y"': {}, "i:0": {} },
    "f:c": {},
  };

  test("is read and written", () => {
    const read = fromFieldsV1(wire);
    expect(toFieldsV1(read)).toEqual(wire);
    expect(JSON.stringify(toFieldsV1(read))).toBe(JSON.stringify(wire));
    expect(read.member).toBe(false);
    expect([read.children.get("f:a")?.member, read.children.get("f:c")?.member]).toEqual([true, true]);
  });

  test("has its elements in order: fields, keys, values, places", () => {
    const mixed = fromFieldsV1({ "i:0": {}, 'v:"y"': {}, 'k:{"x":2}': {}, 'k:{"x":1}': {}, "f:b": {}, "f:a": {} });
    const order = ["f:a", "f:b", 'k:{"x":1}', 'k:{"x":2}', 'v:"y"', "i:0"];
    expect(Object.keys(toFieldsV1(mixed))).toEqual(order);
    expect(printedPaths(mixed)).toEqual([".a", ".b", "[x=1]", "[x=2]", '[="y"]', "[0]"]);
  });

  test.each<[string, unknown, FieldSet]>([
    ["that is no object is empty", "x", EMPTY],
    ["that is a list is empty", [], EMPTY],
    ["without elements is empty", {}, EMPTY],
    ["has no elements that are none", { "x:a": {}, other: {} }, EMPTY],
    ["may name its root", { ".": {} }, LEAF],
    ["has elements whose own are none", { "f:a": { "x:a": {} } }, set("a")],
    ["has no elements that are no objects", { "f:a": "x" }, EMPTY],
  ])("%s", (_what, given, expected) => {
    expect(fromFieldsV1(given)).toEqual(expected);
  });

  test("says that a parent is a member, but not that a leaf is one", () => {
    expect(toFieldsV1(union(set("a.b"), set("a")))).toEqual({ "f:a": { ".": {}, "f:b": {} } });
    expect(toFieldsV1(set("a"))).toEqual({ "f:a": {} });
    expect(toFieldsV1(set("a.b"))).toEqual({ "f:a": { "f:b": {} } });
  });
});
