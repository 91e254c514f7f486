import type { KubeObject } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchema } from "../../schema/index.ts";
import { Tables } from "../../wire/tables.ts";
import {
  applyConflictMessage,
  applyServerSide,
  BuiltInTypes,
  NO_FIELDS,
  pathsSet,
  trackUpdate,
  type Typed,
} from "../index.ts";

const TYPE = { apiVersion: "apps/v1", kind: "Deployment" };
const TYPED: Typed = {
  apiVersion: "apps/v1",
  type: new BuiltInTypes(new Tables()).ofKind("apps/v1", "Deployment"),
  reset: pathsSet(["status"]),
  form: () => undefined,
};
const STATUS: Typed = { ...TYPED, reset: pathsSet(["spec"], ["metadata", "labels"]) };
const T0 = "2026-01-01T00:00:00Z";
const T1 = "2026-01-01T00:00:01Z";

interface Any extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}
const deployment = (spec: object | undefined, metadata: object = {}): Any => ({
  ...TYPE,
  metadata: { name: "d", namespace: "n", ...metadata },
  ...(spec === undefined ? {} : { spec: { ...spec } }),
});
const apply = (live: KubeObject | undefined, manager: string, applied: KubeObject, more: object = {}) =>
  applyServerSide({ ...(live === undefined ? {} : { live }), applied, manager, typed: TYPED, now: T0, ...more });
const applied = (live: KubeObject | undefined, manager: string, object: KubeObject): Any => {
  const { object: result, conflicts } = apply(live, manager, object);
  expect(conflicts).toEqual([]);
  return result;
};
const owners = (object: KubeObject) =>
  Object.fromEntries((object.metadata.managedFields ?? []).map((e) => [`${e.manager} ${e.operation}`, e.fieldsV1]));
const containers = (...items: object[]) => ({ template: { spec: { containers: items } } });

