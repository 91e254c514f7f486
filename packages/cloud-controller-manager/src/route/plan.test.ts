import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCidr } from "@causeway/foundation";
import type { Node } from "@causeway/kubernetes";
import type { Port, Route, Router } from "@causeway/openstack";
import { aNode } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

const now = Date.parse("2026-03-01T10:00:00Z");
const cidr = (text: string) => parseCidr(text) ?? expect.fail(text);

function node(i: number, changes: { podCIDRs?: string[]; addresses?: string[] } = {}): Node {
  const { podCIDRs = [`10.244.${i}.0/24`], addresses = [`10.0.0.${i + 10}`] } = changes;
  const made = aNode(`n${i}`);
  return {
    ...made,
    spec: { ...made.spec, podCIDRs },
    status: { addresses: addresses.map((address) => ({ type: "InternalIP", address })) },
  };
}

function port(address: string, changes: Partial<Port> = {}): Port {
  return {
    id: `port-${address}`,
    name: "",
    description: "",
    project_id: "p",
    network_id: "net",
    status: "ACTIVE",
    admin_state_up: true,
    mac_address: "",
    fixed_ips: [{ subnet_id: "s", ip_address: address }],
    device_id: "d",
    device_owner: "compute:nova",
    security_groups: [],
    allowed_address_pairs: [],
    tags: [],
    revision_number: 1,
    ...changes,
  };
}

function observed(nodes: readonly Node[], routes: readonly Route[], changes: Partial<Observed> = {}): Observed {
  const ports = new Map<string, Port[]>();
  for (const n of nodes) for (const { address } of n.status?.addresses ?? []) ports.set(address, [port(address)]);
  const router: Router = {
    id: "r",
    name: "",
    description: "",
    project_id: "p",
    status: "ACTIVE",
    admin_state_up: true,
    external_gateway_info: null,
    routes: [...routes],
    tags: [],
  };
  return {
    nodes,
    router,
    routable: true,
    networks: ["10.0.0.0/24", "fd00::/64"].map((text) => ({ networkId: "net", cidr: cidr(text) })),
    portsAt: (address) => ports.get(address) ?? [],
    clusterCidrs: [cidr("10.244.0.0/16"), cidr("fd00:244::/48")],
    addressPairs: true,
    refusals: new Map(),
    ...changes,
  };
}

/** Does what the steps say, until there are none. */
function settle(start: Observed): {
  routes: readonly Route[];
  pairs: Map<string, string[]>;
  nodes: readonly Node[];
  steps: string[];
} {
  let routes: readonly Route[] = start.router?.routes ?? [];
  let nodes = start.nodes;
  const pairs = new Map<string, string[]>();
  const steps: string[] = [];
  const portsAt = (address: string) =>
    start.portsAt(address).map((p) => ({
      ...p,
      allowed_address_pairs: pairs.get(p.id)?.map((ip_address) => ({ ip_address })) ?? p.allowed_address_pairs,
    }));
  for (let round = 0; round < 10; round++) {
    const router = start.router && { ...start.router, routes: [...routes] };
    const planned = plan({ ...start, nodes, router, portsAt }, now);
    if (planned.steps.length === 0) return { routes, pairs, nodes, steps };
    for (const step of planned.steps) {
      steps.push(step.type);
      if (step.type === "add-routes") routes = [...routes, ...step.routes];
      if (step.type === "remove-routes") routes = routes.filter((r) => !step.routes.includes(r));
      if (step.type === "set-address-pairs")
        for (const p of step.ports)
          pairs.set(
            p.id,
            p.pairs.map((pair) => pair.ip_address),
          );
      if (step.type === "mark-nodes")
        nodes = nodes.map((n) =>
          marked(
            n,
            step.nodes.find((m) => m.name === n.metadata.name),
          ),
        );
    }
  }
  throw new Error("the plan does not come to an end");
}

