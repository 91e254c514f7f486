import { describe, expect, it } from "vitest";
import { growthOf, LINEAR } from "../testing/growth.ts";
import { compileSchema } from "./index.ts";

const string = { type: "string" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const map = (keys: readonly string[], properties: object) => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
  items: object(properties, { required: keys }),
});
const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `i${i}`, v: "x" }));

describe("the cost of validating a custom resource", () => {
  it("is linear in the items of a list of type map that replaces another", () => {
    const schema = compileSchema(object({ list: map(["id"], { id: string, v: { ...string, maxLength: 0 } }) }));
    const lists = (count: number) => ({ old: { list: numbered(count) }, list: numbered(count + 1).toReversed() });
    const errors = ({ old, list }: ReturnType<typeof lists>) => schema.validate({ list }, { old });
    expect(growthOf(lists, errors, 300)).toBeLessThan(LINEAR);
    // Items that were there before may remain as they are.
    expect(errors(lists(3)).map((e) => e.field)).toEqual(["list[0].v"]);
  });

  it("is linear in the items of a set, and in those given twice", () => {
    const set = { type: "array", "x-kubernetes-list-type": "set", items: string };
    const schema = compileSchema(object({ set }));
    const sets = (count: number) => ({ set: Array.from({ length: count }, (_, i) => `s${i >> 1}`) });
    expect(growthOf(sets, (value) => schema.validate(value), 1000)).toBeLessThan(LINEAR);
    expect(schema.validate(sets(4))).toHaveLength(2);
  });

  it("is linear in the levels of an object of which one leaf changed", () => {
    let node: object = { type: "array", items: { type: "integer" } };
    for (let i = 0; i < 200; i += 1) node = object({ a: node, b: { type: "integer" } });
    const schema = compileSchema(node);
    const nested = (leaf: readonly number[]): object => {
      let value: unknown = leaf;
      for (let i = 0; i < 200; i += 1) value = { a: value, b: 1 };
      return value as object;
    };
    const leaves = (count: number) => Array.from({ length: count }, (_, i) => i);
    const change = (count: number) => ({ old: nested([...leaves(count), 1]), value: nested([...leaves(count), 2]) });
    const judge = ({ old, value }: ReturnType<typeof change>) => schema.validate(value, { old });
    // Comparing all leaves at each of 200 levels would take 200 times as long as visiting each once.
    expect(growthOf(change, judge, 500)).toBeLessThan(LINEAR);
    expect(judge(change(3))).toEqual([]);
  });

  it("reports a thousand errors at most, with paths and values that are cut", () => {
    const schema = compileSchema(object({ list: { type: "array", items: { type: "integer", maximum: 1 } } }));
    const key = "k".repeat(100_000);
    const free = compileSchema(object({ map: object({}, { additionalProperties: { type: "integer" } }) }));
    expect(schema.validate({ list: Array.from({ length: 50_000 }, () => 2) })).toHaveLength(1000);
    const [error] = free.validate({ map: { [key]: key } });
    expect(`${error?.field} ${error?.message}`.length).toBeLessThan(5000);
  });

  it("ends where values times alternatives are too many", () => {
    const anyOf = Array.from({ length: 1000 }, (_, i) => ({ enum: [`x${i}`] }));
    const schema = compileSchema(object({ list: { type: "array", items: { type: "string", anyOf } } }));
    const errors = schema.validate({ list: Array.from({ length: 1000 }, () => "x999") });
    expect(errors.at(-1)?.message).toContain("too large for the alternatives of its schema");
    expect(schema.validate({ list: ["x0", "x999"] })).toEqual([]);
  });

  it("does not grow with the values that an enum allows", () => {
    const allowed = Array.from({ length: 5000 }, (_, i) => `x${i}`);
    const schema = compileSchema(object({ list: { type: "array", items: { type: "string", enum: allowed } } }));
    expect(schema.validate({ list: Array.from({ length: 100_000 }, () => "x4999") })).toEqual([]);
    const [error] = schema.validate({ list: ["y"] });
    expect(error?.message.length).toBeLessThan(5000);
  });

  it("counts converting values for rules at every level", () => {
    const rules = { "x-kubernetes-validations": [{ rule: "true" }] };
    let node: object = { type: "array", items: { type: "integer" } };
    for (let i = 0; i < 100; i += 1) node = { ...object({ a: node }), ...rules };
    const schema = compileSchema(node);
    const nested = (count: number): object => {
      let value: unknown = Array.from({ length: count }, () => 1);
      for (let i = 0; i < 100; i += 1) value = { a: value };
      return value as object;
    };
    expect(schema.validate(nested(10))).toEqual([]);
    expect(schema.validate(nested(200_000)).length).toBeGreaterThan(0);
  });
});

describe("the cost of a CEL rule while it runs", () => {
  const list = { type: "array", items: string };
  const schema = (rule: string) =>
    compileSchema(object({ a: list, b: list, s: string }, { "x-kubernetes-validations": [{ rule }] }));
  const strings = Array.from({ length: 20_000 }, (_, i) => `s${i}`);
  const text = "a".repeat(100_000);

  it.each([
    ["searching a list for each item of another", "self.a.all(x, x in self.b)"],
    ["comparing two lists for each item", "self.a.all(x, self.a == self.b || true)"],
    ["comparing sets", "sets.contains(self.b, self.a)"],
    ["matching a pattern for each item", "self.a.all(x, !self.s.matches('(a|b|ab)*c'))"],
    ["replacing with a long text", "self.s.replace('a', self.s) != ''"],
    ["matching a hostile pattern", "!self.s.matches('^a{0,999}a{0,999}a{0,999}a{0,999}b$')"],
  ])("is limited: %s", (_, rule) => {
    const errors = schema(rule).validate({ a: strings, b: [...strings, "t"], s: text });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toMatch(/cost limit exceeded|call cost|too long for its pattern|cost/i);
  });
});

describe("the size that defaults may add", () => {
  const long = "x".repeat(100_000);
  const items = (properties: object) => compileSchema(object({ list: { type: "array", items: object(properties) } }));
  const empty = (count: number) => ({ list: Array.from({ length: count }, () => ({})) });

  it.each([
    ["long defaults", { a: { ...string, default: long } }],
    ["defaults within defaults", { a: object({ b: { ...string, default: long } }, { default: {} }) }],
  ])("is limited: %s of many items", (_, properties) => {
    const schema = items(properties);
    expect(schema.default(empty(10)).list).toHaveLength(10);
    expect(() => schema.default(empty(10_000))).toThrow(expect.objectContaining({ code: "SCHEMA_DEFAULTS_TOO_LARGE" }));
  });

  it("does not grow with properties that have no default", () => {
    const properties = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`p${i}`, string]));
    const schema = items(properties);
    const value = empty(20_000);
    expect(schema.default(value)).toBe(value);
  });
});
