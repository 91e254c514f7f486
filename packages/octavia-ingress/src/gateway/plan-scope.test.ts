import { describe, expect, test } from "vitest";
import { FINALIZER } from "../names.ts";
import type { Gateway } from "../objects/gateway.ts";
import { concerns } from "./plan-scope.ts";

function gateway(held: boolean, deleted: boolean): Gateway {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: {
      name: "web",
      namespace: "n",
      finalizers: held ? [FINALIZER] : ["example.org/another"],
      ...(deleted ? { deletionTimestamp: "2026-01-02T00:00:00Z" } : {}),
    },
    spec: { gatewayClassName: "octavia", listeners: [] },
  };
}

describe("a Gateway", () => {
  const ours = { isOurs: true, hasClass: true };
  const anothers = { isOurs: false, hasClass: true };
  const classless = { isOurs: false, hasClass: false };
  test.each<[title: string, its: typeof ours, held: boolean, deleted: boolean, expected: boolean]>([
    ["of our class is planned", ours, false, false, true],
    ["of our class is planned while it is deleted", ours, true, true, true],
    ["that another controller took over is cleaned up", anothers, true, false, true],
    ["that never was ours is no concern", anothers, false, false, false],
    ["that never was ours is no concern when it is deleted", anothers, false, true, false],
    ["whose class is gone keeps what it has", classless, true, false, false],
    ["that is deleted after its class is cleaned up", classless, true, true, true],
    ["without a class that never was ours is no concern", classless, false, true, false],
  ])("%s", (_title, its, held, deleted, expected) => expect(concerns(gateway(held, deleted), its)).toBe(expected));
});
