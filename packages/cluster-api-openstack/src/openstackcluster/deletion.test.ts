import type { OpenStackCluster } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { apply, deleting, full, plan, settle, world, type World } from "../testing/cluster-world.ts";
import { port } from "../dry-run/resources.ts";
import { demoSpec, external, openStackMachine } from "../testing/objects.ts";

describe("the plan of a deleted OpenStackCluster", () => {
  function provisioned(spec: Partial<OpenStackCluster["spec"]> = full): World {
    const w = world(spec);
    settle(w);
    deleting(w);
    return w;
  }

  it("ends with an account of what it removed and what it kept", () => {
    const w = provisioned({ ...demoSpec, apiServer: { managedLoadBalancer: {}, floatingIP: "172.24.4.99" } });
    w.cloud.applyCluster({
      for: "APIEndpointReady",
      type: "create-floating-ip",
      body: { floating_network_id: "net-public", description: "mine" },
    });
    w.cloud.floatingIps = w.cloud.floatingIps.map((ip) => ({ ...ip, floating_ip_address: "172.24.4.99" }));
    w.object = { ...w.object, metadata: { ...w.object.metadata, deletionTimestamp: undefined } as never };
    settle(w);
    deleting(w);
    let account = "";
    for (let round = 0; round < 20; round++) {
      for (const step of plan(w).steps) {
        if (step.type === "remove-finalizer") account = step.account;
        apply(w, step);
      }
    }
    expect(account).toMatch(
      /^Removed: load balancer .*-kubeapi \(lb-\d+\), router .*, network .*, security group .*, security group/,
    );
    expect(account).toMatch(/Kept: floating IP 172\.24\.4\.99 \(spec\.apiServer\.floatingIP names it\)$/);
    expect(w.cloud.inventory).toEqual(["floatingIps mine"]);
  });

  it("waits for machines and names them", () => {
    const w = provisioned();
    w.machines = [openStackMachine()];
    expect(plan(w).wait?.for).toMatch(/1 machines.*demo-workers-abcde/);
  });

  it("names ports that are not ours and does not delete them", () => {
    const w = provisioned();
    const network_id = w.cloud.networks[1]?.id ?? "";
    w.cloud.ports.push(
      port(w.cloud, { network_id, name: "demo-2-port", device_owner: "compute:nova", device_id: "srv-x" }),
    );
    w.cloud.ports.push(port(w.cloud, { network_id, name: "dhcp", device_owner: "network:dhcp" }));
    const result = settle(w);
    expect(result.wait?.for).toMatch(/demo-2-port \(compute:nova\)/);
    expect(result.events?.[0]?.reason).toBe("DeletionBlocked");
    expect(result.refresh).toEqual(["ports"]);
    expect(w.cloud.ports.some((p) => p.name === "demo-2-port")).toBe(true);
    w.cloud.ports = w.cloud.ports.filter((p) => p.name !== "demo-2-port");
    settle(w);
    expect(w.cloud.inventory).toEqual([]);
  });

  it("waits without a warning for ports that Octavia removes with its load balancers", () => {
    const w = provisioned();
    const network_id = w.cloud.networks[1]?.id ?? "";
    w.cloud.ports.push(port(w.cloud, { network_id, name: "ovn-lb-vip-0815", device_owner: "" }));
    const result = settle(w);
    expect(result.wait?.for).toMatch(/^Octavia to remove the ports of deleted load balancers: ovn-lb-vip-0815 \(/);
    expect(result.events ?? []).toEqual([]);
    expect(result.refresh).toEqual(["ports"]);
    w.cloud.ports.push(port(w.cloud, { network_id, name: "mine", device_owner: "compute:nova", device_id: "srv" }));
    const blocked = settle(w);
    expect(blocked.events?.[0]?.reason).toBe("DeletionBlocked");
    expect(blocked.wait?.for).not.toContain("ovn-lb-vip");
  });

  it("deletes ports that a machine left behind", () => {
    const w = provisioned();
    const network_id = w.cloud.networks[1]?.id ?? "";
    const description = "Created by cluster-api-provider-openstack cluster default-demo";
    w.cloud.ports.push(port(w.cloud, { network_id, name: "demo-x-0", description }));
    settle(w);
    expect(w.cloud.inventory).toEqual([]);
  });

  it("deletes its own router, and no router that spec.router names", () => {
    const w = provisioned();
    const own = w.cloud.routers.map((r) => r.id);
    expect(own.length).toBe(1);
    const steps = () => plan(w).steps.flatMap((step) => (step.type === "delete-router" ? [step.id] : []));
    const seen: string[] = [];
    for (let round = 0; round < 20 && plan(w).steps.length > 0; round += 1) {
      seen.push(...steps());
      for (const step of plan(w).steps) if (step.type !== "remove-finalizer") w.cloud.applyCluster(step);
      if (plan(w).steps.some((step) => step.type === "remove-finalizer")) break;
    }
    expect([...new Set(seen)]).toEqual(own);
    for (const router of [{ id: own[0] ?? "" }, { id: "another" }]) {
      const kept = provisioned();
      kept.object = { ...kept.object, spec: { ...kept.object.spec, router } };
      const [first] = kept.cloud.routers;
      if (!first) throw new Error("no router");
      kept.cloud.routers = [{ ...first, id: own[0] ?? "" }];
      settle(kept);
      expect(kept.cloud.routers.length).toBe(router.id === "another" ? 0 : 1);
    }
  });

  it("removes routes to its machines before the interface that they need, and leaves others", () => {
    const w = provisioned();
    const to = (destination: string, nexthop: string) => ({ destination, nexthop });
    const routes = [
      to("10.244.0.0/24", "10.6.0.21"),
      to("10.244.1.0/24", "10.6.0.22"),
      to("192.0.2.0/24", "172.24.4.9"),
    ];
    w.cloud.routers = w.cloud.routers.map((router) => ({ ...router, routes }));
    const own = w.cloud.routers.map(({ id }) => id);
    // Of another cluster with the same range: it has no interface on this cluster's subnet.
    const [router] = w.cloud.routers;
    if (!router) throw new Error("there is no router");
    const foreign = { ...router, id: "foreign", name: "other", description: "another's" };
    w.cloud.routers.push(foreign);
    const order: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const { steps } = plan(w);
      if (steps.some((step) => step.type === "remove-finalizer")) break;
      for (const step of steps) {
        order.push(step.type);
        if (step.type === "remove-routes") expect(step).toMatchObject({ id: own[0], routes: routes.slice(0, 2) });
        if (step.type !== "remove-finalizer") w.cloud.applyCluster(step);
      }
    }
    expect(order.filter((step) => step === "remove-routes")).toHaveLength(1);
    expect(order.indexOf("remove-routes")).toBeLessThan(order.indexOf("remove-router-interface"));
    expect(w.cloud.routers).toEqual([foreign]);
    w.cloud.routers = [];
    expect(w.cloud.inventory).toEqual([]);
  });

  it("waits for load balancers of Services on its subnet", () => {
    const w = provisioned(demoSpec);
    const ours = settleBalancer(w);
    expect(plan(w).wait?.for).toMatch(/kube_service_x/);
    w.cloud.applyCluster({ for: "APIEndpointReady", type: "delete-load-balancer", id: ours?.id ?? "", name: "" });
    settle(w);
    expect(w.cloud.inventory).toEqual([]);
  });

  it("keeps a floating IP, a router and a network that were given", () => {
    const w = world({ ...full, apiServer: { ...full.apiServer, floatingIP: "172.24.4.99" } });
    w.cloud.floatingIps.push({
      id: "given",
      description: "mine",
      project_id: "project-1",
      floating_network_id: external.id,
      floating_ip_address: "172.24.4.99",
      fixed_ip_address: null,
      port_id: null,
      router_id: null,
      status: "DOWN",
      tags: [],
    });
    settle(w);
    expect(w.object.spec.controlPlaneEndpoint?.host).toBe("172.24.4.99");
    deleting(w);
    settle(w);
    expect(w.cloud.inventory).toEqual(["floatingIps mine"]);
  });

  it("needs nothing that was never created: a cluster without a finalizer is deleted at once", () => {
    const w = world(demoSpec);
    deleting(w);
    w.extra = { identity: { ok: false, reason: "InvalidIdentity", message: "no Secret" } };
    expect(plan(w)).toMatchObject({ steps: [] });
    expect(plan(w).wait).toBeUndefined();
  });
});

function settleBalancer(w: World) {
  const subnet = w.cloud.subnets[1]?.id ?? "";
  w.cloud.applyCluster({
    for: "APIEndpointReady",
    type: "create-load-balancer",
    body: { name: "kube_service_x", vip_subnet_id: subnet },
  });
  return w.cloud.loadBalancers[0];
}
