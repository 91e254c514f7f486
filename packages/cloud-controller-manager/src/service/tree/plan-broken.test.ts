import { describe, expect, test } from "vitest";
import type { LoadBalancer } from "@causeway/openstack";
import { aFloatingIp, common, nothingHeld } from "../../testing/model-parts.ts";
import { ModelWorld } from "../../testing/model.ts";
import { aService } from "../../testing/objects.ts";
import type { Observed } from "../observed.ts";
import { planBroken, stuckEvents } from "./plan-broken.ts";
import { providerChange, retirement } from "./plan-provider.ts";

const now = 1_000_000;
const name = "kube_service_c1_default_web";
const aBalancer = (changes: Partial<LoadBalancer> = {}) =>
  ({
    ...common("lb", name),
    provider: "amphora",
    provisioning_status: "ERROR",
    tags: [name, "k8s-owner=c1/0b0c-1"],
    vip_port_id: "vip",
    ...changes,
  }) as LoadBalancer;
const observed = (changes: Partial<Observed> = {}): Observed => ({
  ...new ModelWorld(aService(), []).observe(),
  ...changes,
});
const published = { ...aService(), status: { loadBalancer: { ingress: [{ ip: "172.24.4.7" }] } } };
const others = { tags: [name, "k8s-owner=c1/0b0c-1", "kube_service_c1_default_other"] };

describe("a load balancer in ERROR", () => {
  type Outcome = "failover" | "rebuild" | "advice";
  const refused = { held: { ...nothingHeld, failoverRefused: true } };
  const anothers = { tags: ["k8s-owner=c1/2"] };

  test.each<[string, Partial<LoadBalancer>, Partial<Observed>, Outcome]>([
    ["that never served is recreated", {}, { service: aService() }, "rebuild"],
    ["that never served and that others use is failed over", others, { service: aService() }, "failover"],
    ["that has served is failed over", {}, {}, "failover"],
    ["that a Service shares is failed over", { tags: ["k8s-owner=c1/2", name] }, {}, "failover"],
    ["that another Service owns alone is left to a person", anothers, {}, "advice"],
    ["of OVN, which has no failover, is left to a person", { provider: "ovn" }, {}, "advice"],
    ["whose failover was refused is left to a person", {}, refused, "advice"],
    ["of OVN that carries no traffic is recreated", { provider: "ovn", operating_status: "ERROR" }, {}, "rebuild"],
    ["that is OFFLINE is recreated", { operating_status: "OFFLINE" }, refused, "rebuild"],
    ["that is DEGRADED is left to a person", { operating_status: "DEGRADED" }, refused, "advice"],
    ["that others use, too, is not recreated", { ...others, operating_status: "ERROR" }, refused, "advice"],
    ["that a person named is not recreated", { name: "mine", operating_status: "ERROR" }, refused, "advice"],
  ])("%s", (_what, changes, change, outcome) => {
    const status = { loadBalancer: {} };
    const plan = planBroken(observed({ service: published, ...change }), aBalancer(changes), { status, now });
    const types = { failover: ["failover"], rebuild: ["delete-load-balancer"], advice: [] };
    expect(plan.steps.map((step) => step.type)).toEqual(types[outcome]);
    expect(plan.status).toBe(status);
    expect(plan.wait).toEqual(
      outcome === "advice" ? { for: "load balancer lb to leave ERROR", until: now + 60_000 } : undefined,
    );
  });

  test("is changed again only after a while", () => {
    const plan = (until: number) =>
      planBroken(observed({ held: { ...nothingHeld, broken: until } }), aBalancer(), { status: {}, now });
    expect(plan(now + 1)).toEqual({
      steps: [],
      status: {},
      wait: { for: "load balancer lb to leave ERROR", until: now + 1 },
    });
    expect(plan(now).steps).toHaveLength(1);
  });

  test("is never changed in silence", () => {
    const warning = (message: string) => ({
      type: "Warning",
      reason: "SyncLoadBalancerFailed",
      message: `Error syncing load balancer: ${message}`,
    });
    const plan = (change: Partial<Observed>, changes: Partial<LoadBalancer> = {}) =>
      planBroken(observed(change), aBalancer(changes), { status: {}, now });
    const rebuilt = (why: string) => [
      {
        type: "delete-load-balancer",
        id: "lb",
        cascade: true,
        broken: true,
        event: warning(`load balancer lb ${why}; it is deleted and recreated`),
      },
    ];
    expect(plan({}).steps).toEqual(rebuilt("went to ERROR while it was made"));
    const dead = plan({ service: published }, { provider: "ovn", operating_status: "OFFLINE" });
    expect(dead.steps).toEqual(rebuilt("is in ERROR and carries no traffic"));
    expect(plan({ service: published }).steps).toEqual([
      { type: "failover", id: "lb", event: warning("load balancer lb is in ERROR; it is failed over") },
    ]);
    expect(plan({ service: published }, { provider: "ovn" }).events).toEqual([
      warning(
        "load balancer lb is in ERROR: fail it over (openstack loadbalancer failover lb), or delete it and it is recreated",
      ),
    ]);
  });
});

