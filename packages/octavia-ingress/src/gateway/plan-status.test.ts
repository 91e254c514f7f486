import { describe, expect, test } from "vitest";
import { getCondition, type Condition } from "@causeway/kubernetes";
import { classParameters } from "../ingress/parameters.ts";
import { GATEWAY_CONTROLLER } from "../names.ts";
import type { Gateway, GatewayListener, RouteParentStatus } from "../objects/gateway.ts";
import { gateway, HTTP, NOW, observed, plain, route, settled, web } from "../testing/gateways.ts";
import { CONFIG } from "../testing/observed.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

describe("the status of a Gateway", () => {
  const SERVED = [{ type: "IPAddress", value: "203.0.113.5" }];
  const serving = (of: Gateway, conditions: Condition[] = []): Gateway => ({
    ...of,
    metadata: { ...of.metadata, generation: 2 },
    status: { conditions, addresses: SERVED },
  });
  const known = (type: string, status: Condition["status"]): Condition => ({
    type,
    status,
    reason: "Before",
    message: "",
    lastTransitionTime: "2025-01-01T00:00:00Z",
  });
  const balancer = settled(plain, [web]);
  const broken = (more: Partial<(typeof balancer.found)[number]> = {}): Observed["balancer"] => ({
    ...balancer,
    tree: undefined,
    found: balancer.found.map((lb) => ({ ...lb, provisioning_status: "ERROR", ...more })),
  });
  const says = (conditions: readonly Condition[] | undefined) =>
    (conditions ?? []).map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`.trim());

  test("has the address, and of each listener what it serves", () => {
    const { status, steps, wait } = plan(observed(plain, [web], { balancer }), NOW);
    expect([steps, wait]).toEqual([[], undefined]);
    expect(status.gateway).toMatchObject({
      addresses: SERVED,
      listeners: [
        {
          name: "http",
          attachedRoutes: 1,
          supportedKinds: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute" }],
        },
      ],
    });
    expect(says(status.gateway?.conditions)).toEqual(["Accepted True Accepted", "Programmed True Programmed"]);
    const [listener] = status.gateway?.listeners ?? [];
    expect(says(listener?.conditions)).toEqual([
      "Accepted True Accepted",
      "Programmed True Programmed",
      "ResolvedRefs True ResolvedRefs",
      "Conflicted False NoConflicts",
    ]);
  });

  test("keeps the address of a load balancer in ERROR, which is then left to a person", () => {
    const first = plan(observed(serving(plain), [web], { balancer: broken() }), NOW);
    expect(first.steps).toEqual([]);
    expect(first.status.gateway?.addresses).toEqual(SERVED);
    expect(first.wait).toEqual({ for: "the blocking condition to clear", until: NOW + 60_000 });
    const message = expect.stringContaining("is in ERROR; fail it over");
    expect(first.events).toEqual([{ type: "Warning", reason: "Failed", message }]);
    expect(says(first.status.gateway?.conditions)[1]).toMatch(/^Programmed False Pending load balancer lb is in ERROR/);
    const again = { ...plain, ...(first.status.gateway && { status: first.status.gateway }) };
    expect(plan(observed(again, [web], { balancer: broken() }), NOW).steps).toEqual([]);
  });

  test("has no address of a load balancer that is gone", () => {
    const { status, steps } = plan(observed(serving(plain), [web]), NOW);
    expect(steps.map(({ type }) => type)).toEqual(["create-load-balancer"]);
    expect(status.gateway).not.toHaveProperty("addresses");
  });

  test("has no address while its successor is being created, or where nothing of it is left", () => {
    const created = broken({ provisioning_status: "PENDING_CREATE" });
    const { status } = plan(observed(serving(plain), [web], { balancer: created }), NOW);
    expect(status.gateway).not.toHaveProperty("addresses");
    const bad = { ...classParameters(CONFIG.balancer, undefined), problem: "unknown keys x" };
    expect(plan(observed(serving(plain), [], { class: bad }), NOW).status.gateway).not.toHaveProperty("addresses");
  });

  test("has no address before there is one: a load balancer in ERROR that never served is created again", () => {
    const { status, steps } = plan(observed(plain, [web], { balancer: broken() }), NOW);
    expect(steps.map(({ type }) => type)).toEqual(["detach-floating-ip", "delete-load-balancer"]);
    expect(status.gateway).not.toHaveProperty("addresses");
  });

  test("says why nothing is changed, and keeps the address that is served", () => {
    const bad = { ...classParameters(CONFIG.balancer, undefined), problem: "unknown keys x" };
    const { status, events, wait } = plan(observed(serving(plain), [web], { class: bad, balancer }), NOW);
    expect(events).toEqual([{ type: "Warning", reason: "Failed", message: "unknown keys x" }]);
    expect(wait).toEqual({ for: "the blocking condition to clear", until: NOW + 60_000 });
    expect(status.gateway?.addresses).toEqual(SERVED);
    expect(says(status.gateway?.conditions)).toEqual([
      "Accepted False InvalidParameters unknown keys x",
      "Programmed False Invalid unknown keys x",
    ]);
    expect(says(status.gateway?.listeners?.[0]?.conditions)).toContain("Programmed False Pending");
  });

  test("names the listeners that are not served, while the others are", () => {
    const udp: GatewayListener = { name: "udp", port: 53, protocol: "UDP" };
    const dns: GatewayListener = { name: "dns", port: 54, protocol: "UDP" };
    const { status } = plan(observed(gateway([HTTP, udp, dns]), [web], { balancer }), NOW);
    expect(says(status.gateway?.conditions)[0]).toBe(
      "Accepted True ListenersNotValid listeners udp, dns are not served",
    );
    expect(says(status.gateway?.listeners?.[1]?.conditions)).toContain("Programmed False Invalid");
    const none = plan(observed(gateway([udp]), []), NOW).status.gateway?.conditions;
    expect(says(none)).toEqual([
      "Accepted False ListenersNotValid listeners udp are not served",
      "Programmed False Invalid no listener can be served",
    ]);
    const unserved = plan(observed(gateway([udp]), [], { balancer }), NOW).status.gateway?.conditions;
    expect(says(unserved)[1]).toBe("Programmed False Invalid no listener can be served");
  });

  test("remains programmed while a change is under way, with the condition's time", () => {
    const programmed = known("Programmed", "True");
    const changed = observed(serving(plain, [programmed, known("Ready", "True")]), [web, route("shop", {})], {
      balancer,
    });
    const { status } = plan(changed, NOW);
    expect(status.gateway?.conditions).toContainEqual(programmed);
    expect(status.gateway?.conditions?.map(({ type }) => type).toSorted()).toEqual(["Accepted", "Programmed"]);
    const waiting = {
      ...balancer,
      tree: undefined,
      found: balancer.found.map((lb) => ({ ...lb, provisioning_status: "PENDING_UPDATE" as const })),
    };
    const held = plan(observed(serving(plain, [programmed]), [web], { balancer: waiting }), NOW);
    expect(held.status.gateway?.conditions).toContainEqual(programmed);
    expect(held.wait).toEqual({ for: "load balancer lb to be ACTIVE", until: NOW + 60_000 });
  });

  test.each<[string, Partial<Observed>, Condition[], string]>([
    ["is under way", {}, [], "Programmed False Pending the load balancer is being changed"],
    [
      "is under way again",
      {},
      [known("Programmed", "False")],
      "Programmed False Pending the load balancer is being changed",
    ],
    [
      "waits for the cloud",
      {
        balancer: {
          ...balancer,
          tree: undefined,
          found: balancer.found.map((lb) => ({ ...lb, provisioning_status: "PENDING_CREATE" })),
        },
      },
      [known("Programmed", "True")],
      "Programmed False Pending load balancer lb to be ACTIVE",
    ],
    [
      "lacks an address",
      { routes: [web], balancer: { ...balancer, floatingIp: undefined } },
      [],
      "Programmed False AddressNotAssigned the load balancer has no address for clients yet",
    ],
  ])("says that it %s", (_title, more, before, expected) => {
    const of = { ...plain, status: { conditions: before } };
    const { status } = plan(observed(of, [web, route("shop", {})], { balancer, ...more }), NOW);
    expect(says(status.gateway?.conditions)).toContain(expected);
  });

  test("of a listener keeps the time of what remains true", () => {
    const old = (name: string, time: string) => ({
      name,
      supportedKinds: [],
      attachedRoutes: 0,
      conditions: [{ ...known("Accepted", "True"), reason: "Accepted", lastTransitionTime: time }],
    });
    const listeners = [old("other", "2024-01-01T00:00:00Z"), old("http", "2025-01-01T00:00:00Z")];
    const of = { ...plain, status: { conditions: [], listeners } };
    const [listener] = plan(observed(of, [web], { balancer }), NOW).status.gateway?.listeners ?? [];
    expect(getCondition(listener?.conditions, "Accepted")?.lastTransitionTime).toBe("2025-01-01T00:00:00Z");
  });

  test("of a route keeps the entries of others and the time of what remains true", () => {
    const condition = { ...known("Accepted", "True"), reason: "Accepted" };
    const entry = (
      parentRef: RouteParentStatus["parentRef"],
      controllerName: string = GATEWAY_CONTROLLER,
      time?: string,
    ) => ({
      parentRef,
      controllerName,
      conditions: [{ ...condition, ...(time === undefined ? {} : { lastTransitionTime: time }) }],
    });
    const mine = { name: "gw", namespace: "n" };
    const others = [
      entry(mine, "another.example/controller", "2023-01-01T00:00:00Z"),
      entry({ name: "other", namespace: "n" }),
    ];
    const parents = [
      ...others,
      entry({ ...mine, sectionName: "gone" }, GATEWAY_CONTROLLER, "2024-01-01T00:00:00Z"),
      entry(mine),
    ];
    const of = { ...web, status: { parents } };
    const [published] = plan(observed(plain, [of], { balancer }), NOW).status.routes;
    expect(published?.parents.slice(0, 2)).toEqual(others);
    expect(published?.parents).toHaveLength(3);
    const accepted = getCondition(published?.parents[2]?.conditions, "Accepted");
    expect(accepted).toMatchObject({ lastTransitionTime: condition.lastTransitionTime, status: "True" });
    const released = plan(observed(gateway([HTTP], { going: true }), [of]), NOW).status.routes;
    expect(released.map((each) => each.parents)).toEqual([others]);
  });
});
