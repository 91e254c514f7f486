import { describe, expect, it } from "vitest";
import { compileSchema, formatFieldError } from "../index.ts";

const string = { type: "string" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const array = (items: object, more: object = {}) => ({ type: "array", items, ...more });
const wrap = (spec: unknown) => ({ apiVersion: "x.io/v1", kind: "X", metadata: { name: "x" }, spec });

/** Rules on spec, the spec, the old one, complaints. */
const rule = (text: string, more: object = {}) => ({ rule: text, ...more });
const RULES: readonly [string, object, object, object | null | undefined, readonly string[]][] = [
  ["holds", rule("self.a <= self.b"), { a: 1, b: 2 }, undefined, []],
  [
    "fails with its own text",
    rule("self.a <= self.b"),
    { a: 2, b: 1 },
    undefined,
    ['spec: Invalid value: "object": failed rule: self.a <= self.b'],
  ],
  [
    "fails with its message",
    rule("self.a < 1", { message: "a must be small" }),
    { a: 2 },
    undefined,
    ['spec: Invalid value: "object": a must be small'],
  ],
  [
    "computes its message",
    rule("self.a < 1", { messageExpression: "'a is %d'.format([self.a])", message: "m" }),
    { a: 2 },
    undefined,
    ['spec: Invalid value: "object": a is 2'],
  ],
  [
    "keeps the fixed message when the other fails",
    rule("self.a < 1", { messageExpression: "self.b", message: "m" }),
    { a: 2 },
    undefined,
    ['spec: Invalid value: "object": m'],
  ],
  [
    "names a field and a reason",
    rule("has(self.b)", { fieldPath: ".b", reason: "FieldValueRequired", message: "b is needed" }),
    { a: 1 },
    undefined,
    ["spec.b: Required value: b is needed"],
  ],
  [
    "compares with the old value",
    rule("self.a >= oldSelf.a", { message: "never less" }),
    { a: 1 },
    { a: 2 },
    ['spec: Invalid value: "object": never less'],
  ],
  ["is passed over without an old value", rule("self.a >= oldSelf.a"), { a: 1 }, undefined, []],
  ["is passed over where the old value was null", rule("self.a >= oldSelf.a"), { a: 1 }, null, []],
  [
    "may want an optional old value",
    rule("!oldSelf.hasValue() || self.a == oldSelf.value().a", { optionalOldSelf: true }),
    { a: 1 },
    undefined,
    [],
  ],
  ["knows times", rule("self.t < timestamp('2026-01-01T00:00:00Z')"), { t: "2025-01-01T00:00:00Z" }, undefined, []],
  ["knows durations", rule("self.d > duration('1m')"), { d: "90s" }, undefined, []],
  ["knows quantities", rule("quantity(self.s).isLessThan(quantity('1Gi'))"), { s: "1023Mi" }, undefined, []],
  [
    "knows addresses",
    rule("cidr(self.s).containsIP('10.1.2.3') && ip('::1').isLoopback()"),
    { s: "10.0.0.0/8" },
    undefined,
    [],
  ],
  [
    "knows URLs",
    rule("url(self.s).getHostname() == '::1' && url(self.s).getPort() == '80'"),
    { s: "https://[::1]:80/p" },
    undefined,
    [],
  ],
  [
    "knows lists",
    rule("self.l.isSorted() && self.l.sum() == 6 && self.l.max() == 3 && self.l.indexOf(2) == 1"),
    { l: [1, 2, 3] },
    undefined,
    [],
  ],
  [
    "knows patterns",
    rule("self.s.find('[0-9]+') == '12' && self.s.findAll('[a-z]').size() == 2"),
    { s: "a12b" },
    undefined,
    [],
  ],
  [
    "escapes names",
    rule("self.__namespace__ == 'n' && self.a__dash__b == 1"),
    { namespace: "n", "a-b": 1 },
    undefined,
    [],
  ],
  [
    "sees that an item has a field",
    rule("has(self.o[0].b) && !has(self.o[1].b)"),
    { o: [{ b: 1 }, {}] },
    undefined,
    [],
  ],
  [
    "says that a list has no such item",
    rule("has(self.o[2].b)"),
    { o: [] },
    undefined,
    ['spec: Invalid value: "object": index out of bounds: 2 evaluating rule: has(self.o[2].b)'],
  ],
  [
    "says why it could not run",
    rule("self.b.c == 1"),
    { a: 1 },
    undefined,
    ['spec: Invalid value: "object": no such key: b evaluating rule: self.b.c == 1'],
  ],
];

describe("a CEL rule", () => {
  const properties = {
    a: { type: "integer" },
    b: { type: "integer" },
    s: string,
    l: array({ type: "integer" }),
    o: array(object({ b: { type: "integer" } })),
    namespace: string,
    "a-b": { type: "integer" },
    t: { ...string, format: "date-time" },
    d: { ...string, format: "duration" },
  };
  it.each(RULES)("%s", (_, validation, spec, old, expected) => {
    const schema = compileSchema(object({ spec: object(properties, { "x-kubernetes-validations": [validation] }) }));
    expect(schema.validate(wrap(spec), old === undefined ? {} : { old: wrap(old) }).map(formatFieldError)).toEqual(
      expected,
    );
  });

  it("finds the old item of a list by its keys", () => {
    const item = object({
      id: string,
      v: { type: "integer", "x-kubernetes-validations": [rule("self >= oldSelf", { message: "less" })] },
    });
    const schema = compileSchema(
      object({
        spec: object({ x: array(item, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"] }) }),
      }),
    );
    const before = wrap({
      x: [
        { id: "a", v: 1 },
        { id: "b", v: 5 },
      ],
    });
    const after = wrap({
      x: [
        { id: "b", v: 4 },
        { id: "a", v: 2 },
        { id: "c", v: 0 },
      ],
    });
    const less = 'spec.x[0].v: Invalid value: "integer": less';
    expect(schema.validate(after, { old: before }).map(formatFieldError)).toEqual([less]);
  });
});
