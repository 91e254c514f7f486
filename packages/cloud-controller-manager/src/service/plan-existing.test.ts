import { describe, expect, test } from "vitest";
import type { LoadBalancerConfig } from "../config/config.ts";
import { nothingHeld } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { plan } from "./plan.ts";

const os = (name: string) => `loadbalancer.openstack.org/${name}`;
const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };
const nodes = [1, 2, 3].map((i) => aNode(`n${i}`, { address: `10.0.0.${i}` }));
const finalizers = ["service.kubernetes.io/load-balancer-cleanup"];

interface Given {
  readonly annotations?: Record<string, string>;
  readonly config?: Partial<LoadBalancerConfig>;
}

describe("the plan of a Service that has to wait", () => {
  const world = () => {
    const made = new ModelWorld(aService(), nodes);
    made.converge();
    return made;
  };

  test("does not change a pending load balancer, and keeps its address published", () => {
    const w = world();
    w.nodes = nodes.slice(1);
    w.balancers = w.balancers.map((l) => ({ ...l, provisioning_status: "PENDING_UPDATE" }));
    const waiting = plan(w.observe(), 0);
    expect(waiting.steps).toEqual([]);
    expect(waiting.wait?.for).toMatch(/to be ACTIVE/);
    expect(waiting.status).toEqual(w.service.status);
  });

  test("leaves a load balancer that refused a change for a while, then changes it", () => {
    const w = world();
    w.nodes = nodes.slice(1);
    const busy = { ...w.observe(), held: { ...nothingHeld, busy: 500, refusals: 1 } };
    expect(plan(busy, 400)).toMatchObject({ steps: [], wait: { until: 500 } });
    expect(plan(busy, 500).steps.map((s) => s.type)).toEqual(["replace-members"]);
  });

  test("recreates a pool that remains PENDING and refuses for half a minute", () => {
    const w = world();
    w.nodes = nodes.slice(1);
    w.pools = w.pools.map((p) => ({ ...p, pool: { ...p.pool, provisioning_status: "PENDING_CREATE" } }));
    const held = { ...nothingHeld, busy: 0, refusals: 6 };
    expect(plan({ ...w.observe(), held }, 1).steps.map((s) => s.type)).toEqual(["delete-pool"]);
    expect(
      plan({ ...w.observe(), held: { ...nothingHeld, ...held, refusals: 5 } }, 1).steps.map((s) => s.type),
    ).toEqual(["replace-members"]);
  });

  test("deletes a pool of ours whose listener was deleted by hand, and keeps a user's pool", () => {
    const w = world();
    const [own] = w.pools;
    if (!own) throw new Error("no pool");
    const copy = (id: string, name: string) => ({ ...own, pool: { ...own.pool, id, name, listeners: [] } });
    w.pools = [own, copy("extra", own.pool.name.replace("pool_0", "pool_1")), copy("theirs", "a person's")];
    expect(w.converge()).toEqual(["delete-pool"]);
    expect(w.pools.map(({ pool }) => pool.id)).toEqual([own.pool.id, "theirs"]);
  });

  test("does not repeat a create without a response before its time", () => {
    const w = new ModelWorld(aService({}, {}, { finalizers }), nodes);
    const held = { ...nothingHeld, uncertain: 900 };
    expect(plan({ ...w.observe(), held }, 899)).toMatchObject({ steps: [], wait: { until: 900 } });
    expect(plan({ ...w.observe(), held }, 900).steps.map((s) => s.type)).toEqual(["create-load-balancer"]);
  });

  test("creates a new load balancer while an old one is being deleted, and waits for that at the end", () => {
    const w = world();
    w.balancers = w.balancers.map((l) => ({ ...l, provisioning_status: "PENDING_DELETE" }));
    w.listeners = [];
    expect(plan(w.observe(), 0).steps.map((s) => s.type)).toEqual(["create-load-balancer"]);
    w.delete();
    expect(plan(w.observe(), 0)).toMatchObject({ steps: [], wait: { for: expect.stringMatching(/to be gone/) } });
  });
});

