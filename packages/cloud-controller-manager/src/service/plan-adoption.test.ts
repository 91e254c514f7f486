import { describe, expect, test } from "vitest";
import type { LoadBalancer } from "@causeway/openstack";
import { nothingHeld } from "../testing/model-parts.ts";
import { aService } from "../testing/objects.ts";
import { planAdoption } from "./plan-adoption.ts";

const NOW = 1_000;
const event = { type: "Normal", reason: "LoadBalancerAdopted", message: "adopted" } as const;
const status = { loadBalancer: { ingress: [{ ip: "203.0.113.5" }] } };
const adopt = (state: LoadBalancer["provisioning_status"], busy?: number) => {
  const lb = { id: "LB", provisioning_status: state } as LoadBalancer;
  const observed = { service: { ...aService(), status }, held: { ...nothingHeld, busy } };
  return planAdoption(observed as Parameters<typeof planAdoption>[0], { lb, tags: ["a", "b"], event }, NOW);
};

describe("the adoption of a load balancer", () => {
  const step = { type: "update-load-balancer", id: "LB", change: { tags: ["a", "b"] } };
  const rewritten = { steps: [step], status, events: [event] };
  const waiting = (until: number) => ({ steps: [], status, wait: { for: "load balancer LB to be changeable", until } });
  test("rewrites its tags, and says so", () => expect(adopt("ACTIVE")).toEqual(rewritten));
  test("waits while it is busy", () => expect(adopt("ACTIVE", NOW + 1)).toEqual(waiting(NOW + 1)));
  test("waits no longer", () => expect(adopt("ACTIVE", NOW)).toEqual(rewritten));
  test("waits a minute for a change", () => expect(adopt("PENDING_UPDATE")).toEqual(waiting(NOW + 60_000)));
  test("is not made in ERROR, and a warning says so", () => {
    const message = expect.stringContaining("load balancer LB is in ERROR and cannot be adopted: fail it over");
    expect(adopt("ERROR")).toEqual({
      steps: [],
      status,
      events: [{ type: "Warning", reason: "SyncLoadBalancerFailed", message }],
      wait: { for: "load balancer LB in ERROR", until: NOW + 60_000 },
    });
  });
});
