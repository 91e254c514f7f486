import type { OpenStackCluster } from "@causeway/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adoptAnnotation, clusterFinalizer, cloudIdentityAnnotation, rulesAnnotation } from "../resources/naming.ts";
import { apply, condition, deleting, full, plan, settle, world } from "../testing/cluster-world.ts";
import { port, rule } from "../dry-run/resources.ts";
import { demoSpec, external, now, openStackMachine } from "../testing/objects.ts";

describe("the plan of an OpenStackCluster", () => {
  it("makes network, subnet, router and groups for a hosted control plane, and no endpoint", () => {
    const w = world(demoSpec);
    const { status } = settle(w);
    expect(w.cloud.inventory).toEqual([
      "networks k8s-clusterapi-cluster-default-demo",
      "ports ",
      "routers k8s-clusterapi-cluster-default-demo",
      "securityGroups k8s-cluster-default-demo-secgroup-controlplane",
      "securityGroups k8s-cluster-default-demo-secgroup-worker",
      "subnets k8s-clusterapi-cluster-default-demo",
    ]);
    expect(status.initialization?.provisioned).toBe(true);
    expect(condition(status, "Ready")).toBe("True Ready");
    expect(condition(status, "APIEndpointReady")).toBe("True EndpointFromControlPlane");
    expect(w.object.spec.controlPlaneEndpoint).toBeUndefined();
    expect(status.failureDomains).toEqual([
      { name: "az2", controlPlane: true },
      { name: "nova", controlPlane: true },
    ]);
  });

  it("makes a load balancer whole in one call, with its floating IP, and records the endpoint", () => {
    const w = world(full);
    const { status } = settle(w);
    expect(w.object.spec.controlPlaneEndpoint).toEqual({ host: "172.24.4.10", port: 6443 });
    expect(status.apiServerManagedLoadBalancer).toMatchObject({ ip: "172.24.4.10", internalIP: "10.6.0.5" });
    expect(w.cloud.listeners.map((l) => l.name)).toEqual([
      "k8s-clusterapi-cluster-default-demo-kubeapi-6443",
      "k8s-clusterapi-cluster-default-demo-kubeapi-8132",
    ]);
    expect(w.cloud.networks[1]?.tags).toEqual(["team-a", "blue"]);
    expect(w.cloud.floatingIps[0]?.tags).toEqual(["team-a", "blue"]);
  });

  it("puts the control-plane machines that run into the pools, and takes them out when they are deleted", () => {
    const w = world(full);
    settle(w);
    const machine = openStackMachine({}, { labels: { "cluster.x-k8s.io/control-plane": "" } });
    machine.status = { instanceState: "ACTIVE", addresses: [{ type: "InternalIP", address: "10.6.0.20" }] };
    w.machines = [machine];
    settle(w);
    expect([...w.cloud.members.values()].map((list) => list.map((m) => `${m.address}:${m.protocol_port}`))).toEqual([
      ["10.6.0.20:6443"],
      ["10.6.0.20:8132"],
    ]);
    machine.metadata.deletionTimestamp = "2026-11-21T00:00:00Z";
    settle(w);
    expect([...w.cloud.members.values()].flat()).toEqual([]);
  });

  it("comes to the same single resources wherever it is cut off (D2, D10)", () => {
    const uncut = world(full);
    settle(uncut);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 12 }), fc.boolean(), (cuts, keepStatus) => {
        const w = world(full);
        for (const cut of cuts) {
          const planned = plan(w);
          for (const step of planned.steps.slice(0, cut)) apply(w, step);
          if (keepStatus) w.object = { ...w.object, status: planned.status };
        }
        settle(w);
        expect(w.cloud.inventory).toEqual(uncut.cloud.inventory);
        expect(plan(w).steps).toEqual([]);
        deleting(w);
        settle(w);
        expect(w.cloud.inventory).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it("leaves nothing when it is deleted at any point of its creation", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 }),
        (cuts, deletionCuts) => {
          const w = world(full);
          for (const cut of cuts) for (const step of plan(w).steps.slice(0, cut)) apply(w, step);
          deleting(w);
          for (const cut of deletionCuts) for (const step of plan(w).steps.slice(0, cut)) apply(w, step);
          settle(w);
          expect(w.cloud.inventory).toEqual([]);
          expect(w.object.metadata.finalizers).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("does nothing more for a cluster that is as declared", () => {
    const w = world({
      ...full,
      managedRouter: { externalIPs: [{ fixedIP: "172.24.4.7", subnet: { id: "sub-public" } }] },
    });
    settle(w);
    const again = plan(w);
    expect(again.steps).toEqual([]);
    expect(again.wait?.until).toBe(now + 10 * 60_000);
  });

  const refusals: [string, Partial<OpenStackCluster["spec"]>, string, string, RegExp][] = [
    [
      "a CIDR that is none",
      { ...demoSpec, managedSubnets: [{ cidr: "10.6.0.0/33" }] },
      "NetworkReady",
      "InvalidSubnet",
      /10\.6\.0\.0\/33/,
    ],
    [
      "a pool outside the subnet",
      {
        ...demoSpec,
        managedSubnets: [{ cidr: "10.6.0.0/24", allocationPools: [{ start: "10.7.0.2", end: "10.7.0.9" }] }],
      },
      "NetworkReady",
      "InvalidSubnet",
      /10\.7\.0\.2/,
    ],
    [
      "an unknown external network",
      { ...demoSpec, externalNetwork: { filter: { name: "outside" } } },
      "RouterReady",
      "ExternalNetworkNotFound",
      /there are public/,
    ],
    ["an unknown network", { network: { filter: { name: "nowhere" } } }, "NetworkReady", "NetworkNotFound", /nowhere/],
    ["no network at all", {}, "NetworkReady", "NetworkMissing", /managedSubnets/],
  ];
  it.each(refusals)("reports %s and creates nothing", (_name, spec, type, reason, words) => {
    const w = world(spec);
    const result = plan(w);
    expect(result.steps).toEqual([]);
    expect(condition(result.status, type)).toBe(`False ${reason}`);
    expect(result.status.conditions?.find((c) => c.type === type)?.message).toMatch(words);
    expect(result.events?.some((e) => e.type === "Warning" && words.test(e.message))).toBe(true);
  });

  it("rejects a subnet in the Cluster's own range of Services before anything is created, and keeps an existing network", () => {
    const w = world(demoSpec);
    w.extra = { reserved: [{ use: "service", cidr: "10.0.0.0/13" }] };
    const result = plan(w);
    expect(result.steps).toEqual([]);
    expect(condition(result.status, "NetworkReady")).toBe("False OverlappingCIDR");
    expect(result.events?.some((e) => /service range 10\.0\.0\.0\/13/.test(e.message))).toBe(true);
    w.extra = {};
    settle(w);
    w.extra = { reserved: [{ use: "service", cidr: "10.0.0.0/13" }] };
    expect(plan(w).steps).toEqual([]);
    expect(condition(plan(w).status, "NetworkReady")).toBe("True NetworkReady");
  });

  it("rejects a CIDR that overlaps another subnet on the given router before anything is created", () => {
    const w = world({ ...demoSpec, router: { filter: { name: "shared" } } });
    const { cloud } = w;
    cloud.routers.push({
      id: "r-shared",
      name: "shared",
      description: "",
      project_id: "project-1",
      status: "ACTIVE",
      admin_state_up: true,
      external_gateway_info: { network_id: external.id },
      routes: [],
      tags: [],
    });
    cloud.subnets.push({
      id: "s-other",
      name: "other",
      description: "",
      project_id: "project-1",
      network_id: "n",
      ip_version: 4,
      cidr: "10.6.0.128/25",
      gateway_ip: null,
      enable_dhcp: true,
      dns_nameservers: [],
      allocation_pools: [],
      host_routes: [],
      tags: [],
    });
    cloud.ports.push(
      port(cloud, {
        device_id: "r-shared",
        device_owner: "network:router_interface",
        fixed_ips: [{ subnet_id: "s-other", ip_address: "10.6.0.129" }],
      }),
    );
    const result = plan(w);
    expect(result.steps).toEqual([]);
    expect(result.status.conditions?.find((c) => c.type === "RouterReady")?.message).toBe(
      "10.6.0.0/24 overlaps subnet other (10.6.0.128/25) on router shared",
    );
  });

  it("never picks one of two networks with our mark", () => {
    const w = world(demoSpec);
    const [finalizer, ...others] = plan(w).steps;
    if (finalizer?.type !== "add-finalizer" || others.length > 0) throw new Error("the finalizer is not the first");
    apply(w, finalizer);
    const [create, ...more] = plan(w).steps;
    if (create?.type !== "create-network" || more.length > 0) throw new Error("the network is not the second");
    w.cloud.applyCluster(create);
    w.cloud.applyCluster(create);
    const result = plan(w);
    expect(condition(result.status, "NetworkReady")).toBe("False DuplicateNetwork");
    expect(result.steps).toEqual([]);
  });

  describe("when another management cluster has a Cluster of the same name in the project", () => {
    function second(metadata: object = {}) {
      const first = world(full);
      settle(first);
      const w = world(full, { finalizers: [], ...metadata });
      w.cloud = first.cloud;
      return { first, w };
    }

    it("creates and deletes nothing, and says whose names these are", () => {
      const { first, w } = second();
      const before = w.cloud.inventory;
      const result = plan(w);
      expect(result.steps).toEqual([]);
      expect(condition(result.status, "Ready")).toBe("False NameInUse");
      expect(result.events?.[0]?.message).toMatch(
        /network net-.*router rtr-.*load balancer lb-.*another management cluster/,
      );
      deleting(w);
      settle(w);
      expect(w.cloud.inventory).toEqual(before);
      expect(plan(first).steps).toEqual([]);
    });

    const proofs: [string, object, object | undefined][] = [
      ["the finalizer that a moved object keeps", { finalizers: [clusterFinalizer] }, undefined],
      ["an ID in the status", {}, { network: { id: "net-1", name: "k8s-clusterapi-cluster-default-demo" } }],
      ["the annotation that asks for it", { annotations: { [adoptAnnotation]: "true" } }, undefined],
    ];
    it.each(proofs)("adopts the resources with %s, and creates none", (_name, metadata, status) => {
      const { w } = second(metadata);
      const before = w.cloud.inventory;
      w.object = { ...w.object, ...(status ? { status } : {}) };
      expect(condition(settle(w).status, "Ready")).toBe("True Ready");
      expect(w.cloud.inventory).toEqual(before);
    });
  });

  it("notes the cloud of an object that upstream's provider has left, and creates nothing", () => {
    const w = world(full);
    settle(w);
    const before = w.cloud.inventory;
    w.object = { ...w.object, metadata: { ...w.object.metadata, annotations: {} } };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["add-finalizer"]);
    settle(w);
    expect(w.object.metadata.annotations?.[cloudIdentityAnnotation]).toBe("RegionOne/project-1");
    expect(w.cloud.inventory).toEqual(before);
  });

  it.each([
    ["wants a load balancer", full, /has no effect/],
    ["wants no endpoint", demoSpec, /HostedControlPlane demo$/],
  ])("makes no endpoint when the control plane is hosted and the spec %s", (_name, spec, message) => {
    const w = { ...world(spec), extra: { controlPlane: { kind: "HostedControlPlane", name: "demo" } } };
    const { status } = settle(w);
    expect(w.cloud.loadBalancers).toEqual([]);
    expect(w.cloud.floatingIps).toEqual([]);
    expect(w.object.spec.controlPlaneEndpoint).toBeUndefined();
    expect(status.conditions?.find((c) => c.type === "APIEndpointReady")).toMatchObject({
      status: "True",
      reason: "EndpointFromControlPlane",
      message: expect.stringMatching(message),
    });
  });

  it("does not touch a network of another owner that has our name", () => {
    const w = world(demoSpec);
    w.cloud.networks.push({
      ...external,
      id: "foreign",
      "router:external": false,
      project_id: "project-1",
      name: "k8s-clusterapi-cluster-default-demo",
      description: "mine",
    });
    settle(w);
    deleting(w);
    settle(w);
    expect(w.cloud.networks.map((n) => n.id)).toEqual(["net-public", "foreign"]);
  });

  it("adds rules before it removes rules, repairs drift, and leaves a rule that a user added (D8, D18)", () => {
    const listed = {
      name: "bgp",
      direction: "ingress",
      protocol: "tcp",
      portRangeMin: 179,
      portRangeMax: 179,
    } as const;
    const managedSecurityGroups = { controlPlaneNodesSecurityGroupRules: [listed] };
    const w = world({ ...demoSpec, managedSecurityGroups, apiServer: { ...demoSpec.apiServer, port: 8443 } });
    settle(w);
    w.object = { ...w.object, spec: { ...w.object.spec, managedSecurityGroups: {} } };
    const group = w.cloud.securityGroups.find((g) => g.name.endsWith("controlplane"));
    expect(group?.security_group_rules.some((r) => r.port_range_min === 8443)).toBe(true);
    if (!group) throw new Error("no group");
    group.security_group_rules = [
      ...group.security_group_rules.filter((r) => r.port_range_min !== 8443),
      rule(w.cloud, {
        security_group_id: group.id,
        direction: "ingress",
        protocol: "tcp",
        port_range_min: 1,
        port_range_max: 2,
      }),
    ];
    expect(plan(w).steps.map((s) => s.type)).toEqual(["create-rules", "delete-rule"]);
    settle(w);
    expect(plan(w).steps).toEqual([]);
    const left = w.cloud.securityGroups.find((g) => g.id === group.id)?.security_group_rules ?? [];
    expect(left.some((r) => r.port_range_min === 179)).toBe(false);
    expect(left.some((r) => r.port_range_min === 1)).toBe(true);
    expect(w.object.metadata.annotations?.[rulesAnnotation]).toBe("");
  });

  it("refreshes failure domains later, too", () => {
    const w = world({ ...demoSpec, controlPlaneAvailabilityZones: ["nova"] });
    const { status } = settle(w);
    expect(status.failureDomains).toEqual([
      { name: "az2", controlPlane: false },
      { name: "nova", controlPlane: true },
    ]);
    w.object = { ...w.object, spec: { ...w.object.spec, controlPlaneOmitAvailabilityZone: true } };
    expect(plan(w).status.failureDomains?.some((d) => d.controlPlane)).toBe(false);
  });

  it("says that a changed CIDR is ignored, and why", () => {
    const w = world(demoSpec);
    settle(w);
    w.object = { ...w.object, spec: { ...w.object.spec, managedSubnets: [{ cidr: "10.9.0.0/24" }] } };
    const result = plan(w);
    expect(result.steps.map((s) => s.type)).toEqual([]);
    expect(result.events?.[0]).toMatchObject({ reason: "SpecChangeIgnored" });
    expect(result.events?.[0]?.message).toMatch(/made with 10\.6\.0\.0\/24/);
  });

  it("says that a moved gateway and a changed port are ignored, and leaves them", () => {
    const w = world(full);
    settle(w);
    const other = { ...external, id: "net-other", name: "other" };
    w.cloud.networks.push(other);
    const apiServer = { ...full.apiServer, port: 8443, fixedIP: "10.6.0.99" };
    w.object = { ...w.object, spec: { ...w.object.spec, externalNetwork: { id: other.id }, apiServer } };
    const result = plan(w);
    expect(result.steps).toEqual([]);
    const fields = result.events?.filter((e) => e.reason === "SpecChangeIgnored").map((e) => e.message.split(" ")[0]);
    expect(fields).toEqual(["spec.externalNetwork", "spec.apiServer.port", "spec.apiServer.fixedIP"]);
  });

  it("refuses to act in another project than the one recorded", () => {
    const w = world(demoSpec, {
      finalizers: [clusterFinalizer],
      annotations: { [cloudIdentityAnnotation]: "RegionOne/other" },
    });
    deleting(w);
    const result = plan(w);
    expect(result.steps).toEqual([]);
    expect(condition(result.status, "OpenStackAuthenticationSucceeded")).toBe("False WrongCloud");
  });

  it("reports refused credentials, and retries", () => {
    const w = world(demoSpec);
    w.extra = { identity: { ok: false, reason: "AuthenticationFailed", message: "wrong password" } };
    const result = plan(w);
    expect(condition(result.status, "OpenStackAuthenticationSucceeded")).toBe("False AuthenticationFailed");
    expect(result.wait?.until).toBe(now + 60_000);
  });

  it("checks again soon whether the cloud accepts the credentials while its Cluster is being deleted", () => {
    const w = world(demoSpec);
    settle(w);
    expect(plan(w).wait?.until).toBe(now + 600_000);
    w.extra = { isLeaving: true };
    expect(plan(w).wait?.until).toBe(now + 15_000);
  });

  it("waits after a quota refusal, and reports what to do", () => {
    const w = world(demoSpec);
    const hold = {
      type: "NetworkReady",
      reason: "QuotaExceeded",
      message: "Quota exceeded for network",
      until: now + 60_000,
    };
    w.extra = { hold };
    const result = plan(w);
    expect(result.steps).toEqual([]);
    expect(condition(result.status, "NetworkReady")).toBe("False QuotaExceeded");
    expect(result.wait?.until).toBe(now + 60_000);
  });

  it("does nothing while paused", () => {
    const w = world(demoSpec);
    w.extra = { paused: true };
    expect(plan(w).steps).toEqual([]);
  });
});
