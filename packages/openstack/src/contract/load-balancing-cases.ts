import assert from "node:assert/strict";
import type { LoadBalancer } from "../types/load-balancing.ts";
import { eventually, failsWith, makeSubnet, type ContractCase, type ContractContext } from "./case.ts";

/** What we rely on of Octavia, mostly with provider ovn. */
export const loadBalancingCases: readonly ContractCase[] = [
  {
    name: "an OVN load balancer with all its parts is one create and one cascading delete",
    async run(context) {
      const { loadBalancing, network } = context.cloud;
      const created = await makeLoadBalancer(context);
      assert.match(created.provisioning_status, /^(PENDING_CREATE|ACTIVE)$/);
      const lb = await settled(context, created.id);
      assert.equal(lb.provider, "ovn");
      assert.equal(lb.listeners.length, 2);
      const [pool] = await loadBalancing.pools.all({ loadbalancer_id: lb.id, name: context.name("pool-tcp") });
      assert.ok(pool);
      assert.deepEqual(
        (await loadBalancing.members(pool.id).all()).map((m) => m.address),
        ["10.231.0.51"],
      );
      assert.equal((await network.ports.get(lb.vip_port_id)).fixed_ips[0]?.ip_address, lb.vip_address);
      const [member] = await loadBalancing.members(pool.id).all();
      await context.clock.sleep(1_100);
      const change = { weight: 7, backup: true, name: "theirs" };
      await loadBalancing.members(pool.id).update(member?.id ?? "", change);
      await settled(context, lb.id);
      const stamped = await loadBalancing.pools.get(pool.id);
      assert.ok((stamped.updated_at ?? "") > (pool.updated_at ?? ""), "a member's change stamps its pool");
      await loadBalancing.replaceMembers(pool.id, [
        { address: "10.231.0.51", protocol_port: 30080, subnet_id: lb.vip_subnet_id },
        { address: "10.231.0.52", protocol_port: 30080, subnet_id: lb.vip_subnet_id },
      ]);
      await settled(context, lb.id);
      const members = await loadBalancing.members(pool.id).all();
      assert.equal(members.length, 2);
      const kept = members.find((m) => m.id === member?.id);
      assert.deepEqual([kept?.weight, kept?.backup, kept?.name], [1, false, "theirs"]);
      const tree = JSON.stringify(await loadBalancing.statusTree(lb.id));
      assert.ok(tree.includes("10.231.0.52"));
      await failsWith(loadBalancing.loadBalancers.delete(lb.id), "OPENSTACK_BAD_REQUEST", "OPENSTACK_CONFLICT");
      await loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
      await gone(context, lb.id);
      assert.equal(await network.ports.find(lb.vip_port_id), undefined);
      assert.deepEqual(await loadBalancing.pools.all({ id: pool.id }), []);
    },
  },
  {
    name: "Octavia lists the versions of its API",
    async run(context) {
      const described = await context.cloud.describe("load-balancer");
      const versions = described?.versions.map(({ id }) => id) ?? [];
      assert.ok(versions.includes("v2.0") && versions.includes("v2.26"), versions.join(", "));
    },
  },
  {
    name: "a load balancer that is being changed is immutable; of the CIDRs that a listener allows the networks are kept",
    async run(context) {
      const { loadBalancers } = context.cloud.loadBalancing;
      const lb = await makeLoadBalancer(context, { provider: "amphora" });
      assert.equal(lb.provisioning_status, "PENDING_CREATE");
      const error = await failsWith(loadBalancers.update(lb.id, { description: "now" }), "OPENSTACK_IMMUTABLE");
      assert.equal(error.details["status"], 409);
      await failsWith(context.cloud.loadBalancing.deleteLoadBalancer(lb.id, { cascade: true }), "OPENSTACK_IMMUTABLE");
      await settled(context, lb.id);
      // Of a CIDR the network is kept, whatever address of it was given.
      const open = { loadbalancer_id: lb.id, protocol: "TCP", protocol_port: 8080 } as const;
      const listener = await context.cloud.loadBalancing.listeners.create({ ...open, allowed_cidrs: ["10.1.2.3/8"] });
      assert.deepEqual(listener.allowed_cidrs, ["10.0.0.0/8"]);
      await settled(context, lb.id);
    },
  },
  {
    name: "a feature that the OVN provider does not support is not implemented, and a port in use a conflict",
    async run(context) {
      const { listeners, pools } = context.cloud.loadBalancing;
      const lb = await settled(context, (await makeLoadBalancer(context)).id);
      const pool = { loadbalancer_id: lb.id, protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } as const;
      await failsWith(pools.create(pool), "OPENSTACK_NOT_IMPLEMENTED");
      await settled(context, lb.id);
      const taken = { loadbalancer_id: lb.id, protocol: "TCP", protocol_port: 80 } as const;
      await failsWith(listeners.create(taken), "OPENSTACK_CONFLICT");
    },
  },
];

/** A load balancer, with a TCP and a UDP listener if it is OVN's; deleted with the case. It may be PENDING_CREATE. */
export async function makeLoadBalancer(
  context: ContractContext,
  { provider = "ovn" }: { provider?: string } = {},
): Promise<LoadBalancer> {
  const { loadBalancing } = context.cloud;
  const subnet = await makeSubnet(context);
  const listener = (protocol: "TCP" | "UDP", port: number) => ({
    name: context.name(`listener-${protocol.toLowerCase()}`),
    protocol,
    protocol_port: port,
    default_pool: {
      name: context.name(`pool-${protocol.toLowerCase()}`),
      protocol,
      lb_algorithm: "SOURCE_IP_PORT" as const,
      // The OVN provider needs the subnet: of a member made without one it loses track in a later replacement.
      members: [{ address: "10.231.0.51", protocol_port: 30080, subnet_id: subnet.id }],
    },
  });
  const lb = await loadBalancing.loadBalancers.create({
    name: context.name("lb"),
    vip_subnet_id: subnet.id,
    provider,
    tags: [context.name("tag")],
    ...(provider === "ovn" && { listeners: [listener("TCP", 80), listener("UDP", 53)] }),
  });
  context.cleanup(async () => {
    await settled(context, lb.id);
    await loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
    await gone(context, lb.id);
  });
  return lb;
}

/** The load balancer when nothing is pending on it; undefined if it is gone. */
async function settled(context: ContractContext, id: string): Promise<LoadBalancer> {
  const lb = await eventually(
    context,
    () => context.cloud.loadBalancing.loadBalancers.find(id),
    (found) => found === undefined || !found.provisioning_status.startsWith("PENDING"),
  );
  return lb as LoadBalancer;
}

async function gone(context: ContractContext, id: string): Promise<void> {
  const find = () => context.cloud.loadBalancing.loadBalancers.find(id);
  await eventually(context, find, (lb) => lb === undefined || lb.provisioning_status === "DELETED");
}
