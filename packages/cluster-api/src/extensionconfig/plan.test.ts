import type { ExtensionConfig } from "@causeway/api";
import { getCondition } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { isDiscoveryDue, plan } from "./plan.ts";

const now = Date.UTC(2026, 10, 21);
const handlers = [{ name: "a.ext", requestHook: { apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", hook: "X" } }];
const config = (
  fields: { annotations?: Record<string, string>; discovered?: "True" | "False"; generation?: number } = {},
): ExtensionConfig => ({
  apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
  kind: "ExtensionConfig",
  metadata: { name: "ext", generation: 2, ...(fields.annotations ? { annotations: fields.annotations } : {}) },
  spec: { clientConfig: { url: "https://ext.example.com" } },
  ...(fields.discovered
    ? {
        status: {
          handlers,
          conditions: [
            {
              type: "Discovered",
              status: fields.discovered,
              reason: "r",
              lastTransitionTime: "2026-11-20T00:00:00Z",
              observedGeneration: fields.generation ?? 2,
            },
          ],
        },
      }
    : {}),
});

const leaving = (object: ExtensionConfig): ExtensionConfig => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: "2026-11-21T00:00:00Z" },
});
const conditionsOf = ({ status }: ReturnType<typeof plan>) =>
  status.conditions?.map(({ type, status: value, reason, message }) => `${type} ${value} ${reason} ${message}`.trim());

describe("discovery of an extension's handlers", () => {
  test.each<[string, ExtensionConfig, number | undefined, boolean]>([
    ["is due for a new extension", config(), undefined, true],
    ["is due after a restart", config({ discovered: "True" }), undefined, true],
    ["is not due for an extension that was called", config({ discovered: "True" }), now - 1_000, false],
    ["is due after ten minutes", config({ discovered: "True" }), now - 600_000, true],
    ["is due soon after a failure", config({ discovered: "False" }), now - 30_000, true],
    ["is due for a changed config", config({ discovered: "True", generation: 1 }), now - 1_000, true],
    ["is not due before ten minutes have passed", config({ discovered: "True" }), now - 599_999, false],
    ["is not due too soon after a failure", config({ discovered: "False" }), now - 29_999, false],
    ["is not due for an extension that is being deleted", leaving(config()), undefined, false],
    ["is not due for a paused extension", config({ annotations: { "cluster.x-k8s.io/paused": "" } }), undefined, false],
  ])("%s", (_, object, last, due) => {
    expect(isDiscoveryDue(object, last, now)).toBe(due);
  });

  test("publishes the handlers", () => {
    const { status, wait } = plan({ config: config(), discovery: { handlers } }, now);
    expect(status.handlers).toEqual(handlers);
    expect(getCondition(status.conditions, "Discovered")?.status).toBe("True");
    expect(wait?.until).toBe(now + 600_000);
  });
  test("that fails keeps the handlers that were known, and says why", () => {
    const { status, wait, events } = plan(
      { config: config({ discovered: "True" }), discovery: { problem: "no route" } },
      now,
    );
    expect(status.handlers).toEqual(handlers);
    expect(getCondition(status.conditions, "Discovered")).toMatchObject({ status: "False", message: "no route" });
    expect(wait?.until).toBe(now + 30_000);
    expect(events).toMatchObject([{ reason: "DiscoveryFailed", message: "no route" }]);
  });
  test("that is not due changes nothing", () => {
    const object = config({ discovered: "True" });
    expect(plan({ config: object, discovery: undefined }, now).status).toEqual(object.status);
  });

  test("is the whole of the conditions, and calls again in ten minutes", () => {
    const { steps, wait, events, ...rest } = plan({ config: config(), discovery: { handlers } }, now);
    expect([steps, events, wait]).toEqual([[], [], { for: "changes", until: now + 600_000 }]);
    expect(conditionsOf({ steps, ...rest })).toEqual(["Discovered True Discovered", "Paused False NotPaused"]);
  });
  test("that fails is a warning, and waits half a minute for the cause", () => {
    const { wait, events, ...rest } = plan({ config: config(), discovery: { problem: "no route" } }, now);
    expect(conditionsOf(rest)).toEqual(["Discovered False NotDiscovered no route", "Paused False NotPaused"]);
    expect(rest.status).not.toHaveProperty("handlers");
    expect(wait).toEqual({ for: "no route", until: now + 30_000 });
    expect(events).toEqual([{ type: "Warning", reason: "DiscoveryFailed", message: "no route" }]);
  });
  test("that is not due calls again in ten minutes", () => {
    expect(plan({ config: config(), discovery: undefined }, now)).toEqual({
      steps: [],
      status: {},
      wait: { for: "changes", until: now + 600_000 },
    });
  });
  test("of a paused extension keeps what was found, and says that it is paused", () => {
    const paused = { annotations: { "cluster.x-k8s.io/paused": "" } };
    const found = plan({ config: config({ ...paused, discovered: "True" }), discovery: { handlers: [] } }, now);
    expect(found).toMatchObject({ steps: [], status: { handlers } });
    expect(Object.keys(found)).toEqual(["steps", "status"]);
    expect(conditionsOf(found)?.slice(1)).toEqual([
      "Paused True Paused ExtensionConfig has the annotation cluster.x-k8s.io/paused",
    ]);
  });
});
