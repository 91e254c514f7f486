import type { OpenStackCluster } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { apply, condition, deleting, full, plan, settle, world, type World } from "../testing/cluster-world.ts";
import { port } from "../dry-run/resources.ts";
import { demoSpec, external } from "../testing/objects.ts";
import { bastionHashAnnotation } from "./bastion-spec.ts";

const machine = {
  flavor: { filter: { name: "m1.small" } },
  image: { filter: { name: "cirros" } },
  sshKeyName: "admin",
};

function bastionWorld(spec: Partial<OpenStackCluster["spec"]> = {}): World {
  return world({ ...demoSpec, tags: ["blue"], bastion: { spec: machine }, ...spec });
}

/** The bastion's server is there, with a port in the cluster's network. */
function running(w: World): void {
  if (!w.bastion) throw new Error("no bastion");
  w.cloud.ports.push(
    port(w.cloud, {
      id: "port-bastion",
      network_id: w.object.status?.network?.id ?? "",
      device_id: "srv-bastion",
      fixed_ips: [{ subnet_id: "s", ip_address: "10.6.0.9" }],
    }),
  );
  const addresses = [{ type: "InternalIP", address: "10.6.0.9" }];
  const status = { ready: true, instanceID: "srv-bastion", instanceState: "ACTIVE", addresses };
  w.bastion = { ...w.bastion, status: { ...status, resources: { ports: [{ id: "port-bastion" }] } } };
}

const sshRules = (w: World, role: string) =>
  w.cloud.securityGroups
    .find((g) => g.name.endsWith(role))
    ?.security_group_rules.filter((r) => r.port_range_min === 22)
    .map((r) => (r.remote_group_id === null ? "any" : "group"));

