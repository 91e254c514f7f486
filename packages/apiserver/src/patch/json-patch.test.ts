import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAXIMUM_BODY, MAXIMUM_DEPTH } from "../bounds.ts";
import { applyJsonPatch } from "./index.ts";
import { jsonEqual } from "../json/values.ts";

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
  ["replaces an item", { l: [1, 2, 3] }, [{ op: "replace", path: "/l/1", value: {} }], { l: [1, {}, 3] }],
  ["replaces what is not there", {}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  ["adds the whole", { a: 1 }, [{ op: "add", path: "", value: 2 }], 2],
  ["adds null for no value", {}, [{ op: "add", path: "/a" }], { a: null }],
  ["adds at the end of a list", { l: [1] }, [{ op: "add", path: "/l/1", value: 2 }], { l: [1, 2] }],
  ["removes the whole", { a: 1 }, [{ op: "remove", path: "" }], null],
  ["removes the last item", { l: [1, 2] }, [{ op: "remove", path: "/l/1" }], { l: [1] }],
  ["tests the whole", { a: 1 }, [{ op: "test", path: "", value: { a: 1 } }], { a: 1 }],
  [
    "tests a value that an operation has set",
    {},
    [
      { op: "add", path: "/a", value: { b: [1] } },
      { op: "test", path: "/a", value: { b: [1] } },
    ],
    { a: { b: [1] } },
  ],
  ["moves a value to where it is", { a: { b: 1 } }, [{ op: "move", from: "/a", path: "/a" }], { a: { b: 1 } }],
  ["moves a value to a longer name", { a: 1 }, [{ op: "move", from: "/a", path: "/ab" }], { ab: 1 }],
  ["moves a value up", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/a" }], { a: 1 }],
  ["copies what is not there as null", {}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
  ["copies the whole", { a: 1 }, [{ op: "copy", from: "", path: "/b" }], { a: 1, b: { a: 1 } }],
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

/** Document, operations, code, message; the index of the operation at fault is in both its details and the message. */
const REFUSES: readonly [string, unknown, unknown, string, string][] = [
  ["a patch that is no list", {}, {}, "PATCH_MALFORMED", "a JSON patch is a list of operations"],
  ["an operation that is none", {}, [1], "PATCH_MALFORMED", "operation 0: an operation is an object"],
  ["an unknown operation", {}, [{ op: "set", path: "/a" }], "PATCH_MALFORMED", 'operation 0: unknown operation "set"'],
  ["no operation", {}, [{ path: "/a" }], "PATCH_MALFORMED", "operation 0: unknown operation null"],
  [
    "an inherited operation",
    {},
    [Object.create({ op: "remove", path: "" }) as object],
    "PATCH_MALFORMED",
    "operation 0: unknown operation null",
  ],
  ["no pointer", {}, [{ op: "remove" }], "PATCH_MALFORMED", 'operation 0: "path" must be a JSON pointer'],
  [
    "no pointer to what is copied",
    { a: 1 },
    [{ op: "copy", path: "/b" }],
    "PATCH_MALFORMED",
    'operation 0: "from" must be a JSON pointer',
  ],
  [
    "no pointer to what is moved",
    { a: 1 },
    [{ op: "move", path: "/b", from: 1 }],
    "PATCH_MALFORMED",
    'operation 0: "from" must be a JSON pointer',
  ],
  [
    "a pointer without a slash",
    {},
    [{ op: "remove", path: "a" }],
    "PATCH_MALFORMED",
    'operation 0: "path" must start with "/": "a"',
  ],
  [
    "a test without value",
    {},
    [{ op: "test", path: "/a" }],
    "PATCH_MALFORMED",
    'operation 0: operation "test" needs a "value"',
  ],
  [
    "a later operation that is malformed before any is applied",
    {},
    [{ op: "remove", path: "/a" }, { op: "set" }],
    "PATCH_MALFORMED",
    'operation 1: unknown operation "set"',
  ],
  [
    "removing what is not there",
    { a: 1 },
    [
      { op: "remove", path: "/a" },
      { op: "remove", path: "/a" },
    ],
    "PATCH_FAILED",
    'operation 1 at "/a": no such value',
  ],
  [
    "removing from a value",
    { a: 1 },
    [{ op: "remove", path: "/a/b~c~1d" }],
    "PATCH_FAILED",
    'operation 0 at "/a/b~0c~1d": no such value',
  ],
  [
    "replacing below what is not there",
    {},
    [{ op: "replace", path: "/a/b", value: 1 }],
    "PATCH_FAILED",
    'operation 0 at "/a": no such value',
  ],
  [
    "replacing beyond the end of a list",
    { l: [1] },
    [{ op: "replace", path: "/l/1", value: 1 }],
    "PATCH_FAILED",
    'operation 0 at "/l/1": no such value',
  ],
  [
    "copying what is not there",
    { l: [1] },
    [{ op: "copy", from: "/l/-", path: "/a" }],
    "PATCH_FAILED",
    'operation 0 at "/l/-": no such value',
  ],
  [
    "moving what is not there",
    {},
    [{ op: "move", from: "/a", path: "/a" }],
    "PATCH_FAILED",
    'operation 0 at "/a": no such value',
  ],
  [
    "adding below what is not there",
    {},
    [{ op: "add", path: "/a/b", value: 1 }],
    "PATCH_FAILED",
    'operation 0 at "/a": no such value',
  ],
  [
    "adding to a value",
    { a: 1 },
    [{ op: "add", path: "/a/b", value: 1 }],
    "PATCH_FAILED",
    'operation 0 at "/a/b": its parent is neither object nor list',
  ],
  [
    "an index beyond the end",
    { l: [] },
    [{ op: "add", path: "/l/1", value: 1 }],
    "PATCH_FAILED",
    'operation 0 at "/l/1": no such place in the list',
  ],
  [
    "an index with a leading zero",
    { l: [1, 2] },
    [{ op: "remove", path: "/l/01" }],
    "PATCH_FAILED",
    'operation 0 at "/l/01": no such value',
  ],
  [
    "a test that fails",
    { a: 1 },
    [{ op: "test", path: "/a", value: "1" }],
    "PATCH_FAILED",
    'operation 0 at "/a": the value is not the expected one',
  ],
  [
    "moving a value into itself",
    { a: { b: {} } },
    [{ op: "move", from: "/a", path: "/a/b" }],
    "PATCH_FAILED",
    'operation 0 at "/a/b": a value cannot move into itself',
  ],
  [
    "inherited names",
    {},
    [{ op: "test", path: "/constructor/name", value: "Object" }],
    "PATCH_FAILED",
    'operation 0 at "/constructor": no such value',
  ],
];

/** Whether a test of the value at /a succeeds. */
const TESTS: readonly [unknown, unknown, boolean][] = [
  [{ a: null }, null, true],
  [{}, null, true],
  [{}, 0, false],
  [{ a: [1, { b: 2 }] }, [1, { b: 2 }], true],
  [{ a: [1] }, [1, 2], false],
  [{ a: [1, 2] }, [1], false],
  [{ a: [1, 2] }, [2, 1], false],
  [{ a: [null] }, [null], true],
  [{ a: ["b"] }, { 0: "b" }, false],
  [{ a: { 0: "b" } }, ["b"], false],
  [{ a: {} }, [], false],
  [{ a: { b: 1 } }, { b: 1, c: 1 }, false],
  [{ a: { b: 1, c: 1 } }, { b: 1 }, false],
  [{ a: { b: null } }, { c: null }, false],
  [{ a: { b: null } }, { b: null }, true],
  [{ a: { b: 1 } }, { b: 2 }, false],
  [{ a: { b: 1, c: 1 } }, { b: 2, c: 1 }, false],
];

describe("a JSON patch", () => {
  it.each(APPLIES)("%s", (_, document, operations, result) => {
    const [given, patch] = structuredClone([document, operations]);
    expect(applyJsonPatch(given, patch)).toEqual(result);
    expect([given, patch]).toEqual([document, operations]);
  });

  it.each(REFUSES)("refuses %s", (_, document, operations, code, message) => {
    const [, index = "-1", path] = /^operation (\d+)(?: at "(.*?)")?/.exec(message) ?? [];
    const details = { index: Number(index), ...(path === undefined ? {} : { path }) };
    const refusal = expect.objectContaining({ code, message, details }) as unknown;
    expect(() => applyJsonPatch(structuredClone(document), operations)).toThrow(refusal as Error);
  });

  it.each(TESTS)("of %j, a test of /a for %j succeeds: %j", (document, value, succeeds) => {
    const test = () => applyJsonPatch(document, [{ op: "test", path: "/a", value }]);
    if (succeeds) expect(test()).toEqual(document);
    else expect(test).toThrow('operation 0 at "/a": the value is not the expected one');
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

/** No object or list is in two places. */
function expectSeparate(value: unknown, seen: Set<unknown>): void {
  if (typeof value !== "object" || value === null) return;
  expect(seen.has(value)).toBe(false);
  seen.add(value);
  for (const member of Object.values(value)) expectSeparate(member, seen);
}

describe("a JSON patch that copies", () => {
  it("makes a value of its own", () => {
    const patched = applyJsonPatch({ a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/c" }]) as Record<
      string,
      unknown
    >;
    expect(patched).toEqual({ a: { b: 1 }, c: { b: 1 } });
    expect(patched["c"]).not.toBe(patched["a"]);
  });

  it("gives what copies of whole values give, wherever the copies and their origins change", () => {
    const pointer = fc.constantFrom("", "/a", "/b", "/a/c", "/a/-", "/b/0", "/b/-", "/a/0/c", "/b/c", "/b/1/0");
    const operation = fc.record({
      op: fc.constantFrom("copy", "copy", "move", "add", "remove", "replace"),
      path: pointer,
      from: pointer,
      value: fc.constantFrom(1, "x", [], [{}], { c: {} }, { c: [[]] }),
    });
    const slowly = (document: unknown, operations: readonly object[]): unknown =>
      operations.reduce<unknown>(
        (state, one) => applyJsonPatch(structuredClone(state), [structuredClone(one)]),
        document,
      );
    const outcome = (work: () => unknown): unknown => {
      try {
        return work();
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 12 }), (operations) => {
        const document = { a: [{ c: {} }], b: { c: [1] } };
        const result = outcome(() => applyJsonPatch(document, operations));
        expect(result).toEqual(outcome(() => slowly(document, operations)));
        expect(document).toEqual({ a: [{ c: {} }], b: { c: [1] } });
        expectSeparate(result, new Set());
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the limits of a JSON patch", () => {
  it("refuses more operations than 10,000", () => {
    const tests = (count: number) => Array.from({ length: count }, () => ({ op: "test", path: "", value: 1 }));
    expect(applyJsonPatch(1, tests(10_000))).toBe(1);
    const message = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    expect(() => applyJsonPatch(1, tests(10_001))).toThrow(
      expect.objectContaining({ code: "PATCH_TOO_LARGE", message, details: { index: -1 } }) as Error,
    );
  });

  it("takes what costs just as much as it may, and refuses the operation after that", () => {
    const members = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 0]));
    const tests = Array.from({ length: 2001 }, () => ({ op: "test", path: "", value: members }));
    const message = "operation 2000: the operations cost too much; use another type of patch";
    expect(() => applyJsonPatch(members, tests)).toThrow(
      expect.objectContaining({ code: "PATCH_TOO_LARGE", message, details: { index: 2000 } }) as Error,
    );
  });

  it("takes a result that is just as large as it may be, and copies that add as much", () => {
    const around = '{"a":""}'.length + 1;
    const result = (size: number) => applyJsonPatch({}, [{ op: "add", path: "/a", value: "x".repeat(size - around) }]);
    expect(result(MAXIMUM_BODY)).toHaveProperty("a");
    const message = `the patched object is larger than ${MAXIMUM_BODY} bytes`;
    expect(() => result(MAXIMUM_BODY + 1)).toThrow(
      expect.objectContaining({ code: "PATCH_TOO_LARGE", message, details: { index: -1 } }) as Error,
    );
    const copy = { op: "copy", from: "/a", path: "/a" };
    const copied = (size: number) => applyJsonPatch({ a: "x".repeat(size - 2) }, [copy, copy]);
    expect(copied(MAXIMUM_BODY / 2)).toHaveProperty("a");
    expect(() => copied(MAXIMUM_BODY / 2 + 1)).toThrow(
      expect.objectContaining({ code: "PATCH_FAILED", details: { index: 1, path: "/a" } }) as Error,
    );
  });

  it("takes a result of as many levels as it may have, and copies that make no more", () => {
    const nested = (levels: number): unknown =>
      levels === 0 ? 1 : levels % 2 ? { a: nested(levels - 1) } : [nested(levels - 1)];
    const add = { op: "add", path: "/b", value: 1 };
    const half = MAXIMUM_DEPTH / 2;
    expect(applyJsonPatch(nested(MAXIMUM_DEPTH - 1), [add])).toHaveProperty("b");
    expect(() => applyJsonPatch(nested(MAXIMUM_DEPTH + 1), [add])).toThrow("the patched object has too many levels");
    const below = (levels: number, value: number) => {
      const path = "/a/0".repeat(levels).slice(0, 2 * levels);
      return applyJsonPatch({ x: nested(value), y: nested(levels) }, [{ op: "copy", from: "/x", path: `/y${path}` }]);
    };
    expect(below(half - 1, half)).toHaveProperty("y");
    expect(() => below(half - 1, half + 1)).toThrow("the patched object has too many levels");
    const copy = { op: "copy", from: "/x", path: "/z" };
    expect(() => applyJsonPatch({ x: nested(MAXIMUM_DEPTH + 1) }, [copy])).toThrow(
      'operation 0 at "/x": the value has too many levels',
    );
  });
});
