import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyJsonPatch, applyMergePatch } from "./index.ts";
import { jsonEqual } from "./json.ts";

/** Document, operations, result: the examples of RFC 6902, appendix A, and what it leaves to the reader. */
const APPLIES: readonly [string, unknown, readonly unknown[], unknown][] = [
  ["adds an object member", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { foo: "bar", baz: "qux" }],
  [
    "adds into a list",
    { foo: ["bar", "baz"] },
    [{ op: "add", path: "/foo/1", value: "q" }],
    { foo: ["bar", "q", "baz"] },
  ],
  ["appends to a list", { foo: [1] }, [{ op: "add", path: "/foo/-", value: [2] }], { foo: [1, [2]] }],
  ["removes a member", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  ["removes from a list", { foo: [1, 2, 3] }, [{ op: "remove", path: "/foo/1" }], { foo: [1, 3] }],
  ["replaces a value", { a: 1 }, [{ op: "replace", path: "/a", value: null }], { a: null }],
  ["replaces the whole", { a: 1 }, [{ op: "replace", path: "", value: [] }], []],
  ["moves a value", { a: { b: 1 }, c: {} }, [{ op: "move", from: "/a/b", path: "/c/d" }], { a: {}, c: { d: 1 } }],
  ["moves in a list", { l: [1, 2, 3] }, [{ op: "move", from: "/l/0", path: "/l/2" }], { l: [2, 3, 1] }],
  ["copies a value", { a: [1] }, [{ op: "copy", from: "/a", path: "/b" }], { a: [1], b: [1] }],
  ["tests a value", { a: { x: 1, y: 2 } }, [{ op: "test", path: "/a", value: { y: 2, x: 1 } }], { a: { x: 1, y: 2 } }],
  [
    "reads ~1 and ~0",
    { "a/b": 1, "m~n": 2 },
    [
      { op: "remove", path: "/a~1b" },
      { op: "remove", path: "/m~0n" },
    ],
    {},
  ],
  ["keeps __proto__ a plain key", {}, [{ op: "add", path: "/__proto__", value: 1 }], JSON.parse('{"__proto__":1}')],
];

/** Document, operations, code, index of the operation at fault. */
const REFUSES: readonly [string, unknown, unknown, string, number][] = [
  ["a patch that is no list", {}, {}, "PATCH_MALFORMED", -1],
  ["an unknown operation", {}, [{ op: "set", path: "/a" }], "PATCH_MALFORMED", 0],
  ["a pointer without a slash", {}, [{ op: "remove", path: "a" }], "PATCH_MALFORMED", 0],
  ["a test without value", {}, [{ op: "test", path: "/a" }], "PATCH_MALFORMED", 0],
  [
    "removing what is not there",
    { a: 1 },
    [
      { op: "remove", path: "/a" },
      { op: "remove", path: "/a" },
    ],
    "PATCH_FAILED",
    1,
  ],
  ["replacing below what is not there", {}, [{ op: "replace", path: "/a/b", value: 1 }], "PATCH_FAILED", 0],
  ["adding below what is not there", {}, [{ op: "add", path: "/a/b", value: 1 }], "PATCH_FAILED", 0],
  ["an index beyond the end", { l: [] }, [{ op: "add", path: "/l/1", value: 1 }], "PATCH_FAILED", 0],
  ["an index with a leading zero", { l: [1, 2] }, [{ op: "remove", path: "/l/01" }], "PATCH_FAILED", 0],
  ["a test that fails", { a: 1 }, [{ op: "test", path: "/a", value: "1" }], "PATCH_FAILED", 0],
  ["moving a value into itself", { a: { b: {} } }, [{ op: "move", from: "/a", path: "/a/b" }], "PATCH_FAILED", 0],
  ["inherited names", {}, [{ op: "test", path: "/constructor/name", value: "Object" }], "PATCH_FAILED", 0],
];

describe("a JSON patch", () => {
  it.each(APPLIES)("%s", (_, document, operations, result) => {
    const before = structuredClone(document);
    expect(applyJsonPatch(document, operations)).toEqual(result);
    expect(document).toEqual(before);
  });

  it.each(REFUSES)("refuses %s", (_, document, operations, code, index) => {
    expect(() => applyJsonPatch(document, operations)).toThrow(expect.objectContaining({ code }));
    expect(() => applyJsonPatch(document, operations)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ index }) }),
    );
  });

  it("undoes itself: adding a member and removing it gives the document again", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (document, name, value) => {
        fc.pre(!Object.hasOwn(document, name));
        const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        const result = applyJsonPatch(document, [
          { op: "add", path, value },
          { op: "test", path, value },
          { op: "remove", path },
        ]);
        expect(jsonEqual(result, document)).toBe(true);
      }),
    );
  });
});

/** Target, patch, result: RFC 7386, appendix A. */
const MERGES: readonly [unknown, unknown, unknown][] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

/** The same for what kube-apiserver does with nulls in lists, which RFC 7386 keeps. */
const NULLS: readonly [unknown, unknown, unknown][] = [
  [{}, { a: [{ b: null, c: [{ d: null }, null] }] }, { a: [{ c: [{}, null] }] }],
  [{ a: [1] }, { a: [{ b: null }] }, { a: [{}] }],
  [{ a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
];

describe("a JSON patch that copies", () => {
  it("makes a value of its own", () => {
    const patched = applyJsonPatch({ a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/c" }]) as Record<
      string,
      unknown
    >;
    expect(patched).toEqual({ a: { b: 1 }, c: { b: 1 } });
    expect(patched["c"]).not.toBe(patched["a"]);
  });
});

describe("a JSON merge patch", () => {
  it.each([...MERGES, ...NULLS])("of %j with %j gives %j", (target, patch, result) => {
    expect(applyMergePatch(target, patch)).toEqual(result);
  });

  it("applied three times changes no more than applied twice", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const twice = applyMergePatch(applyMergePatch(target, patch), patch);
        expect(jsonEqual(applyMergePatch(twice, patch), twice)).toBe(true);
      }),
    );
  });
});
