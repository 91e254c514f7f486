import assert from "node:assert/strict";
import { lossyProxy } from "./lossy-proxy.ts";
import { failsWith, makeSubnet, type ContractCase, type ContractContext } from "./case.ts";

/** What we rely on of Neutron in every cloud. */
export const networkCases: readonly ContractCase[] = [
  {
    name: "a network, its subnet and ports are created with tags, and deleted",
    async run(context) {
      const { network } = context.cloud;
      const subnet = await makeSubnet(context);
      assert.equal(subnet.cidr, "10.231.0.0/24");
      await network.setTags("networks", subnet.network_id, ["one", "two"]);
      const tagged = await network.networks.all({ tags: ["one", "two"], name: context.name("net") });
      assert.deepEqual(
        tagged.map((n) => n.id),
        [subnet.network_id],
      );
      assert.deepEqual([...(tagged[0]?.tags ?? [])].sort(), ["one", "two"]);
      const names = ["p1", "p2", "p3"].map((n) => context.name(n));
      const body = names.map((name) => ({ name, network_id: subnet.network_id, tags: ["bulk"] }));
      const ports = await network.createPorts(body);
      context.cleanup(() => Promise.all(ports.map((p) => network.ports.delete(p.id))));
      assert.deepEqual(ports.map((p) => p.name).sort(), names);
      assert.ok(ports.every((p) => p.fixed_ips[0]?.subnet_id === subnet.id && p.tags[0] === "bulk"));
      const [first] = ports;
      assert.ok(first);
      const renamed = await network.ports.update(first.id, { name: context.name("other") });
      assert.equal(renamed.name, context.name("other"));
      await failsWith(network.networks.delete(subnet.network_id), "OPENSTACK_CONFLICT");
    },
  },
  {
    name: "an address that is in use is a conflict, and a wrong CIDR a bad request",
    async run(context) {
      const { network } = context.cloud;
      const subnet = await makeSubnet(context);
      const body = {
        name: context.name("p"),
        network_id: subnet.network_id,
        fixed_ips: [{ ip_address: "10.231.0.77" }],
      };
      const port = await network.ports.create(body);
      context.cleanup(() => network.ports.delete(port.id));
      const error = await failsWith(network.ports.create(body), "OPENSTACK_CONFLICT");
      assert.equal(error.details["serviceType"], "IpAddressAlreadyAllocated");
      const wrong = { name: "x", network_id: subnet.network_id, ip_version: 4, cidr: "10.0.0.300/24" } as const;
      await failsWith(network.subnets.create(wrong), "OPENSTACK_BAD_REQUEST");
    },
  },
  {
    name: "a router joins a subnet to the outside, twice the same is once, and a floating IP goes through it",
    async run(context) {
      const { network } = context.cloud;
      const { router, subnet, external } = await makeRoutedSubnet(context);
      await network.addRouterInterface(router.id, { subnet_id: subnet.id });
      assert.equal((await network.ports.all({ device_id: router.id, network_id: subnet.network_id })).length, 1);
      const port = await network.ports.create({ name: context.name("p"), network_id: subnet.network_id });
      context.cleanup(() => network.ports.delete(port.id));
      const ip = await network.floatingIps.create({ floating_network_id: external, description: context.name("fip") });
      context.cleanup(() => network.floatingIps.delete(ip.id));
      const bound = await network.floatingIps.update(ip.id, { port_id: port.id });
      assert.equal(bound.fixed_ip_address, port.fixed_ips[0]?.ip_address);
      await network.setTags("floatingips", ip.id, ["t"]);
      assert.deepEqual((await network.floatingIps.get(ip.id)).tags, ["t"]);
      await failsWith(network.removeRouterInterface(router.id, { subnet_id: subnet.id }), "OPENSTACK_CONFLICT");
      const free = await network.floatingIps.update(ip.id, { port_id: null });
      assert.equal(free.port_id, null);
      await network.removeRouterInterface(router.id, { subnet_id: subnet.id });
      await network.removeRouterInterface(router.id, { subnet_id: subnet.id });
    },
  },
  {
    name: "rules of a security group are made in bulk, all or none",
    async run(context) {
      const { network } = context.cloud;
      const group = await network.securityGroups.create({ name: context.name("sg"), description: "contract" });
      context.cleanup(() => network.securityGroups.delete(group.id));
      const tcp = (port: number) => ({
        security_group_id: group.id,
        direction: "ingress" as const,
        protocol: "tcp",
        port_range_min: port,
        port_range_max: port,
        remote_ip_prefix: "10.0.0.0/8",
      });
      const rules = await network.createSecurityGroupRules([tcp(6443), tcp(10250)]);
      assert.equal(rules.length, 2);
      const error = await failsWith(network.createSecurityGroupRules([tcp(80), tcp(6443)]), "OPENSTACK_CONFLICT");
      assert.equal(error.details["serviceType"], "SecurityGroupRuleExists");
      const read = await network.securityGroups.get(group.id);
      const ports = read.security_group_rules.flatMap((r) => r.port_range_min ?? []);
      assert.deepEqual(new Set(ports), new Set([6443, 10250]));
      await network.securityGroupRules.delete(rules[0]?.id ?? "");
      assert.equal(
        (await network.securityGroupRules.all({ security_group_id: group.id, direction: "ingress" })).length,
        1,
      );
    },
  },
  {
    name: "a list in pages of one is the whole list",
    async run(context) {
      const { network } = context.cloud;
      const subnet = await makeSubnet(context);
      const body = [1, 2, 3].map((n) => ({ name: context.name(`p${n}`), network_id: subnet.network_id }));
      const ports = await network.createPorts(body);
      context.cleanup(() => Promise.all(ports.map((p) => network.ports.delete(p.id))));
      const before = context.cloud.stats().byRoute["GET network /ports"] ?? 0;
      const paged = await network.ports.all({ limit: 1, network_id: subnet.network_id });
      const whole = await network.ports.all({ network_id: subnet.network_id });
      assert.deepEqual(paged.map((p) => p.id).sort(), whole.map((p) => p.id).sort());
      assert.ok((context.cloud.stats().byRoute["GET network /ports"] ?? 0) - before >= 3);
      const many = await network.ports.all({ id: [...ports.map((p) => p.id), "00000000-0000-4000-8000-000000000000"] });
      assert.equal(many.length, 3);
      assert.ok((await context.cloud.compute.flavors.all({ limit: 1 })).length > 1);
      assert.ok((await context.cloud.image.images.all({ limit: 1 })).length > 1);
    },
  },
  {
    name: "a create whose response is lost is found again by its name",
    async run(context) {
      const { cloud } = context;
      const name = context.name("lost");
      context.cleanup(async () => {
        for (const n of await cloud.network.networks.all({ name })) await cloud.network.networks.delete(n.id);
      });
      const proxy = await lossyProxy(context.config.authUrl, "/networks");
      context.cleanup(() => proxy.close());
      const unlucky = context.connect({ authUrl: proxy.authUrl });
      const recover = async () => (await unlucky.network.networks.all({ name }))[0];
      const network = await unlucky.network.networks.create({ name }, { recover });
      assert.equal(network.name, name);
      assert.equal(proxy.lost(), 1);
      assert.equal((await cloud.network.networks.all({ name })).length, 1);
      assert.equal(unlucky.stats().byRoute["POST network /networks"], 1);
    },
  },
  {
    name: "a create whose response is lost, without recover, has an unknown outcome",
    async run(context) {
      const { network } = context.cloud;
      const name = context.name("unknown");
      context.cleanup(async () => {
        for (const n of await network.networks.all({ name })) await network.networks.delete(n.id);
      });
      const proxy = await lossyProxy(context.config.authUrl, "/networks");
      context.cleanup(() => proxy.close());
      const unlucky = context.connect({ authUrl: proxy.authUrl });
      await failsWith(unlucky.network.networks.create({ name }), "OPENSTACK_OUTCOME_UNKNOWN");
      assert.equal((await network.networks.all({ name })).length, 1);
    },
  },
];

async function makeRoutedSubnet(context: ContractContext) {
  const { network } = context.cloud;
  const [external] = await network.networks.all({ name: context.externalNetwork, "router:external": true });
  assert.ok(external, "the external network");
  const subnet = await makeSubnet(context);
  const gateway = { network_id: external.id };
  const router = await network.routers.create({ name: context.name("router"), external_gateway_info: gateway });
  context.cleanup(() => network.routers.delete(router.id));
  context.cleanup(() => network.removeRouterInterface(router.id, { subnet_id: subnet.id }));
  await network.addRouterInterface(router.id, { subnet_id: subnet.id });
  return { router, subnet, external: external.id };
}
