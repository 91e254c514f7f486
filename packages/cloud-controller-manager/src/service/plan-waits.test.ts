import { describe, expect, test } from "vitest";
import type { LoadBalancerIngress } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import { annotation } from "../config/annotations.ts";
import type { LoadBalancerConfig } from "../config/config.ts";
import { aFloatingIp, nothingHeld } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService, tcp80, udp53 } from "../testing/objects.ts";
import type { Observed } from "./observed.ts";
import { serviceFinalizer } from "./parameters/concern.ts";
import { plan } from "./plan.ts";

const now = 1000;
const later = now + 60_000;
const nodes = [1, 2, 3].map((i) => aNode(`n${i}`, { address: `10.0.0.${i}` }));
const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };

interface Given {
  readonly annotations?: Record<string, string>;
  readonly config?: Partial<LoadBalancerConfig>;
  readonly spec?: Parameters<typeof aService>[0];
  /** A node left since. */
  readonly fewer?: boolean;
}

/** A served Service, and what is different of it. */
function served({ annotations, config, spec, fewer = false }: Given = {}, change: Partial<Observed> = {}): Observed {
  const world = new ModelWorld(aService(spec, annotations), nodes, config);
  world.converge();
  if (fewer) world.nodes = nodes.slice(1);
  return { ...world.observe(), ...change };
}
const lb = (changes: Partial<LoadBalancer> = {}) => ({ ...served().loadBalancers[0], ...changes }) as LoadBalancer;
const hold = (held: Partial<Observed["held"]>) => ({ held: { ...nothingHeld, ...held } });
const typesOf = (observed: Observed) => plan(observed, now).steps.map((step) => step.type);
const reasonsOf = (observed: Observed) => (plan(observed, now).events ?? []).map((event) => event.reason);

/** A Service that has no load balancer yet. */
function fresh({ annotations, config, spec }: Given = {}, change: Partial<Observed> = {}): Observed {
  const service = aService(spec, annotations, { finalizers: [serviceFinalizer] });
  return { ...new ModelWorld(service, nodes, config).observe(), ...change };
}

describe("the first step for a Service", () => {
  test("is its finalizer, without which nothing would be deleted with it", () => {
    const bare = { ...fresh(), service: aService() };
    expect(plan(bare, now)).toEqual({ steps: [{ type: "add-finalizer" }], status: { loadBalancer: {} } });
    const another = aService({}, {}, { finalizers: ["another"] });
    expect(typesOf({ ...fresh(), service: another })).toEqual(["add-finalizer"]);
  });

  test("is none while a person decides whose its load balancer is: it serves as before", () => {
    const observed = served({ fewer: true }, { unproved: "which one?" });
    expect(plan(observed, now)).toEqual({
      steps: [],
      status: observed.service.status,
      events: [{ type: "Warning", reason: "LoadBalancerOwnerUnknown", message: "which one?", ofService: true }],
      wait: { for: "a person to decide which Service owns the load balancer", until: later },
    });
  });

  const event = { type: "Normal", reason: "LoadBalancerAdopted", message: "adopted" } as const;
  const adoption = { lb: lb(), tags: ["a"], event };
  test.each<[string, Partial<Observed["service"]["metadata"]>, string[]]>([
    ["the adoption of a load balancer that serves it", {}, ["update-load-balancer"]],
    ["its finalizer before that", { finalizers: [] }, ["add-finalizer"]],
    ["that, too, when it is deleted", { deletionTimestamp: "2026-01-01T00:00:00Z" }, ["update-load-balancer"]],
    ["none when it is deleted and has no finalizer", { deletionTimestamp: "x", finalizers: [] }, []],
  ])("is %s", (_what, metadata, expected) => {
    const observed = served({}, { adoption });
    const { service } = observed;
    expect(typesOf({ ...observed, service: { ...service, metadata: { ...service.metadata, ...metadata } } })).toEqual(
      expected,
    );
  });
});