describe("server-side apply", () => {
  it("makes the object and writes fieldsV1 as Kubernetes does", () => {
    const spec = { replicas: 2, ...containers({ name: "x", image: "i", ports: [{ containerPort: 80 }] }) };
    const object = applied(undefined, "me", deployment(spec, { labels: { a: "1" }, finalizers: ["f/x"] }));
    expect(object).toMatchObject(deployment(spec));
    expect(object.metadata.managedFields).toEqual([
      {
        manager: "me",
        operation: "Apply",
        apiVersion: "apps/v1",
        time: T0,
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:finalizers": { 'v:"f/x"': {} }, "f:labels": { "f:a": {} } },
          "f:spec": {
            "f:replicas": {},
            "f:template": {
              "f:spec": {
                "f:containers": {
                  'k:{"name":"x"}': {
                    ".": {},
                    "f:image": {},
                    "f:name": {},
                    "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
                  },
                },
              },
            },
          },
        },
      },
    ]);
  });

  it("conflicts with another manager's value, in kubectl's words", () => {
    const live = applied(undefined, "me", deployment({ replicas: 1 }));
    const scaled = trackUpdate({
      before: live,
      after: { ...live, spec: { replicas: 5 } } as Any,
      manager: "edit",
      typed: TYPED,
      time: T1,
    });
    const { object, conflicts } = apply(scaled, "me", deployment({ replicas: 2 }));
    expect(object).toBe(scaled);
    expect(applyConflictMessage(conflicts)).toBe(
      'Apply failed with 1 conflict: conflict with "edit" using apps/v1: .spec.replicas',
    );
    const two = applied(scaled, "other", deployment({ ...containers({ name: "x", image: "1" }) }));
    const several = apply(two, "third", deployment({ replicas: 3, ...containers({ name: "x", image: "2" }) }));
    expect(applyConflictMessage(several.conflicts)).toBe(
      'Apply failed with 2 conflicts: conflicts with "edit" using apps/v1:\n- .spec.replicas\n' +
        'conflicts with "other":\n- .spec.template.spec.containers[name="x"].image',
    );
    expect(several.conflicts).toContainEqual({
      manager: '"edit" using apps/v1',
      field: ".spec.replicas",
      message: 'conflict with "edit" using apps/v1',
    });
  });

  it("takes a field over with force", () => {
    const live = applied(undefined, "a", deployment({ replicas: 1, paused: true }));
    const { object, conflicts } = apply(live, "b", deployment({ replicas: 2 }), { force: true });
    expect(conflicts).toEqual([]);
    expect((object as Any).spec).toEqual({ replicas: 2, paused: true });
    expect(owners(object)).toEqual({
      "a Apply": { "f:spec": { "f:paused": {} } },
      "b Apply": { "f:spec": { "f:replicas": {} } },
    });
  });

  it("shares a field that two managers set alike, and keeps it until both release it", () => {
    let live = applied(undefined, "a", deployment({ replicas: 1 }));
    live = applied(live, "b", deployment({ replicas: 1 }));
    live = applied(live, "a", deployment(undefined));
    expect(live.spec).toEqual({ replicas: 1 });
    live = applied(live, "b", deployment(undefined));
    expect(live.spec).toBeUndefined();
    expect(live.metadata.name).toBe("d");
    expect(live.metadata.managedFields).toBeUndefined();
  });

  it("removes list items and set members that it applied before, and only those", () => {
    const first = deployment(containers({ name: "x", image: "1" }, { name: "y", image: "1" }), {
      finalizers: ["a", "b"],
    });
    let live = applied(undefined, "me", first);
    live = applied(live, "sidecar", deployment(containers({ name: "z", image: "1" }), { finalizers: ["c"] }));
    live = applied(live, "me", deployment(containers({ name: "x", image: "1" }), { finalizers: ["b"] }));
    expect(live.spec).toEqual(containers({ name: "x", image: "1" }, { name: "z", image: "1" }));
    expect(live.metadata.finalizers).toEqual(["b", "c"]);
  });

  it("keeps what another manager put into an item that it no longer applies", () => {
    let live = applied(undefined, "me", deployment(containers({ name: "x", image: "1" }, { name: "y", image: "1" })));
    live = applied(live, "other", deployment(containers({ name: "y", command: ["c"] })));
    live = applied(live, "me", deployment(containers({ name: "x", image: "1" })));
    expect(live.spec).toEqual(containers({ name: "x", image: "1" }, { name: "y", command: ["c"] }));
  });

  it("takes an item away with what others only changed in it", () => {
    const live = applied(undefined, "me", deployment(containers({ name: "x", image: "1" }, { name: "y", image: "1" })));
    const after = {
      ...live,
      ...deployment(containers({ name: "x", image: "1" }, { name: "y", image: "1", tty: true })),
    };
    const changed = trackUpdate({ before: live, after, manager: "edit", typed: TYPED, time: T1 });
    const result = applied(changed, "me", deployment(containers({ name: "x", image: "1" })));
    expect(result.spec).toEqual(containers({ name: "x", image: "1" }));
    expect(Object.keys(owners(result))).toEqual(["me Apply"]);
  });

  it("owns nothing that its endpoint cannot write", () => {
    const whole = { ...deployment({ replicas: 1 }, { labels: { a: "b" } }), status: { replicas: 9 } } as Any;
    const live = applied(undefined, "me", whole);
    expect(Object.keys(live.metadata.managedFields?.[0]?.fieldsV1 ?? {})).toEqual(["f:metadata", "f:spec"]);
    const status = { ...deployment({ replicas: 7 }, { labels: { a: "c" } }), status: { replicas: 8 } } as Any;
    const { object, conflicts } = apply(live, "me", status, { subresource: "status", typed: STATUS });
    expect(conflicts).toEqual([]);
    expect(object.metadata.managedFields?.map((e) => [e.subresource, e.fieldsV1])).toContainEqual([
      "status",
      { "f:status": { "f:replicas": {} } },
    ]);
  });

  it("gives the fields of an untracked object to before-first-apply", () => {
    const live = { ...deployment({ replicas: 1 }), metadata: { name: "d", creationTimestamp: T0 } } as Any;
    const { conflicts } = apply(live, "me", deployment({ replicas: 2 }));
    expect(conflicts[0]?.manager).toBe('"before-first-apply" using apps/v1');
    expect(owners(applied(live, "me", deployment({ paused: true })))).toHaveProperty("before-first-apply Update");
  });

  it("lets kubectl take over without force what it applied client-side", () => {
    const annotation = JSON.stringify(deployment({ replicas: 1 }));
    const made = deployment(
      { replicas: 1 },
      { annotations: { "kubectl.kubernetes.io/last-applied-configuration": annotation } },
    );
    const live = trackUpdate({ after: made, manager: "kubectl-client-side-apply", typed: TYPED, time: T0 });
    expect(apply(live, "kubectl", deployment({ replicas: 2 })).conflicts).toEqual([]);
    expect(apply(live, "other", deployment({ replicas: 2 })).conflicts).toHaveLength(1);
  });

  it("refuses a list that names an item twice, or without its key", () => {
    const twice = deployment(containers({ name: "x" }, { name: "x" }));
    expect(() => apply(undefined, "me", twice)).toThrow(expect.objectContaining({ code: "APPLY_INVALID" }));
    expect(() =>
      apply(undefined, "me", deployment({ template: { spec: { hostAliases: [{ hostnames: [] }, {}] } } })),
    ).toThrow('.spec.template.spec.hostAliases: duplicate entries for key [ip=""]');
  });

  it("refuses a configuration whose namespace is an object, also one that has a member toString", () => {
    const odd = deployment({ replicas: "many" }, { namespace: { toString: [] } });
    expect(() => apply(undefined, "me", odd)).toThrow(expect.objectContaining({ code: "APPLY_INVALID" }));
  });

  it("treats maps and lists of custom resources as their schema says", () => {
    const string = { type: "string" };
    const item = { type: "object", properties: { id: string, v: string }, required: ["id"] };
    const list = (listType: string, items: object, more = {}) => ({
      type: "array",
      "x-kubernetes-list-type": listType,
      items,
      ...more,
    });
    const { type } = compileSchema({
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            map: list("map", item, { "x-kubernetes-list-map-keys": ["id"] }),
            set: list("set", string),
            plain: { type: "array", items: string },
            whole: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: string, b: string } },
          },
        },
      },
    });
    const typed: Typed = { apiVersion: "x.io/v1", type, reset: NO_FIELDS, form: () => undefined };
    const cr = (spec: object): Any => ({
      apiVersion: "x.io/v1",
      kind: "X",
      metadata: { name: "x" },
      spec: { ...spec },
    });
    const one = cr({ map: [{ id: "1", v: "a" }], set: ["a"], plain: ["a"], whole: { a: "1" } });
    const { object: live } = apply(undefined, "one", one, { typed });
    const second = cr({ map: [{ id: "2", v: "b" }], set: ["b"] });
    const { object, conflicts } = apply(live, "two", second, { typed });
    expect(conflicts).toEqual([]);
    expect((object as Any).spec).toMatchObject({ map: [{ id: "1" }, { id: "2" }], set: ["a", "b"] });
    const third = apply(object, "two", cr({ plain: ["b"], whole: { b: "1" } }), { typed });
    expect(third.conflicts.map((c) => c.field)).toEqual([".spec.plain", ".spec.whole"]);
  });
});

