import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Tables } from "../wire/tables.ts";
import { applyStrategicMergePatch, BuiltInTypes } from "./index.ts";
import { jsonEqual } from "../json/values.ts";

const POD = "Pod";
const SERVICE = "Service";
const DEPLOYMENT = "Deployment";
const TYPES = new BuiltInTypes(new Tables());
const merged = (object: unknown, patch: unknown, kind: string): unknown => {
  const type = { apiVersion: kind === DEPLOYMENT ? "apps/v1" : "v1", kind };
  const {
    apiVersion: _version,
    kind: _kind,
    ...rest
  } = applyStrategicMergePatch({ ...type, ...(object as object) }, patch, TYPES) as Record<string, unknown>;
  return rest;
};
const containers = (...items: object[]) => ({ spec: { containers: items } });

/** Sentence, kind, object, patch, result. */
const MERGES: readonly [string, string, unknown, unknown, unknown][] = [
  [
    "merges containers by name, and orders them as the patch has them where it names them",
    POD,
    containers({ name: "a", image: "1", env: [{ name: "X", value: "1" }] }, { name: "b" }),
    containers({ name: "a", image: "2", env: [{ name: "Y", value: "2" }] }, { name: "c" }),
    containers(
      {
        name: "a",
        image: "2",
        env: [
          { name: "Y", value: "2" },
          { name: "X", value: "1" },
        ],
      },
      { name: "c" },
      { name: "b" },
    ),
  ],
  [
    "replaces a list without a merge key",
    POD,
    { spec: { tolerations: [1] } },
    { spec: { tolerations: [2] } },
    { spec: { tolerations: [2] } },
  ],
  [
    "deletes an item on request",
    POD,
    containers({ name: "a" }, { name: "b" }),
    containers({ name: "a", $patch: "delete" }),
    containers({ name: "b" }),
  ],
  [
    "replaces a whole list on request",
    POD,
    containers({ name: "a" }),
    containers({ $patch: "replace" }, { name: "z" }),
    containers({ name: "z" }),
  ],
  [
    "replaces a whole object on request",
    POD,
    { spec: { a: 1 } },
    { spec: { $patch: "replace", b: 2 } },
    { spec: { b: 2 } },
  ],
  [
    "orders a list as requested, and leaves the others in place",
    POD,
    containers({ name: "a" }, { name: "b" }, { name: "c" }),
    {
      spec: {
        "$setElementOrder/containers": [{ name: "d" }, { name: "c" }, { name: "a" }],
        containers: [{ name: "d" }],
      },
    },
    containers({ name: "d" }, { name: "b" }, { name: "c" }, { name: "a" }),
  ],
  [
    "adds to a set and takes from it",
    POD,
    { metadata: { finalizers: ["x", "y"] } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["x"], finalizers: ["z", "y"] } },
    { metadata: { finalizers: ["z", "y"] } },
  ],
  [
    "only takes from a set",
    POD,
    { metadata: { finalizers: ["x", "y"] } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["x"] } },
    { metadata: { finalizers: ["y"] } },
  ],
  [
    "finds owner references by uid",
    POD,
    { metadata: { ownerReferences: [{ uid: "1", name: "a" }] } },
    { metadata: { ownerReferences: [{ uid: "1", controller: true }, { uid: "2" }] } },
    { metadata: { ownerReferences: [{ uid: "1", name: "a", controller: true }, { uid: "2" }] } },
  ],
  [
    "finds a Service's ports by number",
    SERVICE,
    { spec: { ports: [{ port: 80, protocol: "TCP" }] } },
    { spec: { ports: [{ port: 80, targetPort: 8080 }] } },
    { spec: { ports: [{ port: 80, protocol: "TCP", targetPort: 8080 }] } },
  ],
  [
    "merges a selector key by key",
    SERVICE,
    { spec: { selector: { a: "1" } } },
    { spec: { selector: { a: null, b: "2" } } },
    { spec: { selector: { b: "2" } } },
  ],
  [
    "keeps only the members of a union that it names",
    DEPLOYMENT,
    { spec: { strategy: { type: "RollingUpdate", rollingUpdate: {} } } },
    { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
    { spec: { strategy: { type: "Recreate" } } },
  ],
  [
    "replaces taints and merges conditions",
    "Node",
    { spec: { taints: [{ key: "a" }] }, status: { conditions: [{ type: "Ready", status: "False" }] } },
    {
      spec: { taints: [{ key: "b" }] },
      status: { conditions: [{ type: "Ready", status: "True" }, { type: "Other" }] },
    },
    {
      spec: { taints: [{ key: "b" }] },
      status: { conditions: [{ type: "Ready", status: "True" }, { type: "Other" }] },
    },
  ],
  [
    "leaves nulls and directives out of what is new",
    POD,
    {},
    { spec: { a: { b: null, c: 1 } } },
    { spec: { a: { c: 1 } } },
  ],
];

describe("a strategic merge patch", () => {
  it.each(MERGES)("%s", (_, kind, object, patch, result) => {
    const given = structuredClone(object);
    expect(merged(given, structuredClone(patch), kind)).toEqual(result);
    expect(given).toEqual(object);
  });

  it.each([
    ["an item without its merge key", containers({ image: "1" }), /does not contain declared merge key: name/],
    [
      "an unknown directive",
      { spec: { $patch: "explode" } },
      /unknown patch type: explode in map: map\[\$patch:explode\]/,
    ],
    ["anything but an object", [], /is an object/],
  ])("refuses %s", (_, patch, message) => {
    expect(() => merged(containers({ name: "a" }), patch, POD)).toThrow(message);
  });

  it("passes over the order of a field that points to a struct, and refuses that of a value", () => {
    const service = { apiVersion: "v1", kind: "Service", spec: {} };
    const types = new BuiltInTypes(new Tables());
    const ordered = (name: string) =>
      applyStrategicMergePatch(service, { spec: { [`$setElementOrder/${name}`]: ["a"] } }, types);
    expect(ordered("sessionAffinityConfig")).toEqual(service);
    expect(() => ordered("externalName")).toThrow("expected slice or array type, but got: struct");
  });

  it("applied twice changes nothing more", () => {
    const container = fc.record({ name: fc.constantFrom("a", "b", "c"), image: fc.constantFrom("1", "2") });
    const pod = fc.uniqueArray(container, { selector: (c) => c.name }).map((items) => containers(...items));
    fc.assert(
      fc.property(pod, pod, (object, patch) => {
        const once = merged(object, patch, POD);
        expect(jsonEqual(merged(once, patch, POD), once)).toBe(true);
      }),
    );
  });
});
