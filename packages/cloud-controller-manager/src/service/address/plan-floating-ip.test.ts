import { describe, expect, test } from "vitest";
import { ModelWorld } from "../../testing/model.ts";
import { aNode, aService } from "../../testing/objects.ts";
import { matchingSubnets, nameMatches, tagsMatch } from "./floating-subnets.ts";
import { plan } from "../plan.ts";

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
