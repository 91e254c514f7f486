import { describe, expect, test } from "vitest";
import type { Json } from "../../json/values.ts";
import { BOOLEAN, DEDUCED, listOf, mapOf, NUMERIC, STRING, type MergeType } from "../../schema/merge-type.ts";
import { compare } from "./compare.ts";
import { elementsOf, itemElement, printed } from "./elements.ts";
import { EMPTY, pathsSet, printedPaths, fromFieldsV1, type FieldSet } from "./field-set.ts";
import { merge } from "./merge.ts";
import { chosen, memberType, narrowed } from "./narrow.ts";
import { fieldsOf, removePaths, withNamedFields } from "./values.ts";

const ITEM: MergeType = { map: mapOf({ name: () => STRING, value: () => NUMERIC, inner: () => OBJECT }) };
const OBJECT: MergeType = {
  map: mapOf({
    text: () => STRING,
    number: () => NUMERIC,
    flag: () => BOOLEAN,
    open: () => DEDUCED,
    inner: () => OBJECT,
    texts: () => ({ map: mapOf({}, () => STRING) }),
    whole: () => ({ map: mapOf({}, () => STRING, true) }),
    atomic: () => ({ list: listOf(() => STRING) }),
    set: () => ({ list: listOf(() => STRING, { relation: "set" }) }),
    keyed: () => ({ list: listOf(() => ITEM, { relation: "map", keys: ["name"] }) }),
  }),
};

const paths = (fields: FieldSet): string => printedPaths(fields).join(" ");

/** "+added ~modified -removed" */
function difference(before: Json | undefined, after: Json | undefined): string {
  const { added, modified, removed } = compare(before, after, OBJECT);
  const parts: [string, FieldSet][] = [
    ["+", added],
    ["~", modified],
    ["-", removed],
  ];
  return parts.flatMap(([sign, set]) => printedPaths(set).map((p) => `${sign}${p}`)).join(" ");
}

const items = (...names: readonly string[]): Json => names.map((name) => ({ name }));