describe("a load balancer in ERROR", () => {
  const broken = (served: boolean) => {
    const w = new ModelWorld(aService(), nodes);
    if (served) w.converge();
    else {
      w.service = { ...w.service, metadata: { ...w.service.metadata, finalizers } };
      for (const step of plan(w.observe(), 0).steps) w.apply(step);
    }
    w.balancers = w.balancers.map((l) => ({ ...l, provisioning_status: "ERROR" }));
    return w;
  };

  test("that never served is deleted and recreated", () => {
    const w = broken(false);
    expect(plan(w.observe(), 0).steps).toMatchObject([{ type: "delete-load-balancer", cascade: true, broken: true }]);
    w.converge();
    expect(w.made).toBe(2);
    expect(w.balancers).toHaveLength(1);
  });

  test("again and again, is recreated with an increasing delay", () => {
    const held = { ...nothingHeld, broken: 5_000 };
    const observed = { ...broken(false).observe(), held };
    expect(plan(observed, 4_999)).toMatchObject({ steps: [], wait: { until: 5_000 } });
    expect(plan(observed, 5_000).steps).toHaveLength(1);
  });

  test("that has served is failed over; where that is refused and it still serves, an event advises the user", () => {
    const observed = broken(true).observe();
    expect(plan(observed, 0).steps.map((step) => step.type)).toEqual(["failover"]);
    const held = { ...nothingHeld, failoverRefused: true };
    const { steps, events, status } = plan({ ...observed, held }, 0);
    expect(steps).toEqual([]);
    expect(events?.[0]?.message).toMatch(/loadbalancer failover/);
    expect(status.loadBalancer?.ingress).toHaveLength(1);
    const loadBalancers = observed.loadBalancers.map((lb) => ({ ...lb, operating_status: "ERROR" as const }));
    expect(plan({ ...observed, held, loadBalancers }, 0).steps.map((step) => step.type)).toEqual([
      "delete-load-balancer",
    ]);
  });
});

describe("the published address of a Service", () => {
  const published = (given: Given) => {
    const world = new ModelWorld(aService({}, given.annotations), nodes, given.config);
    world.converge();
    return world.service.status?.loadBalancer?.ingress?.[0];
  };

  test.each<[string, Given, unknown]>([
    ["the floating IP", {}, { ip: "172.24.4.7", ipMode: "VIP" }],
    ["the VIP of an internal one", { annotations: internal }, { ip: "10.0.0.200", ipMode: "VIP" }],
    [
      "the VIP where cloud.conf makes all internal",
      {
        config: { internal: true },
        annotations: { ...internal, "service.beta.kubernetes.io/openstack-internal-load-balancer": "false" },
      },
      { ip: "10.0.0.200", ipMode: "VIP" },
    ],
    ["a hostname, and nothing else", { annotations: { [os("hostname")]: "web.example" } }, { hostname: "web.example" }],
    [
      "mode Proxy with the PROXY protocol",
      { annotations: { ...internal, [os("proxy-protocol")]: "v2" } },
      { ip: "10.0.0.200", ipMode: "Proxy" },
    ],
    [
      "a made-up hostname with the PROXY protocol",
      { annotations: { ...internal, [os("proxy-protocol")]: "v2" }, config: { enableIngressHostname: true } },
      { hostname: "10.0.0.200.nip.io" },
    ],
  ])("is %s", (_what, given, expected) => {
    expect(published(given)).toEqual(expected);
  });
});

describe("a load balancer that another Service owns", () => {
  const shared = (service = aService({ ports: [{ name: "b", port: 81, protocol: "TCP", nodePort: 30081 }] })) => {
    const w = new ModelWorld(aService(), nodes, { provider: "ovn" });
    w.converge();
    const id = { [os("load-balancer-id")]: w.balancers[0]?.id ?? "" };
    w.service = {
      ...service,
      metadata: {
        ...service.metadata,
        name: "other",
        uid: "2",
        annotations: { ...service.metadata.annotations, ...id },
      },
    };
    return w;
  };

  test("gets our listeners and our tag, and keeps its own and its floating IP", () => {
    const w = shared();
    expect(w.converge()).toEqual([
      "add-finalizer",
      "annotate",
      "create-listener",
      "create-pool",
      "replace-members",
      "update-load-balancer",
    ]);
    expect(w.balancers[0]?.tags).toEqual([
      "kube_service_c1_default_web",
      "k8s-owner=c1/0b0c-1",
      "kube_service_c1_default_other",
      `k8s-sharer=c1/${w.service.metadata.uid}`,
    ]);
    expect(w.listeners.map((l) => l.tags)).toEqual([
      ["kube_service_c1_default_web"],
      ["kube_service_c1_default_other"],
    ]);
    w.delete();
    expect(w.converge()).toEqual(["delete-pool", "delete-listener", "update-load-balancer", "remove-finalizer"]);
    expect(w.balancers[0]?.tags).toEqual(["kube_service_c1_default_web", "k8s-owner=c1/0b0c-1"]);
    expect(w.floatingIps).toHaveLength(1);
    expect(w.served()).toHaveLength(1);
  });

  test("is not shared by more Services than cloud.conf lets, nor by an internal one", () => {
    const w = shared();
    w.config = { ...w.config, maxSharedLoadBalancers: 1 };
    w.converge();
    expect(w.listeners).toHaveLength(1);
    expect(plan(w.observe(), 0).events?.[0]?.message).toMatch(/max-shared-lb/);
    const inside = shared(aService({}, internal));
    inside.converge();
    expect(plan(inside.observe(), 0).events?.[0]?.message).toMatch(/internal Service cannot share/);
  });

  test("is not deleted with the Service where a person made it", () => {
    const w = new ModelWorld(aService(), nodes, { provider: "ovn" });
    w.converge();
    w.balancers = w.balancers.map((l) => ({ ...l, name: "mine", tags: [w.observe().lbName, "k8s-sharer=c1/0b0c-1"] }));
    w.delete();
    w.converge();
    expect(w.balancers).toMatchObject([{ name: "mine", tags: [] }]);
    expect(w.served()).toEqual([]);
  });
});

