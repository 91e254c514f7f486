import { describe, expect, test } from "vitest";
import type { LoadBalancer } from "@causeway/openstack";
import { aFloatingIp } from "../../testing/model-parts.ts";
import { ModelWorld } from "../../testing/model.ts";
import { aNode, aService, aSubnet } from "../../testing/objects.ts";
import type { Observed } from "../observed.ts";
import { matchingSubnets, nameMatches, tagsMatch } from "./floating-subnets.ts";
import { plan } from "../plan.ts";
import { planFloatingIp } from "./plan-floating-ip.ts";

const os = (name: string) => `loadbalancer.openstack.org/${name}`;
const internal = "service.beta.kubernetes.io/openstack-internal-load-balancer";
const own = "Floating IP for Kubernetes external service default/web from cluster c1";
const nodes = [aNode("n1")];

function world(spec: Parameters<typeof aService>[0] = {}, annotations: Record<string, string> = {}): ModelWorld {
  return new ModelWorld(aService(spec, annotations), nodes);
}
const reasons = (w: ModelWorld) => (plan(w.observe(), 0).events ?? []).map((e) => e.reason);

describe("the floating IP", () => {
  test("is made for the VIP's port, with the description by which all know it", () => {
    const w = world();
    w.converge();
    expect(w.floatingIps).toMatchObject([{ description: own, port_id: w.balancers[0]?.vip_port_id }]);
  });

  test("that was made before and lost its port is used again", () => {
    const w = world();
    w.addFloatingIp({ description: own });
    expect(w.converge()).not.toContain("create-floating-ip");
    expect(w.floatingIps).toHaveLength(1);
  });

  test("is the wanted one, if that is free: a person's, that remains a person's", () => {
    const w = world({ loadBalancerIP: "172.24.4.99" });
    w.addFloatingIp({ floating_ip_address: "172.24.4.99", description: "mine" });
    expect(w.converge()).not.toContain("create-floating-ip");
    expect(w.address).toBe("172.24.4.99");
    w.delete();
    w.converge();
    expect(w.floatingIps).toMatchObject([{ description: "mine", port_id: null }]);
  });

  test("that is wanted and on another port is not detached from it", () => {
    const w = world({ loadBalancerIP: "172.24.4.99" });
    w.addFloatingIp({ floating_ip_address: "172.24.4.99", port_id: "another" });
    w.converge();
    expect(w.floatingIps[0]?.port_id).toBe("another");
    expect(w.address).toBeUndefined();
    expect(reasons(w)).toContain("SyncLoadBalancerFailed");
  });

  test("changes with the wanted address: the new one is there before the old one goes", () => {
    const w = world();
    w.converge();
    w.change({ loadBalancerIP: "172.24.4.77" });
    expect(w.converge()).toEqual(["create-floating-ip", "delete-floating-ip", "attach-floating-ip", "annotate"]);
    expect(w.address).toBe("172.24.4.77");
    expect(w.floatingIps).toHaveLength(1);
  });

  test("goes when the Service becomes internal, and comes back with it", () => {
    const w = world();
    w.converge();
    w.change({}, { [internal]: "true" });
    expect(w.converge()).toEqual(["annotate", "delete-floating-ip"]);
    expect(w.address).toBe("10.0.0.200");
    w.change({}, { [internal]: "false" });
    expect(w.converge()).toEqual(["create-floating-ip", "annotate"]);
  });

  test("is only detached where it is to be kept", () => {
    const w = world({}, { [os("keep-floatingip")]: "true" });
    w.converge();
    w.delete();
    expect(w.converge()).toEqual(["detach-floating-ip", "delete-load-balancer", "remove-finalizer"]);
    expect(w.floatingIps).toMatchObject([{ port_id: null }]);
  });

  test("of a load balancer that was deleted by hand is deleted with the Service, but not from another port", () => {
    const w = world();
    w.converge();
    w.balancers = [];
    w.floatingIps = w.floatingIps.map((ip) => ({ ...ip, port_id: null }));
    w.addFloatingIp({ description: own, port_id: "another-port" });
    w.delete();
    expect(w.converge()).toEqual(["delete-floating-ip", "remove-finalizer"]);
    expect(w.floatingIps).toMatchObject([{ port_id: "another-port" }]);
  });

  test("that is one too many and free goes; one that is another port's remains", () => {
    const w = world();
    w.converge();
    w.addFloatingIp({ description: own });
    w.addFloatingIp({ description: own, port_id: "another-port" });
    expect(w.converge()).toEqual(["delete-floating-ip"]);
    expect(w.floatingIps.map((ip) => ip.port_id)).toEqual([w.balancers[0]?.vip_port_id, "another-port"]);
  });

  test("that the former load balancer still has, on its way out, is waited for: the address remains", () => {
    const w = world();
    w.converge();
    const [former] = w.balancers;
    if (!former) throw new Error("no load balancer");
    const successor = { ...former, id: "successor", vip_port_id: "its-port" };
    const between = { ...w.observe(), loadBalancers: [successor], leaving: [former], floatingIp: undefined };
    const types = (observed: typeof between) => plan(observed, 0).steps.map((step) => step.type);
    expect(types(between)).not.toContain("create-floating-ip");
    const free = between.ownFloatingIps.map((ip) => ({ ...ip, port_id: null }));
    expect(types({ ...between, leaving: [], ownFloatingIps: free })).toContain("attach-floating-ip");
  });

  test("is none where there is no external network: the VIP is published, and an event says so", () => {
    const w = world();
    w.external = false;
    w.converge();
    expect(w.address).toBe("10.0.0.200");
    expect(reasons(w)).toEqual(["LoadBalancerExternalNetworkSearchFailed", "LoadBalancerForcedInternal"]);
  });

  test("is none for an IPv6 VIP", () => {
    const w = world();
    w.service = {
      ...w.service,
      metadata: { ...w.service.metadata, finalizers: ["service.kubernetes.io/load-balancer-cleanup"] },
    };
    for (const step of plan(w.observe(), 0).steps) w.apply(step);
    w.balancers = w.balancers.map((l) => ({ ...l, vip_address: "fd00::9" }));
    expect(reasons(w)).toContain("LoadBalancerFloatingIPSkipped");
    expect(w.converge()).not.toContain("create-floating-ip");
    expect(w.address).toBe("fd00::9");
  });

  test("is requested from each wanted subnet in turn", () => {
    const w = world({}, { [os("floating-subnet")]: "pub-*" });
    const asked: unknown[] = [];
    for (let i = 0; i < 5; i++)
      for (const step of plan(w.observe(), 0).steps) {
        if (step.type === "create-floating-ip") asked.push(step.subnetIds);
        w.apply(step);
      }
    expect(asked).toEqual([["pub-1", "pub-2"]]);
  });
});

