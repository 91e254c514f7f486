import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchema, formatFieldError, validateCustomResourceDefinitionSchema } from "./index.ts";

const string = { type: "string" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const array = (items: object, more: object = {}) => ({ type: "array", items, ...more });
/** A schema whose spec has one field `x`. */
const withX = (x: object) => compileSchema(object({ spec: object({ x }) }));
const wrap = (spec: unknown) => ({ apiVersion: "x.io/v1", kind: "X", metadata: { name: "x" }, spec });
const complaints = (x: object, value: unknown): string[] =>
  withX(x)
    .validate(wrap({ x: value }))
    .map(formatFieldError);

/** Schema of spec.x, value, complaints as kube-apiserver words them. */
const VALUES: readonly [object, unknown, readonly string[]][] = [
  [{ type: "integer" }, "a", ['spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"']],
  [{ type: "integer" }, 1.5, ['spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"']],
  [{ type: "number" }, 1, []],
  [string, null, ['spec.x: Invalid value: "null": spec.x in body must be of type string: "null"']],
  [{ ...string, nullable: true }, null, []],
  [{ "x-kubernetes-int-or-string": true }, "80%", []],
  [{ "x-kubernetes-int-or-string": true }, 80, []],
  [
    { "x-kubernetes-int-or-string": true },
    true,
    ['spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"'],
  ],
  [{ ...string, enum: ["A", "B"] }, "C", ['spec.x: Unsupported value: "C": supported values: "A", "B"']],
  [{ ...string, maxLength: 2 }, "äöü", ["spec.x: Too long: may not be more than 2 bytes"]],
  [{ ...string, minLength: 2 }, "ä", ['spec.x: Invalid value: "ä": spec.x in body should be at least 2 chars long']],
  [{ ...string, pattern: "^a+$" }, "b", ["spec.x: Invalid value: \"b\": spec.x in body should match '^a+$'"]],
  [{ ...string, pattern: "(?i)^[[:alpha:]]+\\z" }, "Ab", []],
  [
    { type: "integer", minimum: 1 },
    0,
    ["spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"],
  ],
  [
    { type: "integer", maximum: 5, exclusiveMaximum: true },
    5,
    ["spec.x: Invalid value: 5: spec.x in body should be less than 5"],
  ],
  [{ type: "number", multipleOf: 0.1 }, 0.3, []],
  [{ type: "integer", multipleOf: 2 }, 3, ["spec.x: Invalid value: 3: spec.x in body should be a multiple of 2"]],
  [{ type: "integer", format: "int32" }, 2 ** 31, []],
  [
    { ...string, format: "date-time" },
    "2026-02-30T00:00:00Z",
    ['spec.x: Invalid value: "2026-02-30T00:00:00Z": spec.x in body must be of type date-time: "2026-02-30T00:00:00Z"'],
  ],
  [{ ...string, format: "date-time" }, "2026-02-28T00:00:00.5+01:00", []],
  [{ ...string, format: "ipv4" }, "::1", ['spec.x: Invalid value: "::1": spec.x in body must be of type ipv4: "::1"']],
  [{ ...string, format: "cidr" }, "10.0.0.0/8", []],
  [
    { ...string, format: "cidr" },
    "10.0.0.0/33",
    ['spec.x: Invalid value: "10.0.0.0/33": spec.x in body must be of type cidr: "10.0.0.0/33"'],
  ],
  [{ ...string, format: "unheard-of" }, "anything", []],
  [array(string, { minItems: 1 }), [], ["spec.x: Invalid value: 0: spec.x in body should have at least 1 items"]],
  [array(string, { maxItems: 1 }), ["a", "b"], ["spec.x: Too many: 2: must have at most 1 item"]],
  [
    array(string),
    ["a", 1],
    ['spec.x[1]: Invalid value: "integer": spec.x[1] in body must be of type string: "integer"'],
  ],
  [array(string, { "x-kubernetes-list-type": "set" }), ["a", "b", "a"], ['spec.x[2]: Duplicate value: "a"']],
  [
    array(object({ id: string, p: { ...string, default: "TCP" } }), {
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id", "p"],
    }),
    [
      { id: "a", p: "TCP" },
      { id: "a", p: "TCP" },
    ],
    ['spec.x[1]: Duplicate value: {"id":"a","p":"TCP"}'],
  ],
  [object({ a: string }, { required: ["a", "b"] }), {}, ["spec.x.a: Required value", "spec.x.b: Required value"]],
  [
    { type: "object", additionalProperties: { type: "integer" }, maxProperties: 1 },
    { a: 1, b: "2" },
    [
      "spec.x: Too many: 2: must have at most 1 item",
      'spec.x.b: Invalid value: "string": spec.x.b in body must be of type integer: "string"',
    ],
  ],
  [object({ a: string, b: string }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }), { a: "1" }, []],
  [
    object({ a: string, b: string }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    { a: "1", b: "1" },
    ['<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  ],
  [
    { ...string, not: { enum: ["no"] } },
    "no",
    ['<nil>: Invalid value: "": "spec.x" must not validate the schema (not)'],
  ],
];

describe("the validation of a custom resource", () => {
  it.each(VALUES)("by %j of %j says %j", (schema, value, expected) => {
    expect(complaints(schema, value)).toEqual(expected);
  });
});

describe("pruning and defaulting", () => {
  const schema = compileSchema(
    object({
      spec: object({
        known: string,
        open: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { closed: object({ a: string }) },
        },
        map: { type: "object", additionalProperties: object({ a: string }) },
        list: array(object({ n: { type: "integer", default: 3 }, m: { ...string, default: "m" } })),
        resource: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: object({}) } },
        deep: object({ x: { type: "integer", default: 7 } }, { default: {} }),
      }),
    }),
  );

  it("drops what is not specified, and says what in order", () => {
    const value = {
      ...wrap({
        known: "k",
        foo: 1,
        open: { any: { thing: 1 }, closed: { a: "1", b: "2" } },
        map: { k: { a: "1", z: 1 } },
        list: [{ n: 1, o: 2 }],
        resource: { apiVersion: "v1", kind: "K", metadata: { name: "n" }, spec: { a: 1 } },
      }),
      extra: true,
    };
    const before = structuredClone(value);
    expect(schema.unknownFields(value)).toEqual([
      "extra",
      "spec.foo",
      "spec.list[0].o",
      "spec.map.k.z",
      "spec.open.closed.b",
      "spec.resource.spec.a",
    ]);
    expect(schema.prune(value)).toEqual(
      wrap({
        known: "k",
        open: { any: { thing: 1 }, closed: { a: "1" } },
        map: { k: { a: "1" } },
        list: [{ n: 1 }],
        resource: { apiVersion: "v1", kind: "K", metadata: { name: "n" }, spec: {} },
      }),
    );
    expect(value).toEqual(before);
  });

  it("fills in defaults at every depth that exists, and for nulls that cannot be", () => {
    expect(schema.default(wrap({ list: [{}, { n: null, m: "x" }] }))).toEqual(
      wrap({
        list: [
          { n: 3, m: "m" },
          { n: 3, m: "x" },
        ],
        deep: { x: 7 },
      }),
    );
  });

  it("does nothing the second time, whatever the object", () => {
    const names = fc.constantFrom("spec", "known", "open", "closed", "map", "list", "n", "m", "deep", "x", "zz");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(names, tie("tree")),
        fc.array(tie("tree"), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(names, tree), (value) => {
        const once = schema.default(schema.prune(value));
        expect(schema.prune(once)).toBe(once);
        expect(schema.default(once)).toBe(once);
        expect(schema.unknownFields(once)).toEqual([]);
      }),
    );
  });
});