// The rows are those of structured-merge-diff's typed/symdiff_test.go, as far as they are about what may be owned.
describe("the difference of two objects", () => {
  test.each<[string, Json, Json, string]>([
    [
      "is a member with the name of a method",
      { texts: { a: "1" } },
      { texts: { a: "1", toString: "2" } },
      "+.texts.toString",
    ],
    ["is nothing", { text: "a", inner: { text: "b" } }, { text: "a", inner: { text: "b" } }, ""],
    ["is a field that is new", {}, { text: "a" }, "+.text"],
    ["is a field that is gone", { text: "a", flag: true }, { flag: true }, "-.text"],
    ["is a field with another value", { text: "a" }, { text: "b" }, "~.text"],
    ["is a field with another type", { open: 1 }, { open: { a: 1 } }, "~.open +.open.a"],
    ["is a field below", { inner: { text: "a", flag: true } }, { inner: { text: "b" } }, "~.inner.text -.inner.flag"],
    [
      "is an object that is new, with all in it",
      { flag: true },
      { flag: true, inner: { text: "a" } },
      "+.inner +.inner.text",
    ],
    [
      "is an object that is gone, with all in it",
      { flag: true, inner: { text: "a" } },
      { flag: true },
      "-.inner -.inner.text",
    ],
    ["is an object that is empty", { flag: true }, { flag: true, inner: {} }, "+.inner"],
    ["is an object that is emptied", { inner: { text: "a" } }, { inner: {} }, "-.inner.text"],
    ["is nothing between objects without members", { inner: {} }, { inner: {} }, ""],
    ["is an object in place of null", { inner: null }, { inner: {} }, "~.inner"],
    [
      "is a member of a map",
      { texts: { a: "1", b: "2" } },
      { texts: { a: "1", b: "3", c: "4" } },
      "+.texts.c ~.texts.b",
    ],
    ["is an atomic map as a whole", { whole: { a: "1" } }, { whole: { a: "2" } }, "~.whole"],
    ["is an atomic list as a whole", { atomic: ["a"] }, { atomic: ["a", "b"] }, "~.atomic"],
    ["is a value of a set", { set: ["a", "b"] }, { set: ["b", "c"] }, '+.set[="c"] -.set[="a"]'],
    ["is no order of a set", { set: ["a", "b"] }, { set: ["b", "a"] }, ""],
    ["is a set that is new", { flag: true }, { flag: true, set: ["a"] }, '+.set +.set[="a"]'],
    ["is a set that is empty", { flag: true }, { flag: true, set: [] }, "+.set"],
    ["is a set that is emptied", { set: ["a"] }, { set: [] }, '-.set[="a"]'],
    ["is nothing between empty sets", { set: [] }, { set: [] }, ""],
    ["is an empty set in place of null", { set: null }, { set: [] }, "~.set"],
    ["is an item", { keyed: items("a") }, { keyed: items("a", "b") }, '+.keyed[name="b"] +.keyed[name="b"].name'],
    [
      "is a field of an item",
      { keyed: [{ name: "a", value: 1 }] },
      { keyed: [{ name: "a", value: 2 }] },
      '~.keyed[name="a"].value',
    ],
    ["is nothing between items that are there twice", { keyed: items("a", "a") }, { keyed: items("a", "a") }, ""],
    [
      "is an item that is there twice, as a whole",
      { keyed: [{ name: "a" }, { name: "a", value: 1 }] },
      { keyed: [{ name: "a" }, { name: "a", value: 2 }] },
      '~.keyed[name="a"]',
    ],
    [
      "is an item that comes to be there twice",
      { keyed: items("a") },
      { keyed: items("a", "a") },
      '+.keyed[name="a"] -.keyed[name="a"] -.keyed[name="a"].name',
    ],
    [
      "is an item that is there only once again",
      { keyed: items("a", "a") },
      { keyed: items("a") },
      '+.keyed[name="a"] +.keyed[name="a"].name -.keyed[name="a"]',
    ],
    ["is an item that was there twice", { keyed: items("a", "a", "b") }, { keyed: items("b") }, '-.keyed[name="a"]'],
    ["is an item that is new twice", { keyed: items("b") }, { keyed: items("b", "a", "a") }, '+.keyed[name="a"]'],
  ])("%s", (_what, before, after, expected) => {
    expect(difference(before, after).split(" ").toSorted()).toEqual(expected.split(" ").toSorted());
  });

  test("is all of an object that is new or gone", () => {
    expect(difference(undefined, undefined)).toBe("");
    expect(compare(undefined, { text: "a" }, OBJECT)).toMatchObject({ added: { member: true }, removed: EMPTY });
    expect(compare({ text: "a" }, undefined, OBJECT)).toMatchObject({ added: EMPTY, removed: { member: true } });
    expect(compare({ text: "a" }, { text: "a" }, OBJECT).modified).toBe(EMPTY);
  });
});

describe("the fields that a configuration sets", () => {
  test.each<[string, Json, string]>([
    ["are its leaves", { text: "a", inner: { flag: true } }, ".text .inner.flag"],
    ["are objects without members", { inner: {} }, ".inner"],
    ["are nulls", { text: null, inner: null }, ".inner .text"],
    ["are members of maps", { texts: { a: "1" } }, ".texts.a"],
    ["are maps whose members are not declared", { open: { a: { b: 1 } } }, ".open.a .open.a.b"],
    ["are atomic maps as a whole", { whole: { a: "1" } }, ".whole"],
    ["are atomic lists as a whole", { atomic: ["a"] }, ".atomic"],
    ["are values of sets", { set: ["a", "b"] }, '.set[="a"] .set[="b"]'],
    ["are no sets without values", { set: [] }, ""],
    [
      "are items, and what is in them",
      { keyed: [{ name: "a", value: 1 }] },
      '.keyed[name="a"] .keyed[name="a"].name .keyed[name="a"].value',
    ],
    ["are items that are there twice, as a whole", { keyed: items("a", "a") }, '.keyed[name="a"]'],
  ])("%s", (_what, value, expected) => {
    expect(paths(fieldsOf(value, OBJECT)).split(" ").toSorted()).toEqual(expected.split(" ").toSorted());
  });

  test("are as a whole where it is no object", () => {
    expect(fieldsOf("a", STRING).member).toBe(true);
    expect(fieldsOf(null, OBJECT)).toBe(EMPTY);
    expect(fieldsOf(["a"], DEDUCED).member).toBe(true);
    expect(fieldsOf(null, { list: listOf(() => STRING, { relation: "set" }) })).toBe(EMPTY);
  });
});