describe("the bastion of a cluster", () => {
  it("reaches the API through listeners with allowed CIDRs, which are sorted: the user's, the subnets, the bastion's, the router's", () => {
    const allowedCIDRs = ["198.51.100.7", "10.9.0.0/16", "2001:db8::/32", "9.9.9.0/24", "10.9.0.0/16"];
    const managedLoadBalancer = { enabled: true, allowedCIDRs };
    const w = bastionWorld({ apiServer: { managedLoadBalancer } });
    settle(w);
    running(w);
    settle(w);
    w.cloud.routers = w.cloud.routers.map((r) => ({
      ...r,
      external_gateway_info: { network_id: external.id, external_fixed_ips: [{ ip_address: "172.24.4.2" }] },
    }));
    settle(w);
    const floating = w.object.status?.bastion?.floatingIP ?? "";
    expect(floating).toMatch(/^172\.24\.4\./);
    const list = () => w.cloud.listeners[0]?.allowed_cidrs ?? [];
    const expected = ["10.6.0.0/24", "10.6.0.9/32", "10.9.0.0/16", "172.24.4.2/32", "198.51.100.7/32", "9.9.9.0/24"];
    expect(list()).toEqual([...expected, `${floating}/32`].sort());
    w.object.spec.apiServer = {
      managedLoadBalancer: { ...managedLoadBalancer, allowedCIDRs: allowedCIDRs.toReversed() },
    };
    expect(plan(w).steps).toEqual([]);
    w.object.spec.apiServer = { managedLoadBalancer: { ...managedLoadBalancer, allowedCIDRs: ["9.9.9.0/24"] } };
    settle(w);
    expect(list()).toEqual(["10.6.0.0/24", "10.6.0.9/32", "172.24.4.2/32", `${floating}/32`, "9.9.9.0/24"].sort());
    w.object.spec.bastion = { enabled: false };
    settle(w);
    expect(list()).toEqual(["10.6.0.0/24", "172.24.4.2/32", "9.9.9.0/24"]);
  });

  it("is an OpenStackServer with the cluster's network, tags and credentials, and a security group of its own", () => {
    const w = bastionWorld();
    const { status } = settle(w);
    const group = w.cloud.securityGroups.find((g) => g.name === "k8s-cluster-default-demo-secgroup-bastion");
    expect(w.bastion).toMatchObject({
      metadata: { name: "demo-bastion" },
      spec: {
        flavor: "m1.small",
        sshKeyName: "admin",
        tags: ["blue"],
        identityRef: w.object.spec.identityRef,
        ports: [
          {
            network: { id: status.network?.id },
            fixedIPs: [{ subnet: { id: status.network?.subnets?.[0]?.id } }],
            securityGroups: [{ id: group?.id }],
          },
        ],
      },
    });
    expect([sshRules(w, "bastion"), sshRules(w, "controlplane"), sshRules(w, "worker")]).toEqual([
      ["any"],
      ["group"],
      ["group"],
    ]);
    expect(condition(status, "BastionReady")).toBe("False BastionNotReady");
    expect([condition(status, "Ready"), status.initialization?.provisioned]).toEqual(["True Ready", true]);
  });

  it("gets a floating IP, which the API endpoint does not take", () => {
    const w = bastionWorld({ apiServer: full.apiServer });
    settle(w);
    running(w);
    const { status } = settle(w);
    const own = w.cloud.floatingIps.find((ip) => ip.port_id === "port-bastion");
    expect(own?.description).toBe("Created by cluster-api-provider-openstack cluster default-demo");
    expect(status.bastion).toMatchObject({
      id: "srv-bastion",
      name: "demo-bastion",
      ip: "10.6.0.9",
      state: "ACTIVE",
      sshKeyName: "admin",
      floatingIP: own?.floating_ip_address,
    });
    expect(condition(status, "BastionReady")).toBe("True BastionReady");
    expect(w.cloud.floatingIps).toHaveLength(2);
    expect(w.object.spec.controlPlaneEndpoint?.host).not.toBe(own?.floating_ip_address);
    expect(plan(w).steps).toEqual([]);
  });

  it("gets none without an external network", () => {
    const w = bastionWorld({ enableExternalNetwork: false });
    settle(w);
    running(w);
    expect(condition(settle(w).status, "BastionReady")).toBe("True BastionReady");
    expect(w.cloud.floatingIps).toEqual([]);
  });

  it("uses the floating IP of the spec, and keeps it", () => {
    const w = bastionWorld({ bastion: { spec: machine, floatingIP: "172.24.4.99" } });
    settle(w);
    running(w);
    expect(condition(settle(w).status, "BastionReady")).toBe("False FloatingIPError");
    w.cloud.applyCluster({
      for: "BastionReady",
      type: "create-floating-ip",
      body: { floating_network_id: external.id, description: "mine" },
    });
    w.cloud.floatingIps = w.cloud.floatingIps.map((ip) => ({ ...ip, floating_ip_address: "172.24.4.99" }));
    expect(settle(w).status.bastion?.floatingIP).toBe("172.24.4.99");
    expect(w.cloud.floatingIps[0]?.port_id).toBe("port-bastion");
    deleting(w);
    settle(w);
    w.cloud.ports = w.cloud.ports.filter((p) => p.id !== "port-bastion");
    settle(w);
    expect(w.cloud.inventory).toEqual(["floatingIps mine"]);
  });

  it("is recreated when its spec changes, and leaves server, floating IP and group when it is disabled", () => {
    const w = bastionWorld();
    settle(w);
    running(w);
    settle(w);
    const hash = w.bastion?.metadata.annotations?.[bastionHashAnnotation];
    w.object = { ...w.object, spec: { ...w.object.spec, bastion: { spec: { ...machine, sshKeyName: "other" } } } };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["delete-bastion"]);
    settle(w);
    expect(w.bastion?.spec.sshKeyName).toBe("other");
    expect(w.bastion?.metadata.annotations?.[bastionHashAnnotation]).not.toBe(hash);
    expect(w.cloud.floatingIps).toHaveLength(1);

    w.object = { ...w.object, spec: { ...w.object.spec, bastion: { enabled: false, spec: machine } } };
    settle(w);
    expect([sshRules(w, "controlplane"), w.bastion, w.cloud.floatingIps]).toEqual([[], undefined, []]);
    // A port of the server that is still going uses the group: everything else continues.
    expect(w.object.status?.bastion).toBeUndefined();
    w.cloud.ports = w.cloud.ports.filter((p) => p.id !== "port-bastion");
    const { status } = settle(w);
    expect(w.cloud.securityGroups.map((g) => g.name).filter((name) => name.includes("bastion"))).toEqual([]);
    expect(condition(status, "Ready")).toBe("True Ready");
  });

  it("does not stop the node groups while its own group is in use", () => {
    const w = bastionWorld();
    settle(w);
    const group = w.cloud.securityGroups.find((g) => g.name.endsWith("bastion"));
    w.cloud.ports.push(port(w.cloud, { id: "user", device_id: "srv", security_groups: [group?.id ?? ""] }));
    const controlPlaneNodesSecurityGroupRules = [{ name: "x", direction: "ingress" as const, protocol: "udp" }];
    const managedSecurityGroups = { controlPlaneNodesSecurityGroupRules };
    w.object = { ...w.object, spec: { ...w.object.spec, managedSecurityGroups, bastion: { enabled: false } } };
    settle(w);
    const rules = w.cloud.securityGroups.find((g) => g.name.endsWith("controlplane"))?.security_group_rules ?? [];
    expect(rules.some((r) => r.protocol === "udp")).toBe(true);
    expect(w.cloud.securityGroups).toHaveLength(3);
  });

  it("of upstream's provider is adopted as it is", () => {
    const w = bastionWorld();
    settle(w);
    running(w);
    if (w.bastion) w.bastion = { ...w.bastion, metadata: { ...w.bastion.metadata, annotations: {} } };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["record-bastion", "create-floating-ip"]);
    settle(w);
    expect(w.bastion?.metadata.annotations?.[bastionHashAnnotation]).toMatch(/^[0-9a-f]{16}$/);
  });

  it("is deleted before everything else of its cluster", () => {
    const w = bastionWorld();
    settle(w);
    running(w);
    settle(w);
    deleting(w);
    const steps = plan(w).steps;
    expect(steps).toEqual([{ for: "BastionReady", type: "delete-bastion", name: "demo-bastion" }]);
    if (w.bastion) w.bastion.metadata.deletionTimestamp = "2026-11-21T00:00:00Z";
    expect(plan(w).wait?.for).toMatch(/^OpenStackServer demo-bastion/);
    for (const step of steps) apply(w, step);
    w.cloud.ports = w.cloud.ports.filter((p) => p.id !== "port-bastion");
    settle(w);
    expect(w.cloud.inventory).toEqual([]);
  });
});
