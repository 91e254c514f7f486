import { describe, expect, it } from "vitest";
import { condition, full, plan, settle, world } from "../testing/cluster-world.ts";
import { demoSpec } from "../testing/objects.ts";

const noBalancer = { enableFloatingIP: false, managedLoadBalancer: { enabled: false } };
const kinds = (w: ReturnType<typeof world>) => new Set(w.cloud.inventory.map((line) => line.split(" ")[0]));

describe("the endpoint of a cluster", () => {
  it("is spec.apiServer.fixedIP without a load balancer and a floating IP, and nothing is made for it", () => {
    const w = world({ ...demoSpec, apiServer: { ...noBalancer, fixedIP: "10.6.0.9", port: 8443 } });
    const { status } = settle(w);
    expect(w.object.spec.controlPlaneEndpoint).toEqual({ host: "10.6.0.9", port: 8443 });
    expect([kinds(w).has("loadBalancers"), kinds(w).has("floatingIps")]).toEqual([false, false]);
    expect(status.initialization?.provisioned).toBe(true);
  });

  it("is the one that is given, which remains", () => {
    const controlPlaneEndpoint = { host: "api.example.com", port: 443 };
    const w = world({ ...demoSpec, apiServer: noBalancer, controlPlaneEndpoint });
    const { status } = settle(w);
    expect(w.object.spec.controlPlaneEndpoint).toEqual(controlPlaneEndpoint);
    expect([kinds(w).has("loadBalancers"), kinds(w).has("floatingIps")]).toEqual([false, false]);
    expect(status.initialization?.provisioned).toBe(true);
    expect(condition(status, "Ready")).toBe("True Ready");
  });

  it("lets the addresses of the spec and of the cluster through when the former change", () => {
    const allowed = (w: ReturnType<typeof world>) => w.cloud.listeners.map(({ allowed_cidrs: list }) => list ?? []);
    const balancer = full.apiServer.managedLoadBalancer;
    const w = world({
      ...full,
      apiServer: { managedLoadBalancer: { ...balancer, allowedCIDRs: ["198.51.100.0/24"] } },
    });
    settle(w);
    const before = allowed(w);
    for (const list of before) expect(list).toEqual(expect.arrayContaining(["198.51.100.0/24", "10.6.0.0/24"]));
    w.object.spec.apiServer = { managedLoadBalancer: { ...balancer, allowedCIDRs: ["203.0.113.0/24"] } };
    settle(w);
    for (const list of allowed(w)) {
      expect(list).toEqual(expect.arrayContaining(["203.0.113.0/24", "10.6.0.0/24"]));
      expect(list).not.toContain("198.51.100.0/24");
      expect(list.filter((cidr) => cidr.includes(":"))).toEqual([]);
    }
    expect(plan(w).steps).toEqual([]);
  });
});

it("a cluster without an external network has a network and no router", () => {
  const w = world({ ...demoSpec, enableExternalNetwork: false });
  const { status } = settle(w);
  expect([kinds(w).has("networks"), kinds(w).has("routers")]).toEqual([true, false]);
  expect(status.initialization?.provisioned).toBe(true);
});