describe("a value without paths", () => {
  const without = (value: Json, ...fields: readonly string[]): Json =>
    removePaths(value, pathsSet(...fields.map((f) => f.split("."))), OBJECT);
  const whole = { text: "a", inner: { text: "b", flag: true }, texts: { a: "1" } };
  test.each<[string, Json, Json]>([
    ["loses fields", without(whole, "text", "inner.flag"), { inner: { text: "b" }, texts: { a: "1" } }],
    ["loses objects", without(whole, "inner"), { text: "a", texts: { a: "1" } }],
    ["has null where all is lost", without(whole, "texts.a"), { text: "a", inner: whole.inner, texts: null }],
    ["is null where all is lost", without({ text: "a" }, "text"), null],
    ["loses nothing that is not there", without(whole, "x", "inner.x"), whole],
    [
      "has null for an atomic map of which a part is lost",
      without({ text: "a", whole: { a: "1" } }, "whole.a"),
      { text: "a", whole: null },
    ],
    [
      "has null for an atomic list of which a part is lost",
      without({ text: "a", atomic: ["a"] }, "atomic.0"),
      { text: "a", atomic: null },
    ],
    ["keeps values below which something is to be lost", without({ text: "a" }, "text.x"), { text: "a" }],
  ])("%s", (_what, value, expected) => {
    expect(value).toEqual(expected);
  });

  test("loses items", () => {
    const value = {
      keyed: [
        { name: "a", value: 1 },
        { name: "b", value: 2 },
      ],
      set: ["x", "y"],
    };
    const lost = fromFieldsV1({
      "f:keyed": { 'k:{"name":"a"}': {}, 'k:{"name":"b"}': { "f:value": {} } },
      "f:set": { 'v:"x"': {} },
    });
    expect(removePaths(value, lost, OBJECT)).toEqual({ keyed: items("b"), set: ["y"] });
    const all = fromFieldsV1({ "f:set": { 'v:"x"': {}, 'v:"y"': {} } });
    expect(removePaths(value, all, OBJECT)).toEqual({ keyed: value.keyed, set: null });
    expect(removePaths({ keyed: [{ value: 1 }] }, lost, OBJECT)).toEqual({ keyed: [{ value: 1 }] });
  });
});

test("declared fields are owned where something in them is, items and members only for themselves", () => {
  const fields = fromFieldsV1({
    "f:inner": { "f:text": {} },
    "f:texts": { "f:a": {} },
    "f:open": { "f:a": { "f:b": {} } },
    "f:keyed": { 'k:{"name":"a"}': { "f:inner": { "f:text": {} } } },
    "f:text": {},
  });
  const expected =
    '.inner .keyed .open .text .texts .inner.text .keyed[name="a"].inner .keyed[name="a"].inner.text .open.a.b .texts.a';
  expect(paths(withNamedFields(fields, OBJECT)).split(" ").toSorted()).toEqual(expected.split(" ").toSorted());
  expect(withNamedFields(EMPTY, OBJECT)).toBe(EMPTY);
});

