import { expect, it } from "vitest";
import { condition, plan, settle, world } from "../testing/cluster-world.ts";
import { demoSpec, now } from "../testing/objects.ts";

it("an OpenStackCluster remains ready while the cloud limits the rate of requests, and a new cluster is not called failed", () => {
  const identity = { ok: false, reason: "RateLimited", message: "limits the rate", until: now + 20_000 } as const;
  const w = world(demoSpec);
  w.extra = { identity };
  expect(condition(plan(w).status, "Ready")).toBe("Unknown RateLimited");
  w.extra = {};
  settle(w);
  w.extra = { identity };
  expect(plan(w)).toMatchObject({ steps: [], wait: { until: now + 20_000 } });
  expect(plan(w).events ?? []).toEqual([]);
  expect(condition(plan(w).status, "Ready")).toBe("True Ready");
});

it("an OpenStackCluster warns once pauses of its cloud have followed one another for five minutes, with one text", () => {
  const w = world(demoSpec);
  settle(w);
  const eventsAfter = (minutes: number) => {
    const since = now - minutes * 60_000;
    const message = `it asks to wait until ${minutes}`;
    w.extra = { identity: { ok: false, reason: "CloudUnavailable", message, until: now + 20_000, since } };
    return plan(w).events ?? [];
  };
  expect(eventsAfter(4)).toEqual([]);
  expect(eventsAfter(5)).toMatchObject([
    {
      type: "Warning",
      reason: "CloudUnavailable",
      message: expect.stringMatching(/^The cloud does not respond \(status 503\) since \d/),
    },
  ]);
  expect(condition(plan(w).status, "Ready")).toBe("True Ready");
});
