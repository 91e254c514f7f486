import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { widget, widgets, define, definition, DEFINITIONS } from "./custom-resource.ts";
import { at, done, eventually, invalid, made, refused } from "./shorthands.ts";

const UNCHECKED =
  "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

const INVALID: readonly (readonly [string, Json, readonly string[]])[] = [
  ["a missing required field", { size: undefined }, ["spec.size: Required value", UNCHECKED]],
  [
    "a value out of an enum",
    { size: "huge" },
    ['spec.size: Unsupported value: "huge": supported values: "small", "big"', UNCHECKED],
  ],
  [
    "a number above its maximum",
    { low: 1, replicas: 101 },
    ["spec.replicas: Invalid value: 101: spec.replicas in body should be less than or equal to 100"],
  ],
  ["a short text", { name: "a" }, ['spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long']],
  ["a long text", { name: "abcdef" }, ["spec.name: Too long: may not be more than 5 bytes", UNCHECKED]],
  [
    "a text that does not match",
    { name: "AB" },
    ["spec.name: Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'"],
  ],
  [
    "text for a number",
    { low: "1" },
    ['spec.low: Invalid value: "string": spec.low in body must be of type integer: "string"', UNCHECKED],
  ],
  [
    "a fraction for an integer",
    { low: 1.5 },
    ['spec.low: Invalid value: "number": spec.low in body must be of type integer: "number"', UNCHECKED],
  ],
  [
    "a list for an object",
    { limits: [] },
    ['spec.limits: Invalid value: "array": spec.limits in body must be of type object: "array"', UNCHECKED],
  ],
  [
    "a boolean for an int-or-string",
    { port: true },
    ['spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"', UNCHECKED],
  ],
  [
    "null where it may not be",
    { name: null, tags: ["a", null] },
    ['spec.tags[1]: Invalid value: "null": spec.tags[1] in body must be of type string: "null"', UNCHECKED],
  ],
  ["two equal values of a set", { tags: ["a", "a"] }, ['spec.tags[1]: Duplicate value: "a"']],
  [
    "two items with one key",
    { parts: [{ name: "a" }, { name: "a" }] },
    ['spec.parts[1]: Duplicate value: {"name":"a"}'],
  ],
  ["an item without its key", { parts: [{}] }, ["spec.parts[0].name: Required value", UNCHECKED]],
  ["too many items", { tags: ["a", "b", "c", "d"] }, ["spec.tags: Too many: 4: must have at most 3 items", UNCHECKED]],
  [
    "too many entries",
    { limits: { a: "1", b: "1", c: "1", d: "1" } },
    ["spec.limits: Too many: 4: must have at most 3 items", UNCHECKED],
  ],
  [
    "a time that is none",
    { when: "soon" },
    ['spec.when: Invalid value: "soon": spec.when in body must be of type date-time: "soon"', UNCHECKED],
  ],
  ["a rule that does not hold", { low: 2, high: 1 }, ['spec: Invalid value: "object": low must not be above high']],
];

/** A version with this schema, as the only one. */
function withSchema(openAPIV3Schema: Json): Json {
  return { versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }] };
}

function wrap(spec: Json): Json {
  return withSchema({ type: "object", properties: { spec } });
}

const AT = "spec.versions[0].schema.openAPIV3Schema";
const BROKEN: readonly (readonly [string, Json, RegExp])[] = [
  [
    "without a type",
    wrap({}),
    /spec\.validation\.openAPIV3Schema\.properties\[spec\]\.type: Required value: must not be empty for specified object fields/,
  ],
  [
    "that is not an object",
    withSchema({ type: "string" }),
    /openAPIV3Schema\.type: Invalid value: "string": must be object at the root/,
  ],
  ["of a list without items", wrap({ type: "array" }), /properties\[spec\]\.items: Required value: must be specified/],
  [
    "with a rule that does not compile",
    wrap({ type: "object", "x-kubernetes-validations": [{ rule: "self ==" }] }),
    /x-kubernetes-validations\[0\]\.rule: Invalid value: .*compilation failed: ERROR:/s,
  ],
  [
    "with a default its own rules refuse",
    wrap({ type: "string", enum: ["a"], default: "b" }),
    /properties\[spec\]\.default: Unsupported value: "b"/,
  ],
];