describe("the published address of a Service", () => {
  const published = (spec: Parameters<typeof aService>[0], annotations: Record<string, string>) => {
    const w = new ModelWorld(aService(spec, annotations), nodes);
    w.converge();
    const { status, events = [] } = plan(w.observe(), 0);
    return { ingress: status.loadBalancer?.ingress ?? [], warnings: events.map((e) => e.reason) };
  };

  test.each([
    "Bad_Host Name",
    "1.2.3.4",
    "2001:db8::1",
    "a".repeat(400),
    "-a.example.org",
    "a..b",
    "UPPER.example.org",
  ])("is the address where the hostname annotation is %s, with a warning", (hostname) => {
    const { ingress, warnings } = published({}, { [os("hostname")]: hostname });
    expect(ingress).toEqual([{ ip: expect.any(String), ipMode: "VIP" }]);
    expect(warnings).toEqual(["LoadBalancerHostnameIgnored"]);
  });

  test("is a valid hostname alone, without a warning", () => {
    expect(published({}, { [os("hostname")]: "web-1.example.org" })).toEqual({
      ingress: [{ hostname: "web-1.example.org" }],
      warnings: [],
    });
  });

  test.each([
    ["UDP", "VIP"],
    ["TCP", "Proxy"],
  ] as const)("has for a Service of %s with the PROXY protocol ipMode %s", (protocol, ipMode) => {
    const ports = [{ name: "p", port: 53, protocol, nodePort: 30053 }];
    const { ingress } = published({ ports }, { [os("proxy-protocol")]: "v1" });
    expect(ingress.map((i) => i.ipMode)).toEqual([ipMode]);
  });
});

test("the deletion of a load balancer that is PENDING_UPDATE waits, and an event says for what", () => {
  const w = new ModelWorld(aService({}, internal), nodes);
  w.converge();
  w.balancers = w.balancers.map((lb) => ({ ...lb, provisioning_status: "PENDING_UPDATE" }));
  w.delete();
  const { steps, events = [], wait } = plan(w.observe(), 0);
  expect(steps).toEqual([]);
  expect(wait?.for).toMatch(/to be changeable/);
  expect(events).toMatchObject([
    { type: "Normal", reason: "DeletingLoadBalancer", message: expect.stringContaining("PENDING_UPDATE") },
  ]);
});

describe("a Service that is refused on another Service's load balancer", () => {
  const shared = (own: Record<string, string>, config: Partial<LoadBalancerConfig> = {}) => {
    const a = new ModelWorld(aService(), nodes, config);
    a.converge();
    const id = a.balancers[0]?.id ?? "";
    const service = aService({}, { [os("load-balancer-id")]: id, ...own }, { name: "b", uid: "uid-b", finalizers });
    const b = new ModelWorld(service, nodes, config);
    Object.assign(b, { balancers: a.balancers, listeners: a.listeners, pools: a.pools, floatingIps: a.floatingIps });
    return b;
  };

  test.each<[string, Record<string, string>, Partial<LoadBalancerConfig>, RegExp]>([
    ["because it uses a port of the other", {}, { maxSharedLoadBalancers: 5 }, /TCP 80 .* in use/],
    ["because it is internal", internal, { maxSharedLoadBalancers: 5 }, /internal/],
    ["because it would be one too many", {}, { maxSharedLoadBalancers: 1 }, /max-shared-lb/],
  ])("%s has no address, and changes nothing", (_why, own, config, message) => {
    const b = shared(own, config);
    // What an earlier release published is withdrawn.
    b.service = { ...b.service, status: { loadBalancer: { ingress: [{ ip: "203.0.113.1", ipMode: "VIP" }] } } };
    const { steps, status, events = [] } = plan(b.observe(), 0);
    expect([steps, status]).toEqual([[], { loadBalancer: {} }]);
    expect(events.map((e) => e.message)).toEqual([expect.stringMatching(message)]);
  });
});
