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

describe("the plan of routes", () => {
  const stale: Route = { destination: "10.244.9.0/24", nexthop: "10.0.0.9" };
  const paired = port("10.0.0.9", {
    allowed_address_pairs: [{ ip_address: "10.244.9.0/24" }, { ip_address: "192.0.2.1" }],
  });
  const at = (ports: Record<string, Port>) => (address: string) => (ports[address] ? [ports[address]] : []);
  const waiting = { steps: [], status: [], wait: { for: "a router that takes routes", until: now + 60_000 } };
  test.each<[string, Partial<Observed>]>([
    ["there is no router", { router: undefined }],
    ["the router takes none", { routable: false }],
  ])("waits a minute where %s", (_title, changes) => {
    expect(plan(observed([node(1)], [], changes), now)).toEqual(waiting);
  });

  const unpaired = { id: paired.id, revision: 1, pairs: [{ ip_address: "192.0.2.1" }] };
  test.each<[string, Partial<Observed>, object]>([
    ["takes the pair from its port first", {}, { type: "set-address-pairs", ports: [unpaired] }],
    ["has no pairs to take where none are used", { addressPairs: false }, { type: "remove-routes", routes: [stale] }],
    [
      "leaves a pair that the cloud refused to take",
      { refusals: new Map([[paired.id, { message: "no", until: now + 1 }]]) },
      { type: "remove-routes", routes: [stale] },
    ],
    [
      "has no pair to take from a port without it",
      { portsAt: at({ "10.0.0.9": port("10.0.0.9") }) },
      { type: "remove-routes", routes: [stale] },
    ],
  ])("of a route to no node %s", (_title, changes, step) => {
    expect(plan(observed([], [stale], { portsAt: at({ "10.0.0.9": paired }), ...changes }), now).steps).toEqual([step]);
  });

  test("keeps a pair that the port needs for the node's own route", () => {
    const moved = node(9, { addresses: ["10.0.0.9"] });
    const other: Route = { destination: "10.244.9.0/24", nexthop: "10.0.0.8" };
    const portsAt = () => [paired];
    const { steps } = plan(observed([moved], [stale, other], { portsAt }), now);
    expect(steps.map(({ type }) => type)).toEqual(["remove-routes", "mark-nodes"]);
    const elsewhere = port("10.0.0.8", { allowed_address_pairs: paired.allowed_address_pairs });
    const two = at({ "10.0.0.9": paired, "10.0.0.8": elsewhere });
    const pairs = plan(observed([moved], [stale, other], { portsAt: two }), now).steps;
    expect(pairs).toMatchObject([{ ports: [{ id: elsewhere.id, pairs: [{ ip_address: "192.0.2.1" }] }] }]);
  });

  test("adds a pair to those that the port has", () => {
    const portsAt = () => [port("10.0.0.11", { allowed_address_pairs: [{ ip_address: "192.0.2.1" }] })];
    const pairs = [{ ip_address: "192.0.2.1" }, { ip_address: "10.244.1.0/24" }];
    expect(plan(observed([node(1)], [], { portsAt }), now).steps).toMatchObject([{ ports: [{ pairs }] }]);
  });

  test("knows a pair of the same network however it is spelled, and none of what is no network", () => {
    const spelled = (ip_address: string) => () => [port("10.0.0.11", { allowed_address_pairs: [{ ip_address }] })];
    const types = (ip_address: string) =>
      plan(observed([node(1)], [], { portsAt: spelled(ip_address) }), now).steps.map(({ type }) => type);
    expect(types("10.244.1.7/24")).toEqual(["add-routes"]);
    expect(types("10.244.1.0/25")).toEqual(["set-address-pairs"]);
    expect(types("any")).toEqual(["set-address-pairs"]);
  });

  test("tries again when the first of the cloud's refusals is over", () => {
    const refusals = new Map([
      ["a", { message: "no", until: now + 9 }],
      ["b", { message: "no", until: now + 7 }],
    ]);
    expect(plan(observed([], [], { refusals }), now).wait).toEqual({ for: "what the cloud refused", until: now + 7 });
    expect(plan(observed([], []), now)).toEqual({ steps: [], status: [] });
  });

  const own: Route = { destination: "10.244.1.0/24", nexthop: "10.0.0.11" };
  const bare = { portsAt: () => [port("10.0.0.11", { port_security_enabled: false })] };
  test.each<[string, readonly Route[], Partial<Observed>, readonly object[], readonly string[]]>([
    [
      "is available once its routes are there",
      [own],
      bare,
      [{ name: "n1", available: true, message: "Routes to the node's pods are in place" }],
      [],
    ],
    [
      "is not where there can be no route",
      [],
      { networks: [] },
      [
        {
          name: "n1",
          available: false,
          message: "No route to the node's pods: the router has no interface on the network of 10.0.0.11",
        },
      ],
      ["Could not route 10.244.1.0/24: the router has no interface on the network of 10.0.0.11"],
    ],
    [
      "is available with a route that could not be made now",
      [own],
      { networks: [], clusterCidrs: [] },
      [{ name: "n1", available: true, message: "Routes to the node's pods are in place" }],
      ["Could not route 10.244.1.0/24: the router has no interface on the network of 10.0.0.11"],
    ],
  ])("says that a node %s", (_title, routes, changes, marks, messages) => {
    const { steps, status } = plan(observed([node(1)], routes, changes), now);
    expect(steps.find(({ type }) => type === "mark-nodes")).toEqual({ type: "mark-nodes", nodes: marks });
    const events = messages.map((message) => ({ type: "Warning", reason: "FailedToCreateRoute", message }));
    expect(status.map(({ event }) => event)).toEqual(events);
  });
});
