import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { define, definition } from "./custom-resource.ts";
import { at, causesOf, done, made } from "./shorthands.ts";

const string = { type: "string" };
const integer = { type: "integer" };
const object = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
const embedded = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};
const TWO_SHAPES = [
  { required: ["b"] },
  { properties: { a: { minimum: 3 }, c: { minimum: 0 } }, required: ["a", "b", "c"] },
];
const ABC = { a: integer, b: string, c: integer };

const FIELDS: Json = {
  narrow: { ...integer, format: "int32" },
  when: { ...string, format: "date-time" },
  named: { ...string, enum: ["a", "b"] },
  empty: { ...string, nullable: true, enum: ["a", null] },
  either: { "x-kubernetes-int-or-string": true, enum: [1, "b"] },
  halves: { type: "number", multipleOf: 0.5 },
  some: { ...integer, multipleOf: 1.5 },
  long: { ...string, minLength: 3, pattern: "^x" },
  any: object(ABC, { anyOf: [{ properties: { a: { minimum: 5 } }, required: ["b"] }, TWO_SHAPES[1]] }),
  one: object(ABC, { oneOf: TWO_SHAPES }),
  all: { ...integer, allOf: [{ minimum: 3 }, { minimum: 5 }] },
  inner: embedded,
};

/** A field, a value, and what it is refused with; nothing where it is accepted. */
const VALUES: readonly (readonly [keyof typeof FIELDS, unknown, ...string[]])[] = [
  ["narrow", 5_000_000_000],
  ["when", 5, 'spec.when: Invalid value: "int64": spec.when in body must be of type date-time: "int64"'],
  ["when", 1.5, 'spec.when: Invalid value: "float64": spec.when in body must be of type date-time: "float64"'],
  ["when", true, 'spec.when: Invalid value: "": spec.when in body must be of type date-time: ""'],
  ["when", []],
  [
    "named",
    {},
    'spec.named: Invalid value: "object": spec.named in body must be of type string: "object"',
    'spec.named: Unsupported value: {}: supported values: "a", "b"',
  ],
  ["named", 97, 'spec.named: Invalid value: "integer": spec.named in body must be of type string: "integer"'],
  ["empty", null, 'spec.empty: Unsupported value: null: supported values: "a", "null"'],
  ["either", 2, 'spec.either: Unsupported value: 2: supported values: "1", "b"'],
  ["either", 98],
  ["either", 1.5, 'spec.either: Invalid value: "number": spec.either in body must be of type integer,string: "number"'],
  ["halves", 1, "spec.halves: Invalid value: 0: factor MultipleOf declared for spec.halves must be positive: 0"],
  ["halves", 1.25, "spec.halves: Invalid value: 1.25: spec.halves in body should be a multiple of 0.5"],
  ["some", 2],
  ["long", "y", 'spec.long: Invalid value: "y": spec.long in body should be at least 3 chars long'],
  [
    "any",
    { a: 2, b: "x", c: -1 },
    '<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf)',
    "spec.any.a: Invalid value: 2: spec.any.a in body should be greater than or equal to 3",
    "spec.any.c: Invalid value: -1: spec.any.c in body should be greater than or equal to 0",
  ],
  [
    "one",
    { a: 2 },
    '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid',
    "spec.one.a: Invalid value: 2: spec.one.a in body should be greater than or equal to 3",
    "spec.one.b: Required value",
    "spec.one.c: Required value",
  ],
  [
    "all",
    4,
    '<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf)',
    "spec.all: Invalid value: 4: spec.all in body should be greater than or equal to 5",
  ],
  ["inner", {}, "spec.inner.apiVersion: Required value", "spec.inner.kind: Required value"],
  [
    "inner",
    { apiVersion: "a/b/c", kind: "K" },
    'spec.inner.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  ["inner", { apiVersion: "v1", kind: "" }, 'spec.inner.kind: Invalid value: "": must not be empty'],
  [
    "inner",
    { apiVersion: "v1", kind: "K", metadata: { finalizers: ["a/b/c"], name: "x/y" } },
    "spec.inner.metadata.finalizers: Invalid value: \"a/b/c\": a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    "spec.inner.metadata.name: Invalid value: \"x/y\": may not contain '/'",
  ],
];

const STATUS = object(
  { phase: string, inner: embedded },
  { anyOf: [{ required: ["phase"] }, { required: ["inner"] }] },
);

/** A status, and what it is refused with. */
const STATUSES: readonly (readonly [unknown, ...string[]])[] = [
  [
    [],
    ".status.replicas: Invalid value: 0: .status.replicas accessor error: [] is of the type []interface {}, expected map[string]interface{}",
    'status: Invalid value: "array":  in body must be of type object: "array"',
  ],
  [{ phase: 1 }, 'status.phase: Invalid value: "integer": phase in body must be of type string: "integer"'],
  [{}, 'status: Invalid value: "": "" must validate at least one schema (anyOf)', "status.phase: Required value"],
  [{ inner: { apiVersion: "" } }],
];

interface Shapes {
  readonly path: string;
  readonly shape: (name: string, more: Json) => Json;
}

async function shapes(c: Context): Promise<Shapes> {
  const group = `${c.unique("shape")}.example.com`;
  const schema = { openAPIV3Schema: object({ spec: object({ ...FIELDS, replicas: integer }), status: STATUS }) };
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  const version = { name: "v1", served: true, storage: true, schema, subresources: { status: {}, scale } };
  await define(c.api, definition("shapes", "Shape", { group, versions: [version] }));
  return {
    path: c.apis(`${group}/v1`, "shapes"),
    shape: (name, more) => ({ apiVersion: `${group}/v1`, kind: "Shape", metadata: { name }, ...more }),
  };
}

const inOrder: ContractCase = {
  name: "values of custom objects are judged as go-openapi judges them",
  async run(c) {
    const { path, shape } = await shapes(c);
    for (const [field, value, ...causes] of VALUES) {
      const answer = await c.api.post(path, shape("a", { spec: { [field]: value } }), { query: { dryRun: "All" } });
      const found = answer.code === 201 ? [] : causesOf(answer).toSorted();
      expect({ field, value, found }).toEqual({ field, value, found: causes.toSorted() });
    }
  },
};

const status: ContractCase = {
  name: "a status that is written alone is judged alone; objects within it are not",
  async run(c) {
    const { path, shape } = await shapes(c);
    await made(c.api.post(path, shape("a", {})));
    const headers = { "content-type": "application/merge-patch+json" };
    for (const [value, ...causes] of STATUSES) {
      const answer = await c.api.call("PATCH", `${path}/a/status`, { status: value }, { headers });
      const found = answer.code === 200 ? [] : causesOf(answer).toSorted();
      expect({ value, found }).toEqual({ value, found: causes.toSorted() });
    }
  },
};

const scale: ContractCase = {
  name: "an apply that sets the parent of a scale path to null is rejected",
  async run(c) {
    const { path, shape } = await shapes(c);
    const answer = await c.api.call("PATCH", `${path}/a`, shape("a", { spec: null }), {
      headers: { "content-type": "application/apply-patch+yaml" },
      query: { fieldManager: "one" },
    });
    expect(causesOf(answer)).toEqual(['spec: Invalid value: "null": spec in body must be of type object: "null"']);
  },
};

const untracked: ContractCase = {
  name: "an object with an unsupported list key has no managedFields",
  async run(c) {
    const { path, shape } = await shapes(c);
    const body = await made(c.api.post(path, shape("a", { spec: { when: [] } })));
    expect(at(body, "metadata", "managedFields")).toBeUndefined();
  },
};

const warned: ContractCase = {
  name: "finalizers without a domain are warned of when they are added",
  async run(c) {
    const { path, shape } = await shapes(c);
    const metadata = { name: "a", finalizers: ["plain", "with.dots", "example.com/fine", "orphan"] };
    const answer = await c.api.post(path, { ...shape("a", {}), metadata });
    const why = "to avoid accidental conflicts with other finalizer writers";
    const prefer = "prefer a domain-qualified finalizer name";
    expect(answer.headers["warning"]).toBe(
      [`\\"plain\\": ${prefer} ${why}`, `\\"with.dots\\": ${prefer} including a path (/) ${why}`]
        .map((message) => `299 - "metadata.finalizers: ${message}"`)
        .join(", "),
    );
    const again = await c.api.put(`${path}/a`, answer.body);
    expect({ code: again.code, warning: again.headers["warning"] }).toEqual({ code: 200, warning: undefined });
    await done(
      c.api.put(`${path}/a`, { ...again.body, metadata: { ...(again.body["metadata"] as Json), finalizers: [] } }),
    );
  },
};

const reset: ContractCase = {
  name: "managedFields of no entries leave a custom object's managers as they are, one empty entry ends them",
  async run(c) {
    const { path, shape } = await shapes(c);
    const body = await made(c.api.post(path, shape("a", { spec: { some: 3 } })));
    const metadata = body["metadata"] as Json;
    const kept = await done(c.api.put(`${path}/a`, { ...body, metadata: { ...metadata, managedFields: [] } }));
    expect(at(kept, "metadata", "managedFields")).toHaveLength(1);
    const ended = await done(c.api.put(`${path}/a`, { ...body, metadata: { ...metadata, managedFields: [{}] } }));
    expect(at(ended, "metadata", "managedFields")).toBeUndefined();
  },
};

export const pruning: CaseGroup = {
  title: "pruning and defaults of custom objects",
  cases: [inOrder, status, scale, untracked, warned, reset],
};