describe("the creation of a load balancer", () => {
  test("waits for one whose response was lost, by its name", () => {
    const wait = { for: "kube_service_c1_default_web, whose creation got no response", until: now + 1 };
    expect(plan(fresh({}, hold({ uncertain: now + 1 })), now)).toEqual({
      steps: [],
      status: { loadBalancer: {} },
      wait,
    });
    expect(typesOf(fresh({}, hold({ uncertain: now })))).toEqual(["create-load-balancer"]);
  });

  test("waits for a node that can be a member, and a warning says so", () => {
    const message = "There are no available nodes for LoadBalancer";
    expect(plan(fresh({}, { nodes: [] }), now)).toEqual({
      steps: [],
      status: { loadBalancer: {} },
      wait: { for: "a node that can be a member", until: later },
      events: [
        { type: "Warning", reason: "UnAvailableLoadBalancer", message },
        { type: "Warning", reason: "SyncLoadBalancerFailed", message: `Error syncing load balancer: ${message}` },
      ],
    });
  });

  test.each<[string, Given, boolean]>([
    ["nowhere", {}, false],
    ["a port", { annotations: { [annotation.portId]: "p" } }, true],
    ["a subnet", { annotations: { [annotation.subnetId]: "s" } }, true],
    ["a network", { annotations: { [annotation.networkId]: "n" } }, true],
  ])("where the nodes' subnet is not known needs a place: %s", (_where, given, creates) => {
    expect(typesOf(fresh(given, { nodeSubnet: undefined })).includes("create-load-balancer")).toBe(creates);
  });

  test.each<[string, object[] | undefined, boolean]>([
    ["without node ports, which has none", [{ port: 80 }, { port: 81, nodePort: 0 }], true],
    ["with a node port, which has none", [{ port: 80 }, tcp80], false],
  ])("needs no members for a Service %s", (_what, ports, creates) => {
    const observed = fresh({ spec: { ports: ports as [] } }, { nodes: [] });
    expect(typesOf(observed).includes("create-load-balancer")).toBe(creates);
  });

  test("says what it does, what it leaves to others, and what of the Service it cannot do", () => {
    const given = { annotations: { [annotation.method]: "FASTEST" } };
    expect(plan(fresh(given, { anothers: [lb({ id: "theirs" })] }), now).events).toMatchObject([
      { type: "Normal", reason: "EnsuringLoadBalancer", message: "Ensuring load balancer" },
      {
        type: "Warning",
        reason: "LoadBalancerOwnedByAnother",
        message: expect.stringMatching(
          /^load balancer theirs is named kube_service_c1_default_web but its tags/,
        ) as string,
      },
      { type: "Warning", reason: "LoadBalancerLbMethodUnknown" },
    ]);
  });

  test.each<[string, Given, string[], string | undefined]>([
    [
      "the Service's provider",
      { annotations: { [annotation.provider]: "ovn" }, config: { provider: "amphora" } },
      [],
      "ovn",
    ],
    ["else cloud.conf's", { config: { provider: "ovn" } }, ["amphora"], "ovn"],
    ["else the cloud's", {}, ["ovn"], "ovn"],
  ])("has %s", (_what, given, providers, expected) => {
    const [step] = plan(fresh(given, { facts: { version: "2.26", providers } }), now).steps;
    expect(step?.type === "create-load-balancer" && step.body.provider).toBe(expected);
  });
});