function marked(n: Node, mark: { available: boolean; message: string } | undefined): Node {
  if (!mark) return n;
  const condition = mark.available
    ? { type: "NetworkUnavailable", status: "False" as const, reason: "RouteCreated" }
    : { type: "NetworkUnavailable", status: "True" as const, reason: "NoRouteCreated" };
  return { ...n, status: { ...n.status, conditions: [condition] } };
}

describe("the plan of routes", () => {
  test("of 100 nodes is one batch", () => {
    const nodes = Array.from({ length: 100 }, (_, i) => node(i));
    const end = settle(observed(nodes, []));
    expect(end.steps).toEqual(["set-address-pairs", "add-routes", "mark-nodes"]);
    expect(end.routes).toHaveLength(100);
  });

  test("has both families of a node, each by its own next hop and both pairs on its one port", () => {
    const both = node(1, { podCIDRs: ["10.244.1.0/24", "fd00:244:1::/64"], addresses: ["10.0.0.11", "fd00::11"] });
    const one = port("10.0.0.11");
    const end = settle(observed([both], [], { portsAt: () => [one] }));
    expect(end.routes).toEqual([
      { destination: "10.244.1.0/24", nexthop: "10.0.0.11" },
      { destination: "fd00:244:1::/64", nexthop: "fd00::11" },
    ]);
    expect(end.pairs.get(one.id)).toEqual(["10.244.1.0/24", "fd00:244:1::/64"]);
  });

  test("a port without port security needs no pair", () => {
    const open = port("10.0.0.11", { port_security_enabled: false });
    expect(settle(observed([node(1)], [], { portsAt: () => [open] })).steps).toEqual(["add-routes", "mark-nodes"]);
  });

  test.each([
    [
      "two ports have its address",
      { portsAt: () => [port("10.0.0.11"), port("10.0.0.11", { id: "other" })] },
      /2 ports/,
    ],
    ["no port has its address", { portsAt: () => [] }, /no port/],
    ["the router does not reach it", { networks: [] }, /no interface/],
    [
      "the cloud refused it",
      { refusals: new Map([["10.244.1.0/24 via 10.0.0.11", { message: "too many routes", until: now + 1 }]]) },
      /too many/,
    ],
  ])("a node gets a warning that it has no route when %s", (_what, changes: Partial<Observed>, message) => {
    const planned = plan(observed([node(1)], [], changes), now);
    expect(planned.steps).toMatchObject([{ type: "mark-nodes", nodes: [{ name: "n1", available: false }] }]);
    expect(planned.status[0]?.event.message).toMatch(message);
  });

  test("a next hop that is not known just now takes no route away", () => {
    const routes = [{ destination: "10.244.1.0/24", nexthop: "10.0.0.11" }];
    expect(settle(observed([node(1, { addresses: [] })], routes)).routes).toEqual(routes);
  });

  test("a changed next hop replaces the route", () => {
    const routes = [{ destination: "10.244.1.0/24", nexthop: "10.0.0.99" }];
    expect(settle(observed([node(1)], routes)).routes).toEqual([
      { destination: "10.244.1.0/24", nexthop: "10.0.0.11" },
    ]);
  });

  test("comes to an end, has every node's route, and never touches what is outside the cluster's addresses", () => {
    const anyRoute = fc.record({
      destination: fc.oneof(
        fc.integer({ min: 0, max: 20 }).map((i) => `10.244.${i}.0/24`),
        fc.integer({ min: 0, max: 20 }).map((i) => `172.16.${i}.0/24`),
      ),
      nexthop: fc.integer({ min: 2, max: 40 }).map((i) => `10.0.0.${i}`),
    });
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 20 })), fc.array(anyRoute), (ids, routes) => {
        const nodes = ids.map((i) => node(i));
        const end = settle(observed(nodes, routes));
        const foreign = (r: Route) => r.destination.startsWith("172.");
        expect(end.routes.filter(foreign)).toEqual(routes.filter(foreign));
        const ours = end.routes.filter((r) => !foreign(r)).map((r) => `${r.destination} ${r.nexthop}`);
        expect(new Set(ours)).toEqual(new Set(ids.map((i) => `10.244.${i}.0/24 10.0.0.${i + 10}`)));
      }),
    );
  });
});
