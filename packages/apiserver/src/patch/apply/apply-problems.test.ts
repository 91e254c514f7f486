import { describe, expect, test } from "vitest";
import type { CausewayError } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { Tables } from "../../wire/tables.ts";
import { applyServerSide, BuiltInTypes, pathsSet, type Typed } from "../index.ts";

const types = new BuiltInTypes(new Tables());
const typedOf = (apiVersion: string, kind: string): Typed => ({
  apiVersion,
  type: types.ofKind(apiVersion, kind),
  reset: pathsSet(["status"]),
  form: () => undefined,
});
const TYPE = { apiVersion: "apps/v1", kind: "Deployment" };
const TYPED = typedOf("apps/v1", "Deployment");
const KEY = "kubectl.kubernetes.io/last-applied-configuration";
const NOW = "2026-01-01T00:00:00Z";
const deployment = (spec: object, metadata: object = {}): KubeObject =>
  ({ ...TYPE, metadata: { name: "d", namespace: "n", ...metadata }, spec }) as unknown as KubeObject;
const OWNED = [
  {
    manager: "m",
    operation: "Apply",
    apiVersion: "apps/v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:replicas": {} } },
  },
];

interface Given {
  readonly live?: KubeObject;
  readonly manager?: string;
  readonly typed?: Typed;
  readonly force?: boolean;
}

function apply(applied: KubeObject, { live, manager = "me", typed = TYPED, force = false }: Given = {}) {
  return applyServerSide({ ...(live && { live }), applied, manager, typed, now: NOW, force });
}

function refusal(applied: KubeObject, given: Given = {}): string {
  try {
    apply(applied, given);
    return "";
  } catch (error) {
    const { code, message, hint } = error as CausewayError;
    expect(code).toBe("APPLY_INVALID");
    if (!message.endsWith("cannot be read")) expect(hint).toBe("Correct the applied configuration.");
    return message;
  }
}

const AT = "(n/d; apps/v1, Kind=Deployment)";
const UNKNOWN = ".spec.x: field not declared in schema";

// The words are those of apimachinery's pkg/util/managedfields/internal/structuredmerge.go.
describe("an apply is refused", () => {
  test("for a configuration that is not of its type", () => {
    expect(refusal(deployment({ x: 1 }))).toBe(`failed to create typed patch object ${AT}: ${UNKNOWN}`);
    const twice = deployment({ template: { spec: { containers: [{ name: "a" }, { name: "a" }] } } });
    expect(refusal(twice)).toContain('duplicate entries for key [name="a"]');
  });

  test("for a live object without owners that is not of its type, before all else", () => {
    const live = deployment({ x: 1 });
    const why = `failed to create manager for existing fields: failed to convert new object ${AT} to smd typed: ${UNKNOWN}`;
    expect(refusal(deployment({ y: 1 }), { live })).toBe(why);
    expect(refusal(deployment({}), { live })).toBe(why);
  });

  test("for a live object with owners that is not of its type, after the configuration", () => {
    const live = deployment({ x: 1 }, { managedFields: OWNED });
    expect(refusal(deployment({ y: 1 }), { live })).toContain("failed to create typed patch object");
    expect(refusal(deployment({}), { live })).toBe(`failed to create typed live object ${AT}: ${UNKNOWN}`);
  });

  test("for managed fields that cannot be read", () => {
    const live = deployment({}, { managedFields: [{ ...OWNED[0], fieldsType: "FieldsV2" }] });
    expect(refusal(deployment({}), { live })).toBe("the live object's managed fields cannot be read");
  });

  test.each<[unknown, string]>([
    [{ name: "m" }, "(/m; /v1, Kind=ConfigMap)"],
    [{ name: 5, namespace: ["x"] }, "(/; /v1, Kind=ConfigMap)"],
    [undefined, "(/; /v1, Kind=ConfigMap)"],
  ])("about an object with the metadata %j", (metadata, shown) => {
    const map = { apiVersion: "v1", kind: "ConfigMap", ...(metadata ? { metadata } : {}), x: 1 } as never;
    const why = refusal(map, { typed: typedOf("v1", "ConfigMap") });
    expect(why).toContain(`failed to create typed patch object ${shown}: `);
  });
});

describe("an apply is accepted", () => {
  test("of a live object that has items twice", () => {
    const containers = [
      { name: "a", image: "1" },
      { name: "a", image: "2" },
    ];
    for (const managedFields of [undefined, OWNED]) {
      const live = deployment({ template: { spec: { containers } } }, managedFields ? { managedFields } : {});
      expect(apply(deployment({ paused: true }), { live }).conflicts).toEqual([]);
    }
  });

  test("without metadata in its result only where there are none", () => {
    const { object } = apply({ apiVersion: "v1", kind: "Thing" } as never, { typed: typedOf("x.io/v1", "Thing") });
    expect(object.metadata).toEqual({});
  });

  test("that changes nothing, with the time of the first", () => {
    const first = apply(deployment({ replicas: 1 })).object;
    const again = applyServerSide({
      live: first,
      applied: deployment({ replicas: 1 }),
      manager: "me",
      typed: TYPED,
      now: "2026-01-02T00:00:00Z",
    }).object;
    expect(again).toEqual(first);
  });

  test("that leaves no entry of a manager that owns nothing", () => {
    const first = apply(deployment({ replicas: 1 })).object;
    const { object } = apply({ ...TYPE, metadata: { name: "d", namespace: "n" } } as never, { live: first });
    expect(object.metadata.managedFields).toBeUndefined();
    expect((object as never as { spec: object }).spec).toBeUndefined();
  });
});

describe("an apply by kubectl", () => {
  const record = (spec: object): string => JSON.stringify({ ...TYPE, metadata: { name: "d", namespace: "n" }, spec });
  const applied = deployment({ replicas: 3 });
  const live = (recorded: object): KubeObject =>
    deployment(
      { replicas: 2, paused: true },
      {
        annotations: { [KEY]: record(recorded) },
        managedFields: [
          {
            manager: "kubectl-client-side-apply",
            operation: "Update",
            apiVersion: "apps/v1",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } },
          },
        ],
      },
    );

  test("takes over what it applied in the client-side way", () => {
    const { object, conflicts } = apply(applied, { live: live({ replicas: 2 }), manager: "kubectl" });
    expect(conflicts).toEqual([]);
    expect((object as never as { spec: object }).spec).toEqual({ replicas: 3, paused: true });
    expect(object.metadata.annotations?.[KEY]).toBe(
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n"},"spec":{"replicas":3}}\n',
    );
  });

  test("conflicts about all else", () => {
    const before = live({ paused: true });
    const { object, conflicts } = apply(applied, { live: before, manager: "kubectl" });
    expect(conflicts.map((c) => c.field)).toEqual([".spec.replicas"]);
    expect(object).toBe(before);
  });

  test("is not one by another manager", () => {
    expect(apply(applied, { live: live({ replicas: 2 }) }).conflicts).toHaveLength(1);
    const forced = apply(applied, { live: live({ replicas: 2 }), force: true }).object;
    expect(forced.metadata.annotations?.[KEY]).toBe(record({ replicas: 2 }));
  });
});