export const customObjects: CaseGroup = {
  title: "custom resources",
  cases: [
    ...INVALID.map(([what, spec, causes]): ContractCase => ({
      name: `a custom object is refused: ${what}`,
      async run(c) {
        invalid(await c.api.post(widgets(c), widget("a", spec)), ...causes);
      },
    })),
    {
      name: "defaults are filled in, at every depth that is there",
      async run(c) {
        const body = await made(c.api.post(widgets(c), widget("a", { parts: [{ name: "x" }] })));
        expect(body["spec"]).toEqual({ size: "small", replicas: 1, filled: "full", parts: [{ name: "x", count: 7 }] });
      },
    },
    {
      name: "null is kept where it may be, and gives way to a default elsewhere",
      async run(c) {
        const body = await made(c.api.post(widgets(c), widget("a", { nothing: null, filled: null, replicas: null })));
        expect(body["spec"]).toEqual({ size: "small", nothing: null, filled: null, replicas: 1 });
      },
    },
    {
      name: "fields outside the schema are pruned, except under x-kubernetes-preserve-unknown-fields",
      async run(c) {
        const body = await made(c.api.post(widgets(c), widget("a", { odd: 1, free: { any: { thing: 1 } } })));
        expect(body["spec"]).not.toHaveProperty("odd");
        expect(at(body, "spec", "free")).toEqual({ any: { thing: 1 } });
      },
    },
    {
      name: "a transition rule is held to the old value",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a", { fixed: "x" })));
        invalid(
          await c.api.patch(widgets(c, "a"), "merge", { spec: { fixed: "y" } }),
          'spec.fixed: Invalid value: "string": fixed never changes',
        );
      },
    },
    {
      name: "generation counts changes of the spec, not of status or labels",
      async run(c) {
        const path = widgets(c, "a");
        expect(at(await made(c.api.post(widgets(c), widget("a"))), "metadata", "generation")).toBe(1);
        const labelled = await done(c.api.patch(path, "merge", { metadata: { labels: { a: "b" } } }));
        expect(at(labelled, "metadata", "generation")).toBe(1);
        const status = await done(c.api.patch(`${path}/status`, "merge", { status: { phase: "On" } }));
        expect(at(status, "metadata", "generation")).toBe(1);
        const spec = await done(c.api.patch(path, "merge", { spec: { replicas: 3 } }));
        expect(at(spec, "metadata", "generation")).toBe(2);
      },
    },
    {
      name: "status is not accepted at create or update, and nothing else at /status",
      async run(c) {
        const path = widgets(c, "a");
        const body = await made(c.api.post(widgets(c), widget("a", {}, { status: { phase: "On" } })));
        expect(body["status"]).toBeUndefined();
        const plain = await done(c.api.patch(path, "merge", { status: { phase: "On" } }));
        expect(plain["status"]).toBeUndefined();
        const status = await done(
          c.api.patch(`${path}/status`, "merge", {
            spec: { size: "big" },
            metadata: { labels: { a: "b" } },
            status: { phase: "On" },
          }),
        );
        expect(status).toMatchObject({ spec: { size: "small" }, status: { phase: "On" } });
        expect(at(status, "metadata", "labels")).toBeUndefined();
      },
    },
    {
      name: "the scale of a custom object is read and written",
      async run(c) {
        const path = widgets(c, "a");
        await made(c.api.post(widgets(c), widget("a")));
        await done(c.api.patch(`${path}/status`, "merge", { status: { replicas: 2, selector: "a=b" } }));
        const scale = await done(c.api.get(`${path}/scale`));
        expect(scale).toMatchObject({
          kind: "Scale",
          apiVersion: "autoscaling/v1",
          metadata: { name: "a", namespace: c.namespace },
          spec: { replicas: 1 },
          status: { replicas: 2, selector: "a=b" },
        });
        await done(c.api.put(`${path}/scale`, { ...scale, spec: { replicas: 5 } }));
        expect(at((await c.api.get(path)).body, "spec", "replicas")).toBe(5);
        await done(c.api.patch(`${path}/scale`, "merge", { spec: { replicas: 6 } }));
        expect(at((await c.api.get(path)).body, "spec", "replicas")).toBe(6);
        const negative = await c.api.patch(`${path}/scale`, "merge", { spec: { replicas: -1 } });
        expect({ code: negative.code, reason: negative.body["reason"] }).toEqual({ code: 422, reason: "Invalid" });
      },
    },
    {
      name: "an older version shows the same objects",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a")));
        const older = await done(c.api.get(c.apis("contract.example.com/v1beta1", "widgets", "a")));
        expect(older).toMatchObject({ apiVersion: "contract.example.com/v1beta1", spec: { size: "small" } });
      },
    },
    {
      name: "a CRD says that its names are accepted and that it is established",
      async run({ api }) {
        const { body } = await api.get(`${DEFINITIONS}/widgets.contract.example.com`);
        const conditions = at(body, "status", "conditions") as Json[];
        for (const type of ["NamesAccepted", "Established"]) {
          expect(conditions.find((d) => d["type"] === type)?.["status"], type).toBe("True");
        }
        expect(body["status"]).toMatchObject({
          storedVersions: ["v1"],
          acceptedNames: {
            plural: "widgets",
            kind: "Widget",
            listKind: "WidgetList",
            singular: "widget",
          },
        });
      },
    },
    {
      name: "a CRD whose name is not plural and group is refused",
      async run({ api }) {
        const manifest = definition("odds", "Odd");
        const answer = await api.post(DEFINITIONS, { ...manifest, metadata: { name: "other.contract.example.com" } });
        refused(
          answer,
          422,
          "Invalid",
          /metadata\.name: Invalid value: "other\.contract\.example\.com": must be spec\.names\.plural\+"\."\+spec\.group/,
        );
      },
    },
    ...BROKEN.map(([what, spec, message]): ContractCase => ({
      name: `a CRD schema ${what} is refused`,
      async run({ api }: Context) {
        const answer = await api.post(DEFINITIONS, definition("broken", "Broken", spec));
        expect(answer.code).toBe(422);
        expect(String(answer.body["message"]).replaceAll(AT, "spec.validation.openAPIV3Schema")).toMatch(message);
      },
    })),
    {
      name: "a schema with a rule about a field that is not there is refused",
      async run({ api }) {
        const spec = wrap({ type: "object", "x-kubernetes-validations": [{ rule: "self.nothing == 1" }] });
        const answer = await api.post(DEFINITIONS, definition("broken", "Broken", spec));
        refused(answer, 422, "Invalid", /undefined field 'nothing'/);
      },
    },
    {
      name: "a CRD takes its objects along",
      async run(c) {
        const group = `${c.unique("g")}.example.com`;
        await define(c.api, definition("things", "Thing", { group, ...wrap({ type: "string" }) }));
        const path = c.apis(`${group}/v1`, "things");
        await made(c.api.post(path, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } }));
        await done(c.api.delete(`${DEFINITIONS}/things.${group}`));
        await eventually(async () => ((await c.api.get(path)).code === 404 ? true : undefined), "the end of the kind");
      },
    },
    {
      name: "a cluster-scoped kind has no namespaces",
      async run(c) {
        const group = `${c.unique("g")}.example.com`;
        await define(c.api, definition("worlds", "World", { group, scope: "Cluster", ...wrap({ type: "string" }) }));
        await made(
          c.api.post(`/apis/${group}/v1/worlds`, { apiVersion: `${group}/v1`, kind: "World", metadata: { name: "a" } }),
        );
        expect((await c.api.get(`/apis/${group}/v1/worlds/a`)).code).toBe(200);
        expect((await c.api.get(c.apis(`${group}/v1`, "worlds", "a"))).code).toBe(404);
      },
    },
  ],
};
