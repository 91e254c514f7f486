import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyJsonPatch, applyMergePatch } from "./index.ts";
import { growthOf, LINEAR } from "../testing/growth.ts";
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

describe("a JSON patch of bounded cost", () => {
  const adds = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ op: "add", path: `/data/k${i}`, value: {} }));
  const doubles = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ op: "copy", from: "/data", path: `/data/c${i}` }));

  it("refuses more operations than 10,000", () => {
    expect(applyJsonPatch({ data: {} }, adds(10_000))).toHaveProperty("data.k9999");
    expect(() => applyJsonPatch({ data: {} }, adds(10_001))).toThrow(
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    );
  });

  it("takes time linear in the number of operations", () => {
    expect(growthOf(adds, (operations) => applyJsonPatch({ data: {} }, operations), 300)).toBeLessThan(LINEAR);
  });

  it("refuses copies that add more than a request may have, and copies that nest", () => {
    const data = { x: "x".repeat(1000) };
    expect(applyJsonPatch({ data }, doubles(10))).toHaveProperty("data.c9.c8.c7.x");
    for (const count of [12, 18, 40, 10_000]) {
      expect(() => applyJsonPatch({ data }, doubles(count)), String(count)).toThrow(
        "copies add more than 3145728 bytes",
      );
    }
    expect(() => applyJsonPatch({ data: {} }, doubles(10_000))).toThrow("copies add more than 3145728 bytes");
  });

  it("reads what it copies once, however often it copies it", () => {
    let reads = 0;
    const counted = {
      get x() {
        reads += 1;
        return "x";
      },
    };
    const copies = Array.from({ length: 60 }, () => ({ op: "copy", from: "/list", path: "/list/-" }));
    expect(() => applyJsonPatch({ list: [counted] }, copies)).toThrow("copies add more than 3145728 bytes");
    expect(reads).toBeLessThan(10);
  });

  it("refuses a result with more bytes or levels than a body may have", () => {
    const large = { a: "x".repeat(2_000_000) };
    expect(() => applyJsonPatch(large, [{ op: "add", path: "/b", value: "x".repeat(2_000_000) }])).toThrow(
      expect.objectContaining({ code: "PATCH_TOO_LARGE" }),
    );
    const nested = Array.from({ length: 600 }, (_, i) => ({ op: "add", path: "/a".repeat(i + 1), value: {} }));
    expect(() => applyJsonPatch({}, nested)).toThrow(expect.objectContaining({ code: "PATCH_FAILED" }));
    expect(applyJsonPatch({}, nested.slice(0, 400))).toHaveProperty("a");
  });

  it("refuses operations that move the items of a long list, or count the members of a large object, again and again", () => {
    const list = Array.from({ length: 50_000 }, () => 0);
    const members = Object.fromEntries(list.map((_, i) => [`k${i}`, 0]));
    const repeated = (operation: object): object[] => Array.from({ length: 5000 }, () => operation);
    for (const operation of [
      { op: "add", path: "/list/0", value: 1 },
      { op: "remove", path: "/list/0" },
      { op: "move", from: "/list/0", path: "/list/1" },
    ]) {
      expect(() => applyJsonPatch({ list }, repeated(operation))).toThrow("the operations cost too much");
      expect(applyJsonPatch({ list }, [operation])).toHaveProperty("list");
    }
    const same = repeated({ op: "test", path: "/members", value: members });
    expect(() => applyJsonPatch({ members }, same)).toThrow("the operations cost too much");
    expect(() => applyJsonPatch({ a: { members } }, repeated({ op: "test", path: "/a", value: { members } }))).toThrow(
      "the operations cost too much",
    );
  });

  it("does not change the values of the patch", () => {
    const operations = [
      { op: "add", path: "/a", value: { b: {} } },
      { op: "add", path: "/a/b/c", value: 1 },
    ];
    expect(applyJsonPatch({}, operations)).toEqual({ a: { b: { c: 1 } } });
    expect(applyJsonPatch({}, operations)).toEqual({ a: { b: { c: 1 } } });
    expect(operations[0]?.value).toEqual({ b: {} });
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