describe("a configuration that is laid over the live object", () => {
  test.each<[string, Json, Json, Json | undefined]>([
    ["adds fields", { text: "a" }, { flag: true }, { text: "a", flag: true }],
    [
      "replaces fields",
      { text: "a", inner: { text: "b", flag: true } },
      { inner: { text: "c" } },
      { text: "a", inner: { text: "c", flag: true } },
    ],
    ["has objects without members", { text: "a" }, { inner: {} }, { text: "a", inner: {} }],
    ["sets null", { text: "a", flag: true }, { text: null }, { text: null, flag: true }],
    ["leaves an object for null", { inner: { text: "a" } }, { inner: null }, { inner: { text: "a" } }],
    ["replaces atomic maps", { whole: { a: "1" } }, { whole: { b: "2" } }, { whole: { b: "2" } }],
    ["replaces atomic lists", { atomic: ["a"] }, { atomic: ["b"] }, { atomic: ["b"] }],
    ["joins maps", { texts: { a: "1" } }, { texts: { b: "2" } }, { texts: { a: "1", b: "2" } }],
    ["replaces an object by a value", { open: { a: 1 } }, { open: 1 }, { open: 1 }],
    ["has empty lists", { text: "a" }, { set: [] }, { text: "a", set: [] }],
    ["keeps lists", { set: ["a"] }, { set: [] }, { set: ["a"] }],
    [
      "merges items",
      { keyed: [{ name: "a", value: 1 }] },
      { keyed: [{ name: "a", inner: { text: "x" } }] },
      { keyed: [{ name: "a", value: 1, inner: { text: "x" } }] },
    ],
  ])("%s", (_what, live, applied, expected) => {
    expect(merge(live, applied, OBJECT)).toEqual(expected);
  });

  test("is nothing where neither is there", () => {
    expect(merge(undefined, undefined, OBJECT)).toBeUndefined();
    expect(merge({ text: "a" }, undefined, OBJECT)).toEqual({ text: "a" });
    expect(merge(undefined, { text: "a" }, OBJECT)).toEqual({ text: "a" });
    expect(merge({}, {}, OBJECT)).toEqual({});
  });

  // The rows are those of structured-merge-diff's typed/merge_test.go and of its list-order tests.
  test.each<[string, string, string]>([
    ["abc", "", "abc"],
    ["", "abc", "abc"],
    ["abc", "abc", "abc"],
    ["abc", "cba", "cba"],
    ["ab", "c", "abc"],
    ["ab", "xa", "xab"],
    ["abc", "b", "abc"],
    ["abc", "xb", "axbc"],
    ["abc", "bx", "abcx"],
    ["abcd", "db", "acdb"],
    ["abcd", "xcy", "abxcdy"],
    ["abc", "cxa", "bcxa"],
    ["abcde", "ec", "abdec"],
    ["xayb", "ba", "xyba"],
  ])("has the values of the list %s with %s over it in the order %s", (live, applied, expected) => {
    const setOf = (values: string): Json => ({ set: values.split("") });
    expect(merge(setOf(live), setOf(applied), OBJECT)).toEqual(setOf(expected));
  });

  test("has all values: those applied in their order, the others in theirs, each before what followed it", () => {
    const subsets = (all: string): string[] =>
      all === "" ? [""] : subsets(all.slice(1)).flatMap((rest) => [rest, `${all[0]}${rest}`]);
    const orders = (all: string): string[] =>
      all === "" ? [""] : all.split("").flatMap((c) => orders(all.replace(c, "")).map((rest) => `${c}${rest}`));
    for (const live of subsets("abcd")) {
      for (const applied of subsets("abcx").flatMap(orders)) {
        const merged = merge({ set: live.split("") }, { set: applied.split("") }, OBJECT) as {
          readonly set: readonly string[];
        };
        const only = live.split("").filter((value) => !applied.includes(value));
        const what = `${live} with ${applied} over it: ${merged.set.join("")}`;
        expect(merged.set.filter((value) => applied.includes(value)).join(""), what).toBe(applied);
        expect(
          merged.set.filter((value) => !applied.includes(value)),
          what,
        ).toEqual(only);
        const following = only.filter((value) => !live.endsWith(value));
        const isBefore = (value: string): boolean =>
          merged.set.indexOf(value) < merged.set.indexOf(live[live.indexOf(value) + 1] ?? "");
        expect(
          following.filter((value) => !isBefore(value)),
          what,
        ).toEqual([]);
      }
    }
  });

  test("replaces an item that is there twice, and keeps it where it is not applied", () => {
    const twice = [{ name: "a", value: 1 }, { name: "b" }, { name: "a", value: 2 }];
    expect(merge({ keyed: twice }, { keyed: items("b") }, OBJECT)).toEqual({ keyed: twice });
    expect(merge({ keyed: twice }, { keyed: items("a") }, OBJECT)).toEqual({ keyed: items("a", "b") });
  });
});

