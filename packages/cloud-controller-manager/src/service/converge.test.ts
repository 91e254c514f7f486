import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Service } from "@causeway/kubernetes";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService, tcp80, udp53 } from "../testing/objects.ts";
import { plan } from "./plan.ts";

const nodes = [1, 2, 3].map((i) => aNode(`n${i}`, { address: `10.0.0.${i}` }));

const ports = fc.uniqueArray(
  fc.record({
    protocol: fc.constantFrom("TCP" as const, "UDP" as const),
    port: fc.integer({ min: 1, max: 4 }),
    nodePort: fc.integer({ min: 30_000, max: 30_004 }),
  }),
  { minLength: 1, maxLength: 4, selector: (p) => `${p.protocol} ${p.port}` },
);
const wishes = fc.record({
  spec: fc.record({
    ports,
    sessionAffinity: fc.constantFrom("None" as const, "ClientIP" as const),
    loadBalancerSourceRanges: fc.subarray(["10.0.0.0/8", "192.168.0.0/16"]),
    externalTrafficPolicy: fc.constantFrom("Cluster" as const, "Local" as const),
    healthCheckNodePort: fc.constantFrom(0, 32_000),
  }),
  annotations: fc.record({
    "service.beta.kubernetes.io/openstack-internal-load-balancer": fc.constantFrom("true", "false"),
    "loadbalancer.openstack.org/enable-health-monitor": fc.constantFrom("true", "false"),
    "loadbalancer.openstack.org/health-monitor-delay": fc.constantFrom("5", "7"),
    "loadbalancer.openstack.org/proxy-protocol": fc.constantFrom("v2", ""),
    "loadbalancer.openstack.org/timeout-client-data": fc.constantFrom("1000", "2000"),
  }),
  nodes: fc.subarray(nodes, { minLength: 1 }),
});
/** OVN has no PROXY protocol: a Service that asks for it there is refused. */
function possible<T extends { annotations: Record<string, string> }>(name: string, wish: T): T {
  const none = { "loadbalancer.openstack.org/proxy-protocol": "" };
  return name === "ovn" ? { ...wish, annotations: { ...wish.annotations, ...none } } : wish;
}

const provider = fc.constantFrom("ovn", "amphora");
const modes = fc.record({ cascadeDelete: fc.boolean(), serialApiCalls: fc.boolean() });

function expected(service: Service, members: readonly { status?: { addresses?: { address: string }[] } }[]): string[] {
  const addresses = members.map((n) => n.status?.addresses?.[0]?.address ?? "");
  return (service.spec.ports ?? [])
    .map(
      (p) =>
        `${p.protocol} ${p.port} → ${addresses
          .map((a) => `${a}:${p.nodePort}`)
          .toSorted()
          .join(" ")}`,
    )
    .toSorted();
}

describe("a Service's load balancer", () => {
  test("becomes what is wished, however the wishes change, and remains one", () => {
    fc.assert(
      fc.property(provider, modes, fc.array(wishes, { minLength: 1, maxLength: 4 }), (name, mode, all) => {
        const world = new ModelWorld(aService(), nodes, { provider: name, ...mode });
        for (const wish of all.map((each) => possible(name, each))) {
          world.change(wish.spec, wish.annotations);
          world.nodes = wish.nodes;
          world.converge();
          expect(world.served()).toEqual(expected(world.service, wish.nodes));
          expect(world.balancers).toHaveLength(1);
          expect(world.annotatedId).toBe(world.balancers[0]?.id);
          const internal = wish.annotations["service.beta.kubernetes.io/openstack-internal-load-balancer"] === "true";
          expect(world.floatingIps).toHaveLength(internal ? 0 : 1);
          expect(world.address).toBe(internal ? "10.0.0.200" : world.floatingIps[0]?.floating_ip_address);
        }
        expect(world.made).toBe(1);
        world.delete();
        world.converge();
        expect(world.service.metadata.finalizers).toEqual([]);
        expect([...world.balancers, ...world.floatingIps]).toEqual([]);
      }),
    );
  });

  test("that is as wished has no steps, no wait and no new event", () => {
    fc.assert(
      fc.property(provider, wishes, (name, any) => {
        const wish = possible(name, any);
        const world = new ModelWorld(aService(wish.spec, wish.annotations), wish.nodes, { provider: name });
        world.converge();
        const again = plan(world.observe(), 0);
        expect(again.steps).toEqual([]);
        expect(again.wait).toBeUndefined();
        expect((again.events ?? []).filter((e) => e.type === "Normal")).toEqual([]);
        expect(again.status).toEqual(world.service.status);
      }),
    );
  });

  test("is reached from wherever a crash left it: any number of steps done, the rest planned again", () => {
    fc.assert(
      fc.property(wishes, wishes, fc.integer({ min: 0, max: 12 }), (first, then, cut) => {
        const world = new ModelWorld(aService(first.spec, first.annotations), first.nodes, { provider: "amphora" });
        for (let i = 0; i < cut; i++) {
          const [step] = plan(world.observe(), 0).steps;
          if (step) world.apply(step);
          else world.settle();
        }
        world.change(then.spec, then.annotations);
        world.nodes = then.nodes;
        world.converge();
        expect(world.made).toBe(1);
        expect(world.served()).toEqual(expected(world.service, then.nodes));
      }),
    );
  });
});

