import { describe, expect, test } from "vitest";
import type { Json } from "../../json/values.ts";
import { BOOLEAN, DEDUCED, listOf, mapOf, NUMERIC, STRING, type MergeType } from "../../schema/merge-type.ts";
import { typeProblem } from "./check.ts";

const NAMED: MergeType = { map: mapOf({ name: () => STRING, port: () => NUMERIC, more: () => STRING }) };
const TYPE: MergeType = {
  map: mapOf({
    text: () => STRING,
    number: () => NUMERIC,
    flag: () => BOOLEAN,
    any: () => ({ scalar: "untyped" }),
    open: () => DEDUCED,
    nothing: () => ({}),
    texts: () => ({ map: mapOf({}, () => STRING) }),
    atomic: () => ({ list: listOf(() => STRING) }),
    set: () => ({ list: listOf(() => STRING, { relation: "set" }) }),
    keyed: () => ({ list: listOf(() => NAMED, { relation: "map", keys: ["name"] }) }),
    twoKeys: () => ({
      list: listOf(() => NAMED, { relation: "map", keys: ["port", "name"], keyDefaults: { port: 80 } }),
    }),
  }),
};
const problem = (value: Json): string | undefined => typeProblem(value, TYPE, "refused");

// The words are those of structured-merge-diff's typed/validate.go.
describe("a configuration is of its type", () => {
  test.each<[string, Json, string | undefined]>([
    ["as it should be", { text: "a", number: 1, flag: true, any: 1, open: { a: [1] }, atomic: ["a"] }, undefined],
    ["with nulls anywhere", { text: null, number: null, texts: null, atomic: null, keyed: null, any: null }, undefined],
    ["at its root", "a", "expected map, got &{a}"],
    ["without other fields", { other: 1 }, ".other: field not declared in schema"],
    ["with texts", { text: 1 }, ".text: expected string, got &value.valueUnstructured{Value:1}"],
    [
      "with texts, not lists",
      { text: ["a", null] },
      '.text: expected string, got &value.valueUnstructured{Value:[]interface {}{"a", interface {}(nil)}}',
    ],
    [
      "with texts, not objects of several members",
      { text: { c: 1, a: "x", b: [] } },
      '.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"x", "b":[]interface {}{}, "c":1}}',
    ],
    [
      "with texts, not objects",
      { text: { b: 1, a: "x" } },
      '.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"x", "b":1}}',
    ],
    ["with numbers", { number: "1" }, ".number: expected numeric (int or float), got string"],
    ["with numbers, not flags", { number: true }, ".number: expected numeric (int or float), got bool"],
    ["with numbers, not lists", { number: [] }, ".number: expected numeric (int or float), got []interface {}"],
    [
      "with numbers, not objects",
      { number: {} },
      ".number: expected numeric (int or float), got map[string]interface {}",
    ],
    ["with flags", { flag: "x" }, ".flag: expected boolean, got &{x}"],
    ["with any scalar", { any: [1, 2] }, ".any: expected any scalar, got &{[1 2]}"],
    ["with maps", { texts: "x" }, ".texts: expected map, got &{x}"],
    ["with maps of texts", { texts: { a: 1 } }, ".texts.a: expected string, got &value.valueUnstructured{Value:1}"],
    ["with lists", { atomic: { a: 1 } }, ".atomic: expected list, got &{map[a:1]}"],
    ["with lists of texts", { atomic: ["a", 1] }, ".atomic[1]: expected string, got &value.valueUnstructured{Value:1}"],
    ["with lists that may have items twice", { atomic: ["a", "a"] }, undefined],
    ["with values of a set once", { set: ["a", "b", "a"] }, '.set: duplicate entries for key [="a"]'],
    [
      "with values of a set that are values",
      { set: [{ a: 1 }] },
      ".set: element 0: associative list without keys has an element that's a map type",
    ],
    [
      "with values of a set that are no lists",
      { set: ["a", []] },
      ".set: element 1: not supported: associative list with lists as elements",
    ],
    [
      "with values of a set that are not null",
      { set: [null] },
      ".set: element 0: associative list without keys has an element that's an explicit null",
    ],
    ["with items once", { keyed: [{ name: "a" }, { name: "a" }] }, '.keyed: duplicate entries for key [name="a"]'],
    [
      "with items that are objects",
      { keyed: ["a"] },
      ".keyed: element 0: associative list with keys may not have non-map elements",
    ],
    [
      "with items that are not null",
      { keyed: [null] },
      ".keyed: element 0: associative list with keys may not have a null element",
    ],
    [
      "with items that have a key",
      { keyed: [{ port: 1 }] },
      '.keyed: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [
      "in items",
      { keyed: [{ name: "a", port: "x" }] },
      '.keyed[name="a"].port: expected numeric (int or float), got string',
    ],
    [
      "with the defaults of keys",
      { twoKeys: [{ name: "a" }, { port: 80, name: "a" }] },
      '.twoKeys: duplicate entries for key [name="a",port=80]',
    ],
    ["with null for a key", { twoKeys: [{ port: null, name: "a" }, { name: "a" }] }, undefined],
    [
      "in all places",
      { text: 1, flag: 2 },
      "errors:\n  .text: expected string, got &value.valueUnstructured{Value:1}\n  .flag: expected boolean, got &{2}",
    ],
  ])("%s", (_what, value, expected) => {
    expect(problem(value)).toBe(expected);
  });

  test("what is stored may have items twice", () => {
    const twice = { set: ["a", "a"], keyed: [{ name: "a" }, { name: "a" }] };
    expect(typeProblem(twice, TYPE, "allowed")).toBeUndefined();
    expect(typeProblem({ keyed: [{ name: "a", port: "x" }] }, TYPE, "allowed")).toContain("expected numeric");
  });

  test("an undeclared field ends the search in its object", () => {
    expect(problem({ other: 1, text: 1 })).toBe(".other: field not declared in schema");
    expect(problem({ keyed: ["a", "b"] })).not.toContain("errors");
  });

  test("at most a thousand problems are listed", () => {
    const lines = problem({ atomic: Array.from({ length: 1500 }, () => 1) })?.split("\n") ?? [];
    expect(lines).toHaveLength(1001);
  });
});