describe("elements of lists", () => {
  const two = listOf(() => ITEM, { relation: "map", keys: ["b", "a"], keyDefaults: { a: 1 } });
  test.each<[Json, object]>([
    [{ a: 2, b: "x" }, { element: 'k:{"a":2,"b":"x"}' }],
    [{ b: "x" }, { element: 'k:{"a":1,"b":"x"}' }],
    [{ a: null }, { element: 'k:{"a":null}' }],
  ])("of %j are in the order of its keys", (item, expected) => {
    expect(itemElement(item, two)).toEqual(expected);
  });

  test("without a key are refused, with all keys in the message", () => {
    const keys = listOf(() => ITEM, { relation: "map", keys: ["b", "a"] });
    const why =
      'associative list with keys has an element that omits all key fields ["b" "a"] (and doesn\'t have default values for any key fields)';
    expect(itemElement({ c: 1 }, keys)).toEqual({ problem: why });
    const method = listOf(() => ITEM, { relation: "map", keys: ["toString"] });
    expect(itemElement({}, method)).toHaveProperty("problem");
    expect(() => elementsOf([{ c: 1 }], keys)).toThrow(
      expect.objectContaining({ code: "APPLY_INVALID", message: why, hint: "Give every item of the list its key." }),
    );
    expect(elementsOf([{ a: 1 }], keys)).toEqual([['k:{"a":1}', { a: 1 }]]);
  });

  test.each<[string, string]>([
    ["f:name", ".name"],
    ['v:"a"', '[="a"]'],
    ["i:3", "[3]"],
    ['k:{"name":"a","port":1}', '[name="a",port=1]'],
    ['k:{"a":[1,"x"],"b":{"c":true}}', '[a=[1,"x"],b=c=true]'],
    ['k:{"a":[{"b":1}]}', "[a=[b=1]]"],
  ])("%s are shown as %s", (element, expected) => {
    expect(printed(element)).toBe(expected);
  });
});

test("a value is read as one of what its type lets it be", () => {
  expect(narrowed(DEDUCED, undefined)).toBe(DEDUCED);
  expect(narrowed(DEDUCED, null)).toBe(DEDUCED);
  expect([["a"], { a: 1 }, 1].map((value) => Object.keys(narrowed(DEDUCED, value)))).toEqual([
    ["list"],
    ["map"],
    ["scalar"],
  ]);
  expect([["a"], { a: 1 }].map((value) => narrowed(STRING, value))).toEqual([STRING, STRING]);
  expect(narrowed(OBJECT, 1)).toBe(OBJECT);
  expect([DEDUCED, STRING, { list: listOf(() => STRING) }, {}].map(chosen)).toEqual(["map", "scalar", "list", "list"]);
  expect(memberType(OBJECT, "text")).toBe(STRING);
  expect(memberType(DEDUCED, "x")).toBe(DEDUCED);
  expect(memberType(STRING, "x")).toEqual({});
});