describe("a change of a load balancer", () => {
  test("waits for it to be ACTIVE", () => {
    const loadBalancers = [lb({ provisioning_status: "PENDING_UPDATE" })];
    const { steps, wait } = plan(served({ fewer: true }, { loadBalancers }), now);
    expect([steps, wait]).toEqual([[], { for: `load balancer ${lb().id} to be ACTIVE`, until: later }]);
    const stuck = { loadBalancers, ...hold({ pendingSince: now - 600_000 }) };
    expect(reasonsOf(served({ fewer: true }, stuck))).toEqual(["SyncLoadBalancerFailed"]);
  });

  test.each<[string, Partial<Observed["held"]>, boolean, number | undefined]>([
    ["while it refuses changes", { busy: now + 1 }, false, now + 1],
    ["no longer", { busy: now }, false, undefined],
    ["of members for more nodes to come or go", { nodes: now + 2 }, false, now + 2],
    ["of members no longer", { nodes: now }, false, undefined],
    ["of members not where a pool has none and serves nothing", { nodes: now + 2 }, true, undefined],
  ])("waits %s", (_when, held, empty, until) => {
    const observed = served({ fewer: true }, hold(held));
    const pools = empty ? observed.pools.map((pool) => ({ ...pool, members: [] })) : observed.pools;
    const { steps, wait } = plan({ ...observed, pools }, now);
    expect(steps.map((step) => step.type)).toEqual(until === undefined ? ["replace-members"] : []);
    expect(wait).toEqual(until === undefined ? undefined : { for: `load balancer ${lb().id} to be changeable`, until });
  });

  test.each<[string, Given]>([
    ["one after the other that come", { config: { serialApiCalls: true } }],
    ["one after the other that go", { config: { serialApiCalls: true }, fewer: true }],
  ])("of members waits for more nodes, also of %s", (_what, given) => {
    const observed = served(given, hold({ nodes: now + 2 }));
    const pools = observed.pools.map((pool) => ({ ...pool, members: pool.members.slice(given.fewer ? 0 : 1) }));
    expect(plan({ ...observed, pools }, now)).toMatchObject({ steps: [], wait: { until: now + 2 } });
    expect(plan({ ...observed, pools, ...hold({}) }, now).steps).toHaveLength(1);
  });

  test("of other parts does not wait for nodes", () => {
    const observed = served({}, hold({ nodes: now + 2 }));
    const listeners = observed.listeners.map((listener) => ({ ...listener, connection_limit: 5 }));
    expect(typesOf({ ...observed, listeners })).toEqual(["update-listener"]);
  });

  test("of members is reported, of others not", () => {
    const message = "Updated load balancer with new hosts";
    const observed = served({ fewer: true });
    expect(plan(observed, now).events).toEqual([{ type: "Normal", reason: "UpdatedLoadBalancer", message }]);
    const listeners = observed.listeners.map((listener) => ({ ...listener, connection_limit: 5 }));
    expect(reasonsOf({ ...observed, listeners })).toEqual([]);
  });

  test("that is held back is waited for, and only that is left", () => {
    const braked = hold({ braked: () => 7000 });
    const wait = { for: "changes that did not settle or were refused", until: 7000, onlyHeld: true };
    expect(plan(served({ fewer: true }, braked), now)).toMatchObject({ steps: [], wait });
    expect(plan(served({}, braked), now).wait).toBeUndefined();
  });

  test("is none for tags that the cloud's Octavia does not have", () => {
    const old = { facts: { version: "2.4", providers: ["amphora"] }, loadBalancers: [lb({ tags: [] })] };
    const listeners = served().listeners.map((listener) => ({ ...listener, tags: [] }));
    expect(typesOf(served({}, { ...old, listeners }))).toEqual([]);
    expect(typesOf(served({}, { loadBalancers: old.loadBalancers }))).toEqual(["update-load-balancer"]);
  });

  test("comes after what the address needs", () => {
    const world = { floatingIp: undefined, ownFloatingIps: [] };
    const { service } = served();
    const unnoted = { ...service, metadata: { ...service.metadata, annotations: {} } };
    expect(typesOf(served({ fewer: true }, { ...world, service: unnoted }))).toEqual([
      "annotate",
      "create-floating-ip",
      "replace-members",
    ]);
  });
});

