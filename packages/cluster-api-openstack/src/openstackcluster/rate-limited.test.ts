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