describe("the plan of a VIP's floating IP", () => {
  const vip = {
    vip_address: "10.0.0.200",
    vip_port_id: "vip",
    name: "kube_service_c1_default_web",
    tags: ["k8s-owner=c1/0b0c-1"],
  };
  const lb = vip as LoadBalancer;
  const anothers = { ...lb, tags: ["k8s-owner=c1/another"] };
  const ours = { ...aFloatingIp("ours", "172.24.4.7"), description: own };
  const mine = aFloatingIp("mine", "172.24.4.8");
  const attached = { ...ours, port_id: "vip" };
  const wanting = (loadBalancerIP: string) => ({ service: aService({ loadBalancerIP }) });
  const inside = { parameters: { ...world().observe().parameters, internal: true } };
  const kept = { parameters: { ...world().observe().parameters, keepFloatingIp: true } };
  const ofSubnet = { parameters: { ...world().observe().parameters, floatingSubnetId: "s" } };
  const subnets = { floatingSubnets: [aSubnet("a"), aSubnet("b")] };
  const create = { type: "create-floating-ip", networkId: "public", description: own, portId: "vip", subnetIds: [] };
  const address = "172.24.4.99";

  test.each<[string, Partial<Observed>, object[]]>([
    ["creates one on the VIP's port", {}, [create]],
    ["creates one in one of the wanted subnets", subnets, [{ ...create, subnetIds: ["a", "b"] }]],
    ["creates one in the subnet of the wanted ID", { ...subnets, ...ofSubnet }, [{ ...create, subnetIds: ["s"] }]],
    [
      "creates the wanted address, whatever subnet it is of",
      { ...subnets, ...wanting(address) },
      [{ ...create, address }],
    ],
    [
      "attaches a free one of ours",
      { ownFloatingIps: [ours] },
      [{ type: "attach-floating-ip", id: "ours", portId: "vip" }],
    ],
    ["leaves ours on another port alone", { ownFloatingIps: [{ ...ours, port_id: "another" }] }, [create]],
    [
      "attaches the wanted one",
      { ...wanting("172.24.4.8"), wantedFloatingIp: mine, ownFloatingIps: [ours] },
      [{ type: "attach-floating-ip", id: "mine", portId: "vip" }],
    ],
    ["leaves one that is as it shall be", { floatingIp: attached, ownFloatingIps: [attached] }, []],
    ["leaves the wanted one", { ...wanting(ours.floating_ip_address), floatingIp: attached }, []],
    [
      "creates another one before that is given up",
      { ...wanting(address), floatingIp: attached },
      [{ type: "create-floating-ip", networkId: "public", description: own, subnetIds: [], address }],
    ],
    [
      "gives one up when the other is there",
      { ...wanting("172.24.4.8"), floatingIp: attached, wantedFloatingIp: mine },
      [{ type: "delete-floating-ip", id: "ours" }],
    ],
    [
      "detaches one that is to be kept",
      { ...wanting("172.24.4.8"), floatingIp: attached, wantedFloatingIp: mine, ...kept },
      [{ type: "detach-floating-ip", id: "ours" }],
    ],
    [
      "gives it up for an internal Service",
      { floatingIp: attached, ...inside },
      [{ type: "delete-floating-ip", id: "ours" }],
    ],
    ["has none for an internal Service", inside, []],
    [
      "leaves one where the external network is not found",
      { ...wanting(address), floatingIp: attached, externalNetwork: undefined },
      [],
    ],
    [
      "deletes a free one of ours that is too many, if it is free still",
      { floatingIp: attached, ownFloatingIps: [attached, { ...ours, id: "extra" }] },
      [{ type: "delete-floating-ip", id: "extra", onlyFree: true }],
    ],
    [
      "keeps one too many that is to be kept",
      { floatingIp: attached, ownFloatingIps: [{ ...ours, id: "extra" }], ...kept },
      [],
    ],
    [
      "waits for one that a former load balancer on its way out still has",
      { ownFloatingIps: [{ ...ours, port_id: "former" }], leaving: [{ ...lb, vip_port_id: "former" }] },
      [],
    ],
    [
      "waits for none where an address is wanted",
      {
        ...wanting(address),
        ownFloatingIps: [{ ...ours, port_id: "former" }],
        leaving: [{ ...lb, vip_port_id: "former" }],
      },
      [{ ...create, address }],
    ],
  ])("%s", (_what, change, steps) => {
    expect(planFloatingIp({ ...world().observe(), floatingSubnets: undefined, ...change }, lb)).toEqual({
      steps,
      events: [],
    });
  });

  test.each<[string, LoadBalancer, Partial<Observed>, [string, string][]]>([
    [
      "another port has the wanted one",
      lb,
      { ...wanting("172.24.4.8"), wantedFloatingIp: { ...mine, port_id: "another" } },
      [["SyncLoadBalancerFailed", "Error syncing load balancer: floating IP 172.24.4.8 is used by another port"]],
    ],
    [
      "there is no external network",
      lb,
      { externalNetwork: undefined },
      [
        ["LoadBalancerExternalNetworkSearchFailed", "there is no external network with an IPv4 subnet"],
        [
          "LoadBalancerForcedInternal",
          "there is no external network for a floating IP; the load balancer remains internal",
        ],
      ],
    ],
    [
      "only its owner could create it",
      anothers,
      {},
      [
        [
          "SyncLoadBalancerFailed",
          "Error syncing load balancer: kube_service_c1_default_web has no floating IP, and only the Service that owns it may give it one",
        ],
      ],
    ],
    [
      "the VIP has an IPv6 address",
      { ...lb, vip_address: "fd00::9" },
      {},
      [["LoadBalancerFloatingIPSkipped", "an IPv6 address needs no floating IP"]],
    ],
    [
      "the VIP has an IPv6 address, which is published",
      { ...lb, vip_address: "fd00::9" },
      { service: { ...aService(), status: { loadBalancer: { ingress: [{ ip: "fd00::9" }] } } } },
      [],
    ],
    ["another Service's load balancer has one", anothers, { floatingIp: attached }, []],
    ["an internal Service shares a load balancer", anothers, inside, []],
  ])("changes nothing where %s", (_what, balancer, change, warnings) => {
    const { steps, events } = planFloatingIp({ ...world().observe(), ...change }, balancer);
    expect(steps).toEqual([]);
    expect(events).toEqual(warnings.map(([reason, message]) => ({ type: "Warning", reason, message })));
  });

  const former = "Floating IP for Kubernetes external service default/web from cluster before";
  const noted = { "loadbalancer.openstack.org/load-balancer-address": "172.24.4.7" };
  test.each<[string, Record<string, string>, string, string, boolean]>([
    ["that is noted gets it", noted, former, vip.name, true],
    ["that is not noted may be a copy's", {}, former, vip.name, false],
    ["that has it is left", noted, own, vip.name, false],
    ["that a person described is left", noted, "mine", vip.name, false],
    ["waits for its load balancer to have the new name", noted, former, "kube_service_before_default_web", false],
  ])(
    "gives the new description to one of a renamed cluster: one %s",
    (_what, annotations, description, name, describes) => {
      const service = aService({}, annotations);
      const observed = {
        ...world().observe(),
        service,
        loadBalancers: [{ ...lb, name }],
        floatingIp: { ...attached, description },
      };
      const steps = describes ? [{ type: "describe-floating-ip", id: "ours", description: own }] : [];
      expect(planFloatingIp(observed, lb)).toEqual({ steps, events: [] });
    },
  );
});

describe("a wanted subnet", () => {
  test.each([
    ["pub*", "public-1", true],
    ["pub*", "private", false],
    ["pub?", "pub1", true],
    ["pub.", "pubx", false],
    ["!pub*", "private", true],
    ["~^pub.+1$", "public-1", true],
    ["!~1$", "public-1", false],
    ["~(", "public-1", false],
  ])("name %s and %s: %s", (pattern, name, expected) => {
    expect(nameMatches(pattern, name)).toBe(expected);
  });

  test.each([
    ["a,b", ["b"], true],
    ["a,b", ["c"], false],
    ["&a,b", ["a"], false],
    ["&a, b", ["b", "a"], true],
    ["!a", ["b"], true],
    ["!&a,b", ["a"], true],
    ["!&a,b", ["a", "b"], false],
  ])("tags %s and %j: %s", (wanted, tags, expected) => {
    expect(tagsMatch(wanted, tags)).toBe(expected);
  });

  test("is any where none is requested", () => {
    expect(matchingSubnets({ floatingSubnet: undefined, floatingSubnetTags: undefined }, [])).toBeUndefined();
  });
});