describe("properties of server-side apply", () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  // Never empty: what is given without members is owned as a whole, and an empty list has no owner.
  const labels = fc.dictionary(name, fc.constantFrom("1", "2"), { minKeys: 1 });
  const item = fc.record({ name, image: fc.constantFrom("1", "2"), tty: fc.boolean() }, { requiredKeys: ["name"] });
  const items = fc.uniqueArray(item, { selector: (c) => c.name, minLength: 1 });
  const configuration = fc
    .record({ labels, items, finalizers: fc.uniqueArray(name, { minLength: 1 }), replicas: fc.option(fc.nat(3)) })
    .map((c) =>
      deployment(
        { ...containers(...c.items), ...(c.replicas === null ? {} : { replicas: c.replicas }) },
        { labels: c.labels, finalizers: c.finalizers },
      ),
    );
  const manager = fc.constantFrom("m1", "m2", "m3");
  const history = fc.array(fc.tuple(manager, configuration), { maxLength: 5 });
  const replay = (steps: readonly (readonly [string, KubeObject])[]): KubeObject | undefined => {
    let live: KubeObject | undefined;
    for (const [who, what] of steps) live = apply(live, who, what, { force: true }).object;
    return live;
  };
  const strip = (object: KubeObject): KubeObject => {
    const { managedFields: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  };

  it("applying the same again changes nothing at all", () => {
    fc.assert(
      fc.property(history, manager, configuration, (steps, who, what) => {
        const once = apply(replay(steps), who, what, { force: true }).object;
        expect(apply(once, who, what, { now: T1 }).object).toEqual(once);
      }),
    );
  });

  it("what is applied with force is there afterwards", () => {
    fc.assert(
      fc.property(history, manager, configuration, (steps, who, what) => {
        const { object } = apply(replay(steps), who, what, { force: true });
        expect(object.metadata.labels ?? {}).toMatchObject(what.metadata.labels ?? {});
        expect(object.metadata.finalizers ?? []).toEqual(expect.arrayContaining(what.metadata.finalizers ?? []));
      }),
    );
  });

  it("managers of different labels and items never conflict, in whatever order they come", () => {
    const part = (own: string) =>
      configuration.map((c) => {
        const rename = (text: string): string => `${own}-${text}`;
        const list = (
          (c.spec?.["template"] ?? { spec: { containers: [] } }) as { spec: { containers: { name: string }[] } }
        ).spec.containers.map((i) => ({ ...i, name: rename(i.name) }));
        const own_ = Object.fromEntries(Object.entries(c.metadata.labels ?? {}).map(([k, v]) => [rename(k), v]));
        return deployment(containers(...list), { labels: own_, finalizers: c.metadata.finalizers?.map(rename) });
      });
    fc.assert(
      fc.property(part("x"), part("y"), part("x"), (x, y, x2) => {
        let live: KubeObject | undefined;
        for (const [who, what] of [
          ["x", x],
          ["y", y],
          ["x", x2],
          ["y", y],
        ] as const) {
          const { object, conflicts } = apply(live, who, what);
          expect(conflicts).toEqual([]);
          live = object;
        }
      }),
    );
  });

  it("releasing all fields removes exactly those without another owner", () => {
    fc.assert(
      fc.property(configuration, configuration, (mine, theirs) => {
        const together = replay([
          ["theirs", theirs],
          ["mine", mine],
          ["theirs", theirs],
        ]);
        const left = apply(together, "mine", deployment(undefined)).object;
        const alone = replay([["theirs", theirs]]);
        const sorted = (object: KubeObject | undefined) => {
          const { labels: l = {}, finalizers = [] } = object?.metadata ?? {};
          return [l, [...finalizers].toSorted()];
        };
        expect(sorted(left)).toEqual(sorted(alone));
        expect(owners(left)).not.toHaveProperty("mine Apply");
      }),
    );
  });

  it("every field has an owner after any history of applies", () => {
    fc.assert(
      fc.property(history, (steps) => {
        const live = replay(steps);
        if (live === undefined) return;
        // An applier of the whole object as it is, which then gives up all its fields, removes none of them.
        const whole = strip(live);
        const held = apply(live, "whole", whole).object;
        expect(strip(apply(held, "whole", deployment(undefined)).object)).toEqual(whole);
      }),
    );
  });
});
