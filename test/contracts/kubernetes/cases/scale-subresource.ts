import { expect } from "vitest";
import type { Answer, CaseGroup, Context, Json } from "../interface.ts";
import { widget, widgets, define, definition } from "./custom-resource.ts";
import { apply, at, done, made, refused } from "./shorthands.ts";

const OTHER = "0b5c0f0e-0000-4000-8000-000000000000";

function deployment(more: Json = {}): Json {
  const containers = [{ name: "c", image: "i" }];
  const template = { metadata: { labels: { a: "b" } }, spec: { containers } };
  const spec = { selector: { matchLabels: { a: "b" } }, template, ...more };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec };
}

function scale(spec: unknown, metadata: Json = { name: "a" }): Json {
  return { apiVersion: "autoscaling/v1", kind: "Scale", metadata, spec };
}

interface ScalePaths {
  readonly object: string;
  readonly scale: string;
}

/** A Deployment "a". */
async function deployed({ api, apis }: Context, more: Json = {}): Promise<ScalePaths> {
  await made(api.post(`${apis("apps/v1", "deployments")}?fieldManager=maker`, deployment(more)));
  const object = apis("apps/v1", "deployments", "a");
  return { object, scale: `${object}/scale` };
}

/** A custom object "a" whose number of replicas may be missing. */
async function loose(c: Context): Promise<ScalePaths> {
  const group = `${c.unique("loose")}.example.com`;
  const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
    subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  };
  await define(c.api, definition("looses", "Loose", { group, versions: [version] }));
  const path = c.apis(`${group}/v1`, "looses");
  await made(c.api.post(path, { apiVersion: `${group}/v1`, kind: "Loose", metadata: { name: "a" }, spec: {} }));
  return { object: `${path}/a`, scale: `${path}/a/scale` };
}

function firstCause({ body }: Answer): unknown {
  const { field, message } = (at(body, "details", "causes", 0) ?? {}) as Json;
  return { field, message: String(message).replace(/^.*(?=(json|strict|unrecognized|cannot restore))/, "") };
}

const UNREADABLE: readonly [unknown, string][] = [
  [
    { spec: { replicas: 1.5 } },
    "json: cannot unmarshal number 1.5 into Go struct field ScaleSpec.spec.replicas of type int32",
  ],
  [
    { spec: { replicas: "x" } },
    "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32",
  ],
  [
    { spec: { replicas: 99_999_999_999 } },
    "json: cannot unmarshal number 99999999999 into Go struct field ScaleSpec.spec.replicas of type int32",
  ],
];

