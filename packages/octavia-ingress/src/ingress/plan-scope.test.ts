import { describe, expect, test } from "vitest";
import { annotation, CLASS_ANNOTATION, FINALIZER } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";
import { awaitsClass, keepsFloatingIp, scopeOfClass, scopeOfOne, scopeOfOrphans } from "./plan-scope.ts";

interface Given {
  readonly held?: boolean;
  readonly going?: boolean;
  readonly created?: string;
  readonly annotations?: Record<string, string>;
  readonly className?: string;
}

function ingress(name: string, { held = true, going = false, created, annotations, className }: Given = {}): Ingress {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name,
      namespace: "n",
      creationTimestamp: created ?? "2026-01-01T00:00:00Z",
      finalizers: held ? [FINALIZER] : [],
      ...(annotations ? { annotations } : {}),
      ...(going ? { deletionTimestamp: "2026-01-02T00:00:00Z" } : {}),
    },
    spec: className === undefined ? {} : { ingressClassName: className },
  };
}

const own = { shared: false };
const shared = { shared: true };
const names = (ingresses: readonly Ingress[] = []) => ingresses.map(({ metadata }) => metadata.name);

describe("an Ingress", () => {
  type Row = [
    title: string,
    given: Given,
    parameters: typeof own | undefined,
    awaits: boolean,
    expected: object | undefined,
  ];
  test.each<Row>([
    ["of ours is served", {}, own, false, { served: ["web"], released: [] }],
    ["of ours is served before it has our finalizer", { held: false }, own, false, { served: ["web"], released: [] }],
    ["that is being deleted is released", { going: true }, own, false, { served: [], released: ["web"] }],
    [
      "that is deleted without our finalizer needs nothing",
      { going: true, held: false },
      own,
      false,
      { served: [], released: [] },
    ],
    ["that shares a load balancer is left to its class", {}, shared, false, { served: [], released: [] }],
    ["that another controller took over is released", {}, undefined, false, { served: [], released: ["web"] }],
    ["that never was ours is no concern", { held: false }, undefined, false, undefined],
    ["whose class is gone keeps what it has", {}, undefined, true, undefined],
    [
      "that is deleted after its class is left to the class's key",
      { going: true },
      undefined,
      true,
      { served: [], released: [] },
    ],
  ])("%s", (_title, given, parameters, awaits, expected) => {
    const scope = scopeOfOne(ingress("web", given), parameters, awaits);
    expect(scope && { served: names(scope.served), released: names(scope.released) }).toEqual(expected);
  });

  test("waits for the class that it names, unless the annotation names one", () => {
    const none = (): boolean => false;
    expect(awaitsClass(ingress("a", { className: "c" }), none)).toBe(true);
    expect(awaitsClass(ingress("a", { className: "c" }), () => true)).toBe(false);
    expect(awaitsClass(ingress("a", { className: "c", annotations: { [CLASS_ANNOTATION]: "x" } }), none)).toBe(false);
    expect(awaitsClass(ingress("a"), none)).toBe(false);
  });
});

describe("a class", () => {
  const [old, young] = [ingress("old", { created: "2025-01-01T00:00:00Z" }), ingress("young")];
  const going = ingress("going", { going: true });
  const never = ingress("never", { going: true, held: false });

  test("that shares a load balancer serves its Ingresses, the oldest first, and releases those that are deleted", () => {
    const scope = scopeOfClass([young, going, never, old], shared);
    expect([names(scope.served), names(scope.leaving), scope.held]).toEqual([["old", "young"], ["going"], true]);
    expect(names(scopeOfClass([old, young], shared).served)).toEqual(["old", "young"]);
  });

  test("whose Ingresses have load balancers of their own serves none", () => {
    expect(scopeOfClass([young, going], own)).toEqual({ served: [], leaving: [], held: true });
    expect(scopeOfClass([never], own).held).toBe(false);
  });

  test.each<[title: string, held: readonly Ingress[], isAbandoned: boolean, expected: object | undefined]>([
    ["is kept while an Ingress waits for it", [young], false, undefined],
    ["is kept though an Ingress left it", [young], true, undefined],
    ["releases those that are deleted, and keeps the rest", [young, going], false, { leaving: ["going"], kept: true }],
    ["releases the last one", [going], false, { leaving: ["going"], kept: false }],
    ["is cleaned up once all have left it", [], true, { leaving: [], kept: false }],
    ["that never served any needs nothing", [], false, undefined],
  ])("that is gone %s", (_title, held, isAbandoned, expected) => {
    const scope = scopeOfOrphans(held, isAbandoned);
    expect(scope && { ...scope, leaving: names(scope.leaving) }).toEqual(expected);
  });

  test("keeps a floating IP that one of its Ingresses keeps", () => {
    const keeping = ingress("keeping", { annotations: { [annotation.keepFloatingIp]: "true" } });
    expect(keepsFloatingIp([young, keeping])).toBe(true);
    expect(keepsFloatingIp([young])).toBe(false);
  });
});
