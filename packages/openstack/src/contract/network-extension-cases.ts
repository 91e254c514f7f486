import assert from "node:assert/strict";
import { failsWith, makeSubnet, type ContractCase } from "./case.ts";

/** What we rely on of Neutron's extensions; each case needs its own ones. */
export const networkExtensionCases: readonly ContractCase[] = [
  {
    name: "a trunk carries subports, which are bound to it and to nothing else",
    needs: { extensions: ["trunk"] },
    async run(context) {
      const { network } = context.cloud;
      const subnet = await makeSubnet(context);
      const body = (what: string) => ({ name: context.name(what), network_id: subnet.network_id });
      const [parent, child] = [await network.ports.create(body("parent")), await network.ports.create(body("child"))];
      context.cleanup(() => Promise.all([network.ports.delete(parent.id), network.ports.delete(child.id)]));
      const trunk = await network.trunks.create({ name: context.name("trunk"), port_id: parent.id });
      context.cleanup(() => network.trunks.delete(trunk.id));
      assert.deepEqual(trunk.sub_ports, []);
      const sub = { port_id: child.id, segmentation_type: "vlan", segmentation_id: 101 } as const;
      const grown = await network.addSubPorts(trunk.id, [sub]);
      assert.deepEqual(grown.sub_ports, [sub]);
      await failsWith(network.addSubPorts(trunk.id, [sub]), "OPENSTACK_CONFLICT");
      await failsWith(network.ports.delete(child.id), "OPENSTACK_CONFLICT");
      await failsWith(network.ports.delete(parent.id), "OPENSTACK_CONFLICT");
      assert.equal((await network.ports.get(child.id)).device_owner, "trunk:subport");
      assert.deepEqual((await network.removeSubPorts(trunk.id, [child.id])).sub_ports, []);
      await failsWith(network.trunks.create({ port_id: parent.id }), "OPENSTACK_CONFLICT");
    },
  },
  {
    name: "an address group's addresses are added and removed, and a rule may name it",
    needs: { extensions: ["address-group"] },
    async run(context) {
      const { network } = context.cloud;
      const group = await network.addressGroups.create({ name: context.name("ag"), addresses: ["10.1.0.0/16"] });
      context.cleanup(() => network.addressGroups.delete(group.id));
      const grown = await network.addAddresses(group.id, ["10.2.0.0/16"]);
      assert.deepEqual([...grown.addresses].sort(), ["10.1.0.0/16", "10.2.0.0/16"]);
      const less = await network.removeAddresses(group.id, ["10.1.0.0/16"]);
      assert.deepEqual(less.addresses, ["10.2.0.0/16"]);
      await failsWith(network.addAddresses(group.id, ["not-an-address"]), "OPENSTACK_BAD_REQUEST");
    },
  },
  {
    name: "a port forwarding of a floating IP leads to a port, and the pair of port and protocol is then in use",
    needs: { extensions: ["floating-ip-port-forwarding"] },
    async run(context) {
      const { network } = context.cloud;
      const subnet = await makeSubnet(context, "10.232.0.0/24");
      const [external] = await network.networks.all({ name: context.externalNetwork });
      assert.ok(external);
      const router = await network.routers.create({
        name: context.name("router"),
        external_gateway_info: { network_id: external.id },
      });
      context.cleanup(() => network.routers.delete(router.id));
      await network.addRouterInterface(router.id, { subnet_id: subnet.id });
      context.cleanup(() => network.removeRouterInterface(router.id, { subnet_id: subnet.id }));
      const port = await network.ports.create({ name: context.name("p"), network_id: subnet.network_id });
      context.cleanup(() => network.ports.delete(port.id));
      const ip = await network.floatingIps.create({ floating_network_id: external.id });
      context.cleanup(() => network.floatingIps.delete(ip.id));
      const forwardings = network.portForwardings(ip.id);
      const body = {
        internal_port_id: port.id,
        internal_ip_address: port.fixed_ips[0]?.ip_address ?? "",
        internal_port: 22,
        external_port: 2022,
        protocol: "tcp",
      } as const;
      const made = await forwardings.create(body);
      context.cleanup(() => forwardings.delete(made.id));
      assert.equal(made.external_port, 2022);
      await failsWith(forwardings.create(body), "OPENSTACK_BAD_REQUEST", "OPENSTACK_CONFLICT");
      assert.equal((await forwardings.update(made.id, { external_port: 2023 })).external_port, 2023);
      assert.deepEqual(
        (await forwardings.all()).map((f) => f.id),
        [made.id],
      );
    },
  },
  {
    name: "a subnet is cut from a pool, and a pool in use is not deleted",
    needs: { extensions: ["subnet_allocation"] },
    async run(context) {
      const { network } = context.cloud;
      const prefixes = ["10.240.0.0/16"];
      const pool = await network.subnetPools.create({ name: context.name("pool"), prefixes, default_prefixlen: 26 });
      context.cleanup(() => network.subnetPools.delete(pool.id));
      const net = await network.networks.create({ name: context.name("net") });
      context.cleanup(() => network.networks.delete(net.id));
      const subnet = await network.subnets.create({
        name: context.name("subnet"),
        network_id: net.id,
        ip_version: 4,
        subnetpool_id: pool.id,
      });
      context.cleanup(() => network.subnets.delete(subnet.id));
      assert.match(subnet.cidr, /^10\.240\.\d+\.\d+\/26$/);
      await failsWith(network.subnetPools.delete(pool.id), "OPENSTACK_CONFLICT", "OPENSTACK_BAD_REQUEST");
      const wrong = { name: context.name("wrong"), prefixes: ["10.241.0.0/24"], min_prefixlen: 40 };
      await failsWith(network.subnetPools.create(wrong), "OPENSTACK_BAD_REQUEST");
    },
  },
  {
    name: "a router's routes are added and removed and leave each other alone",
    needs: { extensions: ["extraroute"] },
    async run(context) {
      const { network } = context.cloud;
      const subnet = await makeSubnet(context, "10.233.0.0/24");
      const router = await network.routers.create({ name: context.name("router") });
      context.cleanup(() => network.routers.delete(router.id));
      await network.addRouterInterface(router.id, { subnet_id: subnet.id });
      context.cleanup(() => network.removeRouterInterface(router.id, { subnet_id: subnet.id }));
      const route = (n: number) => ({ destination: `10.244.${n}.0/24`, nexthop: `10.233.0.${n + 10}` });
      context.cleanup(() => network.removeRoutes(router.id, [route(1), route(2), route(3)]));
      await network.addRoutes(router.id, [route(1)]);
      await Promise.all([network.addRoutes(router.id, [route(2)]), network.addRoutes(router.id, [route(3)])]);
      const all = await network.routers.get(router.id);
      assert.deepEqual(
        all.routes.map((r) => r.destination).sort(),
        [1, 2, 3].map((n) => route(n).destination),
      );
      await network.addRoutes(router.id, [route(2)]);
      const less = await network.removeRoutes(router.id, [route(2), route(9)]);
      assert.deepEqual(
        less.routes.map((r) => r.destination).sort(),
        [1, 3].map((n) => route(n).destination),
      );
      const away = { destination: "10.245.0.0/24", nexthop: "192.0.2.1" };
      await failsWith(network.addRoutes(router.id, [away]), "OPENSTACK_BAD_REQUEST");
      await failsWith(network.removeRouterInterface(router.id, { subnet_id: subnet.id }), "OPENSTACK_CONFLICT");
    },
  },
  {
    name: "routes are added and removed in one call where the cloud can do it, the same twice is once",
    needs: { extensions: ["extraroute-atomic"] },
    async run(context) {
      const { network } = context.cloud;
      const subnet = await makeSubnet(context, "10.234.0.0/24");
      const router = await network.routers.create({ name: context.name("router") });
      context.cleanup(() => network.routers.delete(router.id));
      await network.addRouterInterface(router.id, { subnet_id: subnet.id });
      context.cleanup(() => network.removeRouterInterface(router.id, { subnet_id: subnet.id }));
      const routes = [1, 2].map((n) => ({ destination: `10.246.${n}.0/24`, nexthop: `10.234.0.${n + 10}` }));
      context.cleanup(() => network.removeRoutes(router.id, routes));
      await network.addRoutes(router.id, routes);
      const twice = await network.addRoutes(router.id, routes.slice(0, 1));
      assert.equal(twice.routes.length, 2);
      const none = await network.removeRoutes(router.id, [...routes, { ...routes[0]!, nexthop: "10.234.0.99" }]);
      assert.deepEqual(none.routes, []);
      assert.equal(context.cloud.stats().byRoute["GET network /routers/{id}"], undefined);
    },
  },
  {
    name: "a write that expects an older revision is refused",
    needs: { extensions: ["revision-if-match"] },
    async run(context) {
      const { network } = context.cloud;
      const net = await network.networks.create({ name: context.name("net") });
      context.cleanup(() => network.networks.delete(net.id));
      const after = await network.networks.update(net.id, { description: "two" });
      assert.ok((after.revision_number ?? 0) > (net.revision_number ?? 0));
      const stale = network.networks.update(net.id, { description: "three" }, { ifRevision: net.revision_number });
      const refused = await failsWith(stale, "OPENSTACK_CONFLICT");
      assert.equal(refused.details["status"], 412);
      const fresh = await network.networks.get(net.id);
      await network.networks.update(net.id, { description: "three" }, { ifRevision: fresh.revision_number });
    },
  },
  {
    name: "tags are added one by one, and removing one that is gone is success",
    async run(context) {
      const { network } = context.cloud;
      const net = await network.networks.create({ name: context.name("net") });
      context.cleanup(() => network.networks.delete(net.id));
      await network.addTag("networks", net.id, "one");
      await network.addTag("networks", net.id, "two");
      await network.addTag("networks", net.id, "one");
      assert.deepEqual([...(await network.networks.get(net.id)).tags].sort(), ["one", "two"]);
      await network.removeTag("networks", net.id, "one");
      await network.removeTag("networks", net.id, "one");
      assert.deepEqual((await network.networks.get(net.id)).tags, ["two"]);
    },
  },
  {
    name: "networks and subnets are made in bulk, all or none",
    async run(context) {
      const { network } = context.cloud;
      const made = await network.createNetworks([{ name: context.name("a") }, { name: context.name("b") }]);
      context.cleanup(() => Promise.all(made.map((n) => network.networks.delete(n.id))));
      assert.equal(made.length, 2);
      const subnet = (n: number, cidr: string) =>
        ({ name: context.name(`s${n}`), network_id: made[n]?.id ?? "", ip_version: 4, cidr }) as const;
      const wrong = network.createSubnets([subnet(0, "10.234.0.0/24"), subnet(1, "10.234.1.300/24")]);
      await failsWith(wrong, "OPENSTACK_BAD_REQUEST");
      assert.deepEqual(await network.subnets.all({ network_id: made[0]?.id ?? "" }), []);
      const both = await network.createSubnets([subnet(0, "10.234.0.0/24"), subnet(1, "10.234.1.0/24")]);
      assert.equal(both.length, 2);
    },
  },
  {
    name: "a project's quota returns limits and usage",
    needs: { extensions: ["quota_details"] },
    async run(context) {
      const { network } = context.cloud;
      const project = await context.cloud.projectId();
      const before = await network.quotaDetails(project);
      const net = await network.networks.create({ name: context.name("net") });
      context.cleanup(() => network.networks.delete(net.id));
      const after = await network.quotaDetails(project);
      assert.equal(after["network"]?.used, (before["network"]?.used ?? 0) + 1);
      assert.equal((await network.quota(project))["network"], after["network"]?.limit);
    },
  },
  {
    name: "a QoS policy is made by an administrator, has rules, and a port may use it",
    needs: { admin: true, extensions: ["qos"] },
    async run(context) {
      const { network } = context.admin;
      const policy = await network.qosPolicies.create({ name: context.name("qos"), shared: true });
      context.cleanup(() => network.qosPolicies.delete(policy.id));
      const rules = network.bandwidthLimitRules(policy.id);
      const rule = await rules.create({ max_kbps: 1000, max_burst_kbps: 800, direction: "egress" });
      assert.equal(rule.max_kbps, 1000);
      assert.equal((await rules.update(rule.id, { max_kbps: 2000 })).max_kbps, 2000);
      const subnet = await makeSubnet(context);
      const port = await context.cloud.network.ports.create({
        name: context.name("p"),
        network_id: subnet.network_id,
        qos_policy_id: policy.id,
      });
      context.cleanup(() => context.cloud.network.ports.delete(port.id));
      assert.equal(port.qos_policy_id, policy.id);
      await failsWith(network.qosPolicies.delete(policy.id), "OPENSTACK_CONFLICT");
      await failsWith(context.cloud.network.qosPolicies.create({ name: "x" }), "OPENSTACK_FORBIDDEN");
    },
  },
  {
    name: "a network is shared with one project by an RBAC policy",
    needs: { extensions: ["rbac-policies"], admin: true },
    async run(context) {
      const { network } = context.cloud;
      const net = await network.networks.create({ name: context.name("net") });
      context.cleanup(() => network.networks.delete(net.id));
      const target = await context.admin.projectId();
      const body = {
        object_type: "network",
        object_id: net.id,
        action: "access_as_shared",
        target_tenant: target,
      } as const;
      const policy = await network.rbacPolicies.create(body);
      context.cleanup(() => network.rbacPolicies.delete(policy.id));
      assert.equal(policy.object_id, net.id);
      await failsWith(network.rbacPolicies.create(body), "OPENSTACK_CONFLICT");
    },
  },
];