describe("a load balancer that takes another's place", () => {
  const retiring = [lb({ id: "old", vip_port_id: "old-port" })];
  const retiringFloatingIp = { ...aFloatingIp("ip", "172.24.4.9"), port_id: "old-port" };
  const without = { floatingIp: undefined, ownFloatingIps: [], retiring };

  test("gets the floating IP when it is whole, and no other one", () => {
    expect(typesOf(served({}, { ...without, retiringFloatingIp }))).toEqual(["attach-floating-ip"]);
    expect(typesOf(served({ fewer: true }, { ...without, retiringFloatingIp }))).toEqual(["replace-members"]);
    expect(typesOf(served({}, { retiring }))).toEqual(["delete-load-balancer"]);
  });

  test("leaves the address published that the other one has", () => {
    const observed = served({}, { ...without, retiringFloatingIp, loadBalancers: [] });
    expect(plan(observed, now).status).toEqual(observed.service.status);
    const never = { ...observed.service, status: { loadBalancer: {} } };
    expect(plan({ ...observed, service: never }, now).status).toEqual({ loadBalancer: {} });
  });

  test("is announced with its change alone, and its obstacle whatever else changes", () => {
    const annotations = { [annotation.provider]: "ovn" };
    const asking = (fewer: boolean, change: Partial<Observed> = {}) => {
      const observed = served({ fewer }, change);
      return { ...observed, parameters: { ...observed.parameters, provider: annotations[annotation.provider] } };
    };
    expect(plan(asking(true), now)).toMatchObject({
      steps: [{ type: "update-load-balancer" }],
      events: [{ type: "Normal", reason: "LoadBalancerProviderChanged" }],
    });
    const held = hold({ braked: (step) => (step.type === "update-load-balancer" ? 7000 : undefined) });
    expect(reasonsOf(asking(true, held))).toEqual(["UpdatedLoadBalancer"]);
    expect(plan(asking(false, held), now)).toMatchObject({ steps: [], wait: { until: 7000, onlyHeld: true } });
    const noAddress = { floatingIp: undefined, externalNetwork: undefined };
    expect(reasonsOf(asking(true, noAddress))).toContain("LoadBalancerProviderUnchanged");
    expect(reasonsOf(asking(false, noAddress))).toContain("LoadBalancerProviderUnchanged");
  });
});

describe("a renamed cluster", () => {
  const formerName = "kube_service_before_default_web";
  const message = `the cluster was renamed: load balancer ${formerName} and its parts are renamed to kube_service_c1_default_web`;

  test("is reported when the load balancer itself gets its new name, which is last", () => {
    const old = served({}, { formerName, loadBalancers: [lb({ name: formerName })] });
    expect(plan(old, now)).toMatchObject({
      steps: [{ type: "update-load-balancer" }],
      events: [{ type: "Warning", reason: "LoadBalancerRename", message }],
    });
    const listeners = old.listeners.map((listener) => ({ ...listener, tags: [formerName] }));
    expect(plan({ ...old, listeners }, now)).toMatchObject({ steps: [{ type: "update-listener" }], events: [] });
    expect(reasonsOf(served({}, { loadBalancers: [lb({ admin_state_up: false })] }))).toEqual([]);
  });
});

describe("the note on a Service", () => {
  const noted = (annotations: Record<string, string>, given: Given = {}, change: Partial<Observed> = {}) => {
    const observed = served(given, change);
    const { service } = observed;
    const own = {
      ...service,
      metadata: { ...service.metadata, annotations: { ...given.annotations, ...annotations } },
    };
    const [step] = plan({ ...observed, service: own }, now).steps;
    return step?.type === "annotate" ? step.annotations : {};
  };
  const [id, address] = [annotation.loadBalancerId, annotation.loadBalancerAddress];
  const value = { [id]: lb().id, [address]: served().floatingIp?.floating_ip_address ?? "" };

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ["both where none is", {}, value],
    ["the ID where another is", { ...value, [id]: "other" }, { [id]: lb().id }],
    ["the address where another is", { ...value, [address]: "192.0.2.1" }, { [address]: value[address] ?? "" }],
    ["nothing where both are", value, {}],
  ])("is its load balancer's ID and address: %s", (_what, have, expected) => {
    expect(noted(have)).toEqual(expected);
  });

  test("is no address while the floating IP is to come", () => {
    expect(noted({}, {}, { floatingIp: undefined })).toEqual({ [id]: lb().id });
  });

  test.each<[string, Given, Partial<Observed>]>([
    ["of an internal Service", { annotations: internal }, {}],
    ["where there is no external network", {}, { floatingIp: undefined, externalNetwork: undefined }],
    ["that is an IPv6 address", {}, { floatingIp: undefined, loadBalancers: [lb({ vip_address: "fd00::9" })] }],
  ])("is the VIP %s", (_what, given, change) => {
    const vip = change.loadBalancers?.[0]?.vip_address ?? "10.0.0.200";
    expect(noted({}, given, change)[address]).toBe(vip);
  });
});