const NAMES: readonly [Json, string][] = [
  [{ name: "b" }, "the name of the object (b) does not match the name on the URL (a)"],
  [{}, "the name of the object (a based on URL) was undeterminable: name must be provided"],
  [
    { name: "a", namespace: "other" },
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
];

interface Owner {
  readonly manager: string;
  readonly subresource?: string;
  readonly operation: string;
}

/** Who owns the number of replicas. */
async function owners({ api }: Context, path: string): Promise<Owner[]> {
  const entries = at(await done(api.get(path)), "metadata", "managedFields") as Json[];
  return entries
    .filter((entry) => at(entry, "fieldsV1", "f:spec", "f:replicas") !== undefined)
    .map(({ manager, operation, subresource }) => ({
      manager: String(manager),
      operation: String(operation),
      ...(typeof subresource === "string" ? { subresource } : {}),
    }));
}

export const scaleSubresource: CaseGroup = {
  title: "the scale subresource",
  cases: [
    {
      name: "a patch that makes an unreadable Scale is rejected with the decoder's message",
      async run(c) {
        const { scale: path } = await deployed(c);
        for (const [patch, message] of UNREADABLE) {
          const answer = await c.api.patch(path, "merge", patch);
          expect({ code: answer.code, ...(firstCause(answer) as Json) }).toEqual({
            code: 422,
            field: "patch",
            message,
          });
        }
        const strategic = await c.api.patch(path, "strategic", { spec: { replicas: "x" } });
        expect(firstCause(strategic)).toEqual({ field: "patch", message: "unrecognized type: int32" });
        const directive = await c.api.patch(path, "strategic", { spec: { $patch: "other" } });
        expect(directive.body["message"]).toBe("unknown patch type: other in map: map[$patch:other]");
      },
    },
    {
      name: "unknown fields of a Scale are a warning, or an error with fieldValidation=Strict",
      async run(c) {
        const { scale: path } = await deployed(c);
        const warned = await c.api.put(path, { ...scale({ replicas: 2, odd: 1 }), unknown: 1 });
        expect([warned.headers["warning"]].flat().join(", ")).toMatch(
          /unknown field \\"spec\.odd\\".*field \\"unknown\\"/,
        );
        const strict = await c.api.put(`${path}?fieldValidation=Strict`, { ...scale({ replicas: 2 }), unknown: 1 });
        const why =
          'Scale in version "v1" cannot be handled as a Scale: strict decoding error: unknown field "unknown"';
        refused(strict, 400, "BadRequest", why);
        const patched = await c.api.patch(`${path}?fieldValidation=Strict`, "merge", { unknown: 1 });
        expect(firstCause(patched)).toEqual({
          field: "patch",
          message: 'strict decoding error: unknown field "unknown"',
        });
      },
    },
    {
      name: "a Scale with another name, namespace or uid is rejected",
      async run(c) {
        const { scale: path } = await deployed(c);
        for (const [metadata, why] of NAMES)
          refused(await c.api.put(path, scale({ replicas: 2 }, metadata)), 400, "BadRequest", why);
        refused(await c.api.patch(path, "merge", { metadata: { name: "b" } }), 400, "BadRequest", NAMES[0]?.[1] ?? "");
        const put = await c.api.put(path, scale({ replicas: 2 }, { name: "a", uid: OTHER }));
        refused(put, 409, "Conflict", /Key: \/registry\/deployments\/.*Precondition failed: UID in precondition/);
        const patched = await c.api.patch(path, "merge", { metadata: { uid: OTHER } });
        refused(patched, 409, "Conflict", /on deployments\/scale\.apps "a": Precondition failed: UID in precondition/);
      },
    },
    {
      name: "an update of scale with another kind is rejected with that kind",
      async run(c) {
        const { scale: path } = await deployed(c);
        const other = await c.api.put(path, { ...deployment(), metadata: { name: "a" } });
        const head = 'Deployment in version "v1" cannot be handled as a Scale:';
        refused(
          other,
          400,
          "BadRequest",
          `${head} converting (v1.Deployment) to (autoscaling.Scale): unknown conversion`,
        );
        const unknown = await c.api.put(path, { ...scale({}), kind: "Thing" });
        refused(unknown, 400, "BadRequest", /no kind "Thing" is registered for version "autoscaling\/v1"/);
      },
    },
    {
      name: "the replicas of a custom object's Scale are validated as a field of the custom object",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a", { replicas: 1 })));
        const path = `${widgets(c, "a")}/scale`;
        const answers = [
          await c.api.patch(path, "merge", { spec: { replicas: -1 } }),
          await c.api.put(path, scale({ replicas: -1 })),
        ];
        for (const answer of answers) {
          expect(at(answer.body, "details", "kind")).toBe("Widget");
          const causes = at(answer.body, "details", "causes") as Json[];
          expect(causes.map((cause) => `${String(cause["field"])}: ${String(cause["message"])}`)).toContain(
            ".spec.replicas: Invalid value: -1: should be a non-negative integer",
          );
        }
        const other = await c.api.put(path, { ...scale({}), kind: "Thing" });
        refused(
          other,
          400,
          "BadRequest",
          'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"',
        );
      },
    },
    {
      name: "a custom object without replicas has no Scale until its replicas are set",
      async run(c) {
        const { scale: path } = await loose(c);
        const read = await c.api.get(path);
        const missing = 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist';
        refused(read, 500, "InternalError", missing);
        const kept = await c.api.patch(path, "merge", {});
        refused(kept, 400, "BadRequest", 'the spec replicas field ".spec.replicas" cannot be empty');
        expect(await done(c.api.patch(path, "merge", { spec: { replicas: 0 } }))).toMatchObject({ spec: {} });
        expect(at(await done(c.api.get(path)), "status")).toEqual({ replicas: 0 });
      },
    },
    {
      name: "replicas that are not a number are reported in Go's notation",
      async run(c) {
        const { object } = await loose(c);
        const answer = await c.api.patch(object, "merge", { spec: { replicas: { b: [1, "x", null], a: {} } } });
        expect(firstCause(answer)).toEqual({
          field: ".spec.replicas",
          message:
            "Invalid value: 0: .spec.replicas accessor error: map[a:map[] b:[1 x <nil>]] is of the type map[string]interface {}, expected int64",
        });
      },
    },
    {
      name: "an applied Scale conflicts with the manager who scaled before, unless it is forced",
      async run(c) {
        const { object, scale: path } = await deployed(c, { replicas: 1 });
        const first = await apply(c.api, path, scale({ replicas: 2 }), "one");
        refused(
          first,
          409,
          "Conflict",
          'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas',
        );
        await done(apply(c.api, path, scale({ replicas: 2 }), "one", true));
        expect(await owners(c, object)).toEqual([{ manager: "one", operation: "Apply", subresource: "scale" }]);
        const second = await apply(c.api, path, scale({ replicas: 3 }), "two");
        const why = 'Apply failed with 1 conflict: conflict with "one" with subresource "scale": .spec.replicas';
        refused(second, 409, "Conflict", why);
        await done(apply(c.api, path, scale({ replicas: 2 }), "two"));
        expect((await owners(c, object)).map(({ manager }) => manager)).toEqual(["one", "two"]);
      },
    },
    {
      name: "applying the Scale of a custom object is an error",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a", { replicas: 1 })));
        const answer = await apply(c.api, `${widgets(c, "a")}/scale`, scale({ replicas: 2 }), "one", true);
        expect(answer.code).toBe(500);
        expect(answer.body["message"]).toMatch(/request to convert CR to an invalid group\/version: autoscaling\/v1$/);
      },
    },
    {
      name: "an update of Scale that changes nothing adds a second managedFields entry",
      async run(c) {
        const { object, scale: path } = await deployed(c, { replicas: 1 });
        await done(c.api.patch(path, "merge", {}));
        const entries = at(await done(c.api.get(object)), "metadata", "managedFields") as Json[];
        expect(entries.map(({ manager, time }) => ({ manager, timed: time !== undefined }))).toEqual([
          { manager: "maker", timed: false },
          { manager: "maker", timed: true },
        ]);
      },
    },
  ],
};