test.each([
  [undefined, 0],
  [now - 600_000, 1],
  [now - 599_999, 0],
])("a load balancer that is PENDING since %s is reported when ten minutes are over", (pendingSince, count) => {
  const events = stuckEvents(
    observed({ held: { ...nothingHeld, pendingSince } }),
    aBalancer({ provisioning_status: "PENDING_UPDATE" }),
    now,
  );
  expect(events).toHaveLength(count);
  for (const event of events) {
    expect(event).toMatchObject({ type: "Warning", reason: "SyncLoadBalancerFailed" });
    expect(event.message).toContain("load balancer lb has been PENDING_UPDATE for more than ten minutes");
  }
});

describe("a Service that asks for another provider", () => {
  const ip = aFloatingIp("ip", "172.24.4.7");
  const { parameters } = observed();
  const wanting = (provider: string | undefined, changes: Partial<Observed> = {}) =>
    observed({ floatingIp: ip, ...changes, parameters: { ...parameters, provider, ...changes.parameters } });
  const amphora = aBalancer({ provisioning_status: "ACTIVE" });

  test("has its load balancer named aside, so that another one takes its place behind the same floating IP", () => {
    const message = "load balancer lb of provider amphora is replaced by one of ovn behind the same floating IP";
    expect(providerChange(wanting("ovn"), amphora)).toEqual({
      step: { type: "update-load-balancer", id: "lb", change: { name: `${name}_retiring` } },
      events: [{ type: "Normal", reason: "LoadBalancerProviderChanged", message }],
    });
  });

  test.each<[string, Observed]>([
    ["asks for none", wanting(undefined)],
    ["asks for the same", wanting("amphora")],
    ["asks for the same by another name", wanting("octavia")],
    ["has one that is being replaced already", wanting("ovn", { retiring: [aBalancer({ id: "old" })] })],
  ])("keeps what it has where it %s", (_what, given) => {
    expect(providerChange(given, amphora)).toEqual({ step: undefined, events: [] });
  });

  test.each<[string, Observed, Partial<LoadBalancer>]>([
    ["other Services share it", wanting("ovn"), others],
    ["other Services share it", wanting("ovn"), { tags: ["k8s-owner=c1/2"] }],
    [
      "its VIP is on a port of yours",
      wanting("ovn", { parameters: { ...parameters, provider: "ovn", portId: "p" } }),
      {},
    ],
    ["its address is its VIP, which would change", wanting("ovn", { floatingIp: undefined }), {}],
  ])("keeps what it has, with a warning, because %s", (why, given, changes) => {
    const message = `load balancer lb remains with provider amphora: ${why}; delete the Service and recreate it with ovn`;
    expect(providerChange(given, { ...amphora, ...changes })).toEqual({
      step: undefined,
      events: [{ type: "Warning", reason: "LoadBalancerProviderUnchanged", message }],
    });
  });

  test("has its floating IP moved when the new one is whole, and then the old one deleted when that can be changed", () => {
    const retiring = (status: LoadBalancer["provisioning_status"]) => [
      aBalancer({ id: "old", provisioning_status: status }),
    ];
    expect(retirement(observed(), amphora, now)).toEqual({ steps: [] });
    expect(retirement(observed({ retiring: retiring("ACTIVE"), retiringFloatingIp: ip }), amphora, now)).toEqual({
      steps: [{ type: "attach-floating-ip", id: "ip", portId: "vip" }],
    });
    for (const status of ["ACTIVE", "ERROR"] as const)
      expect(retirement(observed({ retiring: retiring(status) }), amphora, now).steps).toMatchObject([
        {
          type: "delete-load-balancer",
          id: "old",
          cascade: true,
          event: { type: "Normal", reason: "DeletingLoadBalancer" },
        },
      ]);
    expect(retirement(observed({ retiring: retiring("PENDING_UPDATE") }), amphora, now)).toEqual({
      steps: [],
      wait: { for: "load balancer old to be changeable", until: now + 60_000 },
    });
  });
});