/** A property schema, and what is wrong with it. */
const BROKEN: readonly [object, readonly string[]][] = [
  [string, []],
  [{}, ["openAPIV3Schema.properties[x].type: Required value: must not be empty for specified object fields"]],
  [
    { type: "text" },
    [
      'openAPIV3Schema.properties[x].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  [{ type: "array" }, ["openAPIV3Schema.properties[x].items: Required value: must be specified"]],
  [
    array(string, { uniqueItems: true }),
    [
      "openAPIV3Schema.properties[x].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
    ],
  ],
  [
    object({ a: string }, { additionalProperties: string }),
    [
      "openAPIV3Schema.properties[x].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
    ],
  ],
  [
    { ...string, anyOf: [{ type: "string" }] },
    ["openAPIV3Schema.properties[x].anyOf[0].type: Forbidden: must be empty to be structural"],
  ],
  [
    array(object({ a: string }), { "x-kubernetes-list-type": "map" }),
    [
      "openAPIV3Schema.properties[x].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
    ],
  ],
  [
    array(object({ id: string }), { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"] }),
    [
      "openAPIV3Schema.properties[x].items.properties[id].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
    ],
  ],
  [
    { type: "integer", default: "one" },
    ['openAPIV3Schema.properties[x].default: Invalid value: "string":  in body must be of type integer: "string"'],
  ],
  [{ "x-kubernetes-int-or-string": true }, []],
  [{ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }, []],
];

describe("a structural schema", () => {
  it.each(BROKEN)("with the property %j gets %j", (x, expected) => {
    expect(validateCustomResourceDefinitionSchema(object({ x })).map(formatFieldError)).toEqual(expected);
  });

  it("must be an object at the root, with patterns and rules that compile", () => {
    const first = (schema: unknown): string =>
      formatFieldError(
        validateCustomResourceDefinitionSchema(schema)[0] ?? { reason: "FieldValueInvalid", field: "", message: "" },
      );
    expect(first(undefined)).toContain("Required value");
    expect(first({})).toBe("openAPIV3Schema.type: Required value: must not be empty at the root");
    expect(first(object({ x: { ...string, pattern: "(" } }))).toContain("must be a valid regular expression");
    expect(first(object({ x: { ...string, "x-kubernetes-validations": [{ rule: "self <" }] } }))).toContain(
      "compilation failed",
    );
    expect(
      first(object({ x: { ...string, "x-kubernetes-validations": [{ rule: "undefinedFunction(self)" }] } })),
    ).toContain("compilation failed");
  });
});
