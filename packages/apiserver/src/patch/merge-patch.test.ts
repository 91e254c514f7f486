import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonEqual } from "../json/values.ts";
import { applyMergePatch } from "./merge-patch.ts";

// The first rows are those of RFC 7386, Appendix A.
test.each<[unknown, unknown, unknown]>([
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
  // As kube-apiserver does it: nulls within lists go, but where a list takes the place of an object.
  [{ a: 1 }, { a: [{ b: null, c: 1 }, [{ d: null }], null] }, { a: [{ c: 1 }, [{}], null] }],
  [{}, { a: [{ b: null, c: [{ d: null }, null] }] }, { a: [{ c: [{}, null] }] }],
  [{ a: [1] }, { a: [{ b: null }] }, { a: [{}] }],
  [{ a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  [undefined, { a: null, b: { c: null } }, { b: {} }],
  [{ toString: 1 }, { constructor: 2 }, { constructor: 2, toString: 1 }],
])("a merge patch of %j with %j gives %j", (document, patch, expected) => {
  const given = structuredClone(document);
  expect(applyMergePatch(given, structuredClone(patch))).toEqual(expected);
  expect(given).toEqual(document);
});

test("members are in the order of their names", () => {
  expect(JSON.stringify(applyMergePatch({ c: 1, a: 1 }, { d: 1, b: 1 }))).toBe('{"a":1,"b":1,"c":1,"d":1}');
});

test("a merge patch that is applied three times changes no more than one applied twice", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const twice = applyMergePatch(applyMergePatch(target, patch), patch);
      expect(jsonEqual(applyMergePatch(twice, patch), twice)).toBe(true);
    }),
  );
});