describe("the calls of a change", () => {
  const world = (config = {}) => {
    const made = new ModelWorld(aService({ ports: [tcp80, udp53] }), nodes, { provider: "ovn", ...config });
    made.converge();
    return made;
  };

  test("a new Service is one populated create, its floating IP and its annotations", () => {
    const fresh = new ModelWorld(aService({ ports: [tcp80, udp53] }), nodes, { provider: "ovn" });
    expect(fresh.converge()).toEqual([
      "add-finalizer",
      "create-load-balancer",
      "annotate",
      "create-floating-ip",
      "annotate",
    ]);
  });

  test("a node that comes or goes is one batch for each pool", () => {
    const w = world();
    w.nodes = nodes.slice(0, 2);
    expect(w.converge()).toEqual(["replace-members", "replace-members"]);
    w.nodes = nodes;
    expect(w.converge()).toEqual(["replace-members", "replace-members"]);
  });

  test("a new port touches no other", () => {
    const w = world();
    w.change({ ports: [tcp80, udp53, { name: "tls", port: 443, protocol: "TCP", nodePort: 30443 }] });
    expect(w.converge()).toEqual(["create-listener", "create-pool", "replace-members"]);
  });

  test("a removed port takes its pool and listener along", () => {
    const w = world();
    w.change({ ports: [tcp80] });
    expect(w.converge()).toEqual(["delete-pool", "delete-listener"]);
  });

  test("another port number keeps the floating IP", () => {
    const w = world();
    const address = w.address;
    w.change({ ports: [{ ...tcp80, port: 8080 }, udp53] });
    expect(w.converge()).not.toContain("create-floating-ip");
    expect(w.address).toBe(address);
  });

  test("the order of source ranges changes nothing; their change is one update for each listener", () => {
    const w = world({ provider: "amphora" });
    w.change({ loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] });
    expect(w.converge()).toEqual(["update-listener", "update-listener"]);
    w.change({ loadBalancerSourceRanges: ["192.168.0.0/16", "10.0.0.0/8"] });
    expect(w.converge()).toEqual([]);
    w.change({ loadBalancerSourceRanges: ["0.0.0.0/0"] });
    expect(w.converge()).toEqual(["update-listener", "update-listener"]);
    expect(w.listeners.map((l) => l.allowed_cidrs)).toEqual([[], []]);
  });

  test("PROXY protocol replaces the TCP pool and keeps its listener", () => {
    const w = world({ provider: "amphora" });
    w.change({}, { "loadbalancer.openstack.org/proxy-protocol": "true" });
    expect(w.converge()).toEqual(["delete-pool", "create-pool", "replace-members"]);
    expect(w.pools.map((p) => p.pool.protocol).toSorted()).toEqual(["PROXY", "UDP"]);
  });

  test("another method or session affinity changes the pools in place", () => {
    const w = world({ provider: "amphora" });
    w.change({ sessionAffinity: "ClientIP" }, { "loadbalancer.openstack.org/lb-method": "LEAST_CONNECTIONS" });
    expect(w.converge()).toEqual(["update-pool", "update-pool"]);
    expect(w.pools[0]?.pool).toMatchObject({
      lb_algorithm: "LEAST_CONNECTIONS",
      session_persistence: { type: "SOURCE_IP" },
    });
  });

  test("monitors inside the create for amphora, after it for OVN", () => {
    const made = (name: string) =>
      new ModelWorld(aService(), nodes, { provider: name, createMonitor: true }).converge();
    expect(made("amphora")).not.toContain("create-monitor");
    expect(made("ovn")).toContain("create-monitor");
  });

  test("a pool or load balancer that was deleted by hand is made again", () => {
    const w = world();
    w.pools = w.pools.slice(1);
    w.listeners = w.listeners.map((l, i) => (i === 0 ? { ...l, default_pool_id: null } : l));
    expect(w.converge()).toEqual(["create-pool", "replace-members"]);
    const before = w.annotatedId;
    w.balancers = [];
    w.listeners = [];
    w.pools = [];
    w.floatingIps = w.floatingIps.map((ip) => ({ ...ip, port_id: null }));
    expect(w.converge()).toEqual(["create-load-balancer", "annotate", "attach-floating-ip"]);
    expect(w.annotatedId).not.toBe(before);
  });

  test("a pool that lost its listener is adopted by the new one", () => {
    const w = world();
    const [gone] = w.listeners;
    w.listeners = w.listeners.slice(1);
    w.pools = w.pools.map((p) =>
      p.pool.id === gone?.default_pool_id ? { ...p, pool: { ...p.pool, listeners: [] } } : p,
    );
    expect(w.converge()).toEqual(["create-listener"]);
    expect(w.served()).toHaveLength(2);
  });

  test("keeps tags of others, members whose weight or state was changed by hand, and parts that are switched off", () => {
    const w = world();
    w.listeners = w.listeners.map((l) => ({ ...l, tags: ["theirs"], name: "x" }));
    w.balancers = w.balancers.map((l) => ({ ...l, tags: [...l.tags, "theirs"] }));
    w.listeners = w.listeners.map((l) => ({ ...l, tags: ["theirs", ...w.observe().loadBalancers[0]!.tags] }));
    expect(w.converge()).toEqual([]);
    w.pools = w.pools.map((p) => ({ ...p, members: p.members.map((m, i) => ({ ...m, weight: i === 0 ? 7 : 1 })) }));
    expect(w.converge()).toEqual(["replace-members", "replace-members"]);
    expect(new Set(w.pools.flatMap((p) => p.members.map((m) => m.weight)))).toEqual(new Set([1]));
    w.listeners = w.listeners.map((l, i) => ({ ...l, admin_state_up: i > 0 }));
    w.pools = w.pools.map((p, i) => ({ ...p, pool: { ...p.pool, admin_state_up: i > 0 } }));
    w.balancers = w.balancers.map((l) => ({ ...l, admin_state_up: false }));
    expect(w.converge()).toEqual(["update-listener", "update-pool", "update-load-balancer"]);
    expect([...w.listeners, ...w.balancers].every((part) => part.admin_state_up)).toBe(true);
    expect(w.listeners.every((l) => l.tags.includes("theirs"))).toBe(true);
  });

  test("a provider that needs serial calls gets the bare load balancer, then one thing at a time", () => {
    const w = new ModelWorld(aService(), nodes.slice(0, 2), { serialApiCalls: true });
    expect(w.converge().filter((step) => step.startsWith("create"))).toEqual([
      "create-load-balancer",
      "create-floating-ip",
      "create-listener",
      "create-pool",
      "create-member",
      "create-member",
    ]);
    w.nodes = nodes.slice(1);
    expect(w.converge()).toEqual(["delete-member", "create-member"]);
  });

  test("cascade-delete=false goes from the monitors up", () => {
    const w = new ModelWorld(aService(), nodes, { createMonitor: true, cascadeDelete: false });
    w.converge();
    w.delete();
    expect(w.converge()).toEqual([
      "delete-floating-ip",
      "delete-monitor",
      "delete-pool",
      "delete-listener",
      "delete-load-balancer",
      "remove-finalizer",
    ]);
  });

  test("a Service that becomes a ClusterIP is cleaned of all that the load balancer left", () => {
    const w = world();
    w.change({ type: "ClusterIP" });
    expect(w.converge()).toEqual([
      "delete-floating-ip",
      "delete-load-balancer",
      "annotate",
      "clear-status",
      "remove-finalizer",
    ]);
    expect(w.service.metadata.annotations).toEqual({});
  });
});
