import type { ClusterClass } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { clusterClass } from "../testing/class-manifests.ts";
import { now, referred } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

const apiVersion = "infrastructure.cluster.x-k8s.io/v1beta2";
type Found = Observed["templates"][number];
const template = (name: string, change: Partial<Found["reference"]> = {}): Found => {
  const found = referred("OpenStackMachineTemplate", name, {});
  return { path: "p", reference: { apiVersion, kind: "OpenStackMachineTemplate", name, ...change }, found };
};
const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "ClusterClass", name: "class", uid: "uid-class" };
const withMetadata = ({ found, ...one }: Found, metadata: object): Found => {
  const { object } = found;
  if (!object) throw new Error("there is no object");
  return { ...one, found: { ...found, object: { ...object, metadata: { ...object.metadata, ...metadata } } } };
};
const made = (metadata: object = {}, status?: ClusterClass["status"]): ClusterClass => {
  const { metadata: own, ...rest } = clusterClass("class", { variables: [], patches: [] });
  const all = { ...own, namespace: "default", uid: "uid-class", generation: 3, ...metadata };
  return { ...rest, metadata: all, ...(status ? { status } : {}) };
};
const observed = (fields: Partial<Observed> = {}): Observed => ({
  clusterClass: made(),
  templates: [],
  discovered: [],
  ...fields,
});
const conditions = ({ status }: ReturnType<typeof plan>) =>
  status.conditions?.map(({ type, status: value, reason, message }) => `${type} ${value} ${reason} ${message}`.trim());
const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const variable = (name: string, type: "string") => ({
  name,
  required: false,
  schema: { openAPIV3Schema: { type } },
});

describe("the plan of a ClusterClass", () => {
  const adopted = { type: "patch", key: { namespace: "default", name: "t" } };
  test.each<[string, Observed, object[]]>([
    ["owns its templates", observed({ templates: [template("t")] }), [adopted]],
    [
      "owns a template that two references name once",
      observed({ templates: [template("t"), template("t")] }),
      [adopted],
    ],
    [
      "owns each of several templates",
      observed({ templates: [template("t"), template("u")] }),
      [adopted, { type: "patch", key: { namespace: "default", name: "u" } }],
    ],
    ["owns a template once", observed({ templates: [withMetadata(template("t"), { ownerReferences: [owner] })] }), []],
    ["leaves templates that are being deleted", observed({ templates: [withMetadata(template("t"), gone)] }), []],
    [
      "leaves what does not exist, or what no provider serves",
      observed({
        templates: [
          { ...template("t"), found: referred("OpenStackMachineTemplate", "t") },
          { ...template("u"), found: { ...template("u").found, kind: undefined } },
        ],
      }),
      [],
    ],
    ["owns nothing while it is being deleted", observed({ clusterClass: made(gone), templates: [template("t")] }), []],
  ])("%s", (_, given, steps) => {
    const planned = plan(given, now).steps;
    expect(planned).toHaveLength(steps.length);
    expect(planned).toMatchObject(steps);
  });

  test("owns a template by a reference to itself, without being its controller", () => {
    expect(plan(observed({ templates: [template("t")] }), now).steps).toMatchObject([
      { body: { metadata: { ownerReferences: [owner] } } },
    ]);
  });
});

describe("the status of a ClusterClass", () => {
  const fine = [
    "VariablesReady True VariablesReady",
    "RefVersionsUpToDate True RefVersionsUpToDate",
    "Paused False NotPaused",
  ];
  test("says that all is well, and waits for changes", () => {
    const result = plan(observed({ templates: [template("t")] }), now);
    expect(conditions(result)).toEqual(fine);
    expect(result.wait).toEqual({ for: "changes" });
    expect(result.status).not.toHaveProperty("variables");
    expect(result.status.observedGeneration).toBe(3);
    expect(plan(observed({ clusterClass: made({ generation: undefined }) }), now).status).not.toHaveProperty(
      "observedGeneration",
    );
  });

  test("keeps the times of its conditions, and no others of before", () => {
    const lastTransitionTime = "2025-01-01T00:00:00Z";
    const before = { type: "VariablesReady", status: "True", reason: "VariablesReady", lastTransitionTime } as const;
    const clusterClass = made({}, { conditions: [before, { ...before, type: "Old" }] });
    const found = plan(observed({ clusterClass }), now).status.conditions ?? [];
    expect(found.map(({ type }) => type)).toEqual(["VariablesReady", "RefVersionsUpToDate", "Paused"]);
    expect(found[0]?.lastTransitionTime).toBe(lastTransitionTime);
  });

  test("says that it is paused, and keeps the rest as it was", () => {
    const variables = [{ name: "a", definitionsConflict: false, definitions: [] }];
    const annotated = { annotations: { "cluster.x-k8s.io/paused": "" } };
    const result = plan(observed({ clusterClass: made(annotated, { variables }), templates: [template("t")] }), now);
    expect(result).toMatchObject({ steps: [], status: { variables }, wait: { for: "unpausing" } });
    expect(conditions(result)).toEqual(["Paused True Paused ClusterClass has the annotation cluster.x-k8s.io/paused"]);
  });

  test("lists its variables", () => {
    const clusterClass = { ...made(), spec: { ...made().spec, variables: [variable("size", "string")] } };
    expect(plan(observed({ clusterClass }), now).status.variables?.map(({ name }) => name)).toEqual(["size"]);
  });

  test("keeps the variables of before while the definitions cannot be used, and calls the extensions again", () => {
    const variables = [{ name: "a", definitionsConflict: false, definitions: [] }];
    const discovered = [{ patch: "p", handler: "h", problem: "no route" }];
    const result = plan(observed({ clusterClass: made({}, { variables }), discovered }), now);
    expect(result.status.variables).toEqual(variables);
    expect(conditions(result)?.[0]).toBe(
      "VariablesReady False VariableDiscoveryFailed VariableDiscovery failed: failed to call DiscoverVariables for patch p: no route",
    );
    expect(result.wait).toEqual({ for: "changes", until: now + 10_000 });
    expect(plan(observed({ discovered }), now).status).not.toHaveProperty("variables");
  });

  test("names ten problems at most, one after another", () => {
    const discovered = Array.from({ length: 12 }, (_, n) => ({ patch: `p${n}`, handler: "h", problem: "x" }));
    const message = plan(observed({ discovered }), now).status.conditions?.[0]?.message ?? "";
    expect(message.split("; ")).toHaveLength(11);
    expect(message).toMatch(/; and 2 more$/);
  });

  test("names references to older versions, twenty at most", () => {
    const old = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1" };
    const unserved = { ...template("x", old), found: { ...template("x").found, kind: undefined } };
    const result = plan(observed({ templates: [template("t"), template("u", old), unserved] }), now);
    expect(conditions(result)?.[1]).toBe(
      "RefVersionsUpToDate False RefVersionsNotUpToDate * Ref OpenStackMachineTemplate u uses apiVersion infrastructure.cluster.x-k8s.io/v1beta1, but latest apiVersion is infrastructure.cluster.x-k8s.io/v1beta2",
    );
    const many = Array.from({ length: 22 }, (_, n) => template(`t${n}`, old));
    const message = plan(observed({ templates: many }), now).status.conditions?.[1]?.message ?? "";
    expect(message.split("\n")).toHaveLength(21);
    expect(message).toMatch(/\n\* and 2 more$/);
  });
});