describe("the published status of a Service", () => {
  const before = (ingress: LoadBalancerIngress[]) => ({ ...served().service, status: { loadBalancer: { ingress } } });
  const statusOf = (change: Partial<Observed>, given: Given = {}) => plan(served(given, change), now).status;
  const pending = [lb({ provisioning_status: "PENDING_UPDATE" })];

  test("has an address from when its load balancer is ACTIVE the first time, and while it is changed", () => {
    expect(statusOf({ service: before([]), loadBalancers: pending })).toEqual({ loadBalancer: {} });
    const address = served().floatingIp?.floating_ip_address;
    const ingress = [{ ip: address, ipMode: "VIP" }];
    expect(statusOf({ service: before([{ ip: "192.0.2.1" }]), loadBalancers: pending })).toEqual({
      loadBalancer: { ingress },
    });
    expect(statusOf({ service: before([]) })).toEqual({ loadBalancer: { ingress } });
    expect(statusOf({ floatingIp: undefined })).toEqual({ loadBalancer: {} });
  });

  test("has no address of another Service's load balancer before it has a listener there", () => {
    const anothers = [lb({ tags: ["k8s-owner=c1/2", "kube_service_c1_default_web"] })];
    expect(statusOf({ loadBalancers: anothers }).loadBalancer?.ingress).toHaveLength(1);
    expect(statusOf({ loadBalancers: anothers, listeners: [] })).toEqual({ loadBalancer: {} });
  });

  test("is announced once", () => {
    const ensured = { type: "Normal", reason: "EnsuredLoadBalancer", message: "Ensured load balancer" };
    expect(plan(served({}, { service: before([]) }), now).events).toEqual([ensured]);
    expect(reasonsOf(served())).toEqual([]);
    expect(reasonsOf(served({}, { service: before([{ hostname: "web.example" }]) }))).toEqual(["EnsuredLoadBalancer"]);
    expect(reasonsOf(served({ fewer: true }, { service: before([]) }))).not.toContain("EnsuredLoadBalancer");
    expect(reasonsOf(served({}, { service: before([]), loadBalancers: pending }))).toEqual([]);
  });

  test.each<[string, Given, LoadBalancerIngress]>([
    ["PROXY on TCP next to UDP", { spec: { ports: [udp53, tcp80] } }, { ip: "10.0.0.200", ipMode: "Proxy" }],
    [
      "UDP alone",
      { spec: { ports: [udp53] }, config: { enableIngressHostname: true } },
      { ip: "10.0.0.200", ipMode: "VIP" },
    ],
    [
      "a port without a protocol, which is TCP",
      { spec: { ports: [{ port: 80, nodePort: 30_080 }] } },
      { ip: "10.0.0.200", ipMode: "Proxy" },
    ],
    [
      "a hostname made from cloud.conf's suffix",
      { config: { enableIngressHostname: true, ingressHostnameSuffix: "lb.example" } },
      { hostname: "10.0.0.200.lb.example" },
    ],
  ])("speaks the PROXY protocol: %s", (_what, given, expected) => {
    const annotations = { ...internal, [annotation.proxyProtocol]: "v2" };
    expect(statusOf({}, { ...given, annotations }).loadBalancer?.ingress).toEqual([expected]);
  });
});
