import { systemClock } from "@causeway/foundation";
import type { Cloud, LoadBalancer, Server, Subnet } from "@causeway/openstack";

/** What a cluster's nodes stand on: a network with a way out, and servers. */
export interface Infrastructure {
  readonly subnet: Subnet;
  readonly routerId: string;
  readonly servers: readonly Server[];
  remove(): Promise<void>;
}

export interface InfrastructureOptions {
  readonly prefix: string;
  readonly servers: number;
  /** The servers have an IPv6 address, too. */
  readonly dualStack?: boolean;
}

/** Made by plain calls, beside the controller that is looked at. */
export async function makeInfrastructure(cloud: Cloud, options: InfrastructureOptions): Promise<Infrastructure> {
  const { prefix } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const { networks, subnets, routers } = cloud.network;
  const network = await networks.create({ name: `${prefix}-net` });
  undo.unshift(() => networks.delete(network.id));
  const subnet = await subnets.create({
    name: `${prefix}-subnet`,
    network_id: network.id,
    ip_version: 4,
    cidr: "10.77.0.0/24",
  });
  if (options.dualStack)
    await subnets.create({ name: `${prefix}-subnet6`, network_id: network.id, ip_version: 6, cidr: "fd77::/64" });
  const external = (await networks.all({ name: "public" }))[0];
  const router = await routers.create({
    name: `${prefix}-router`,
    external_gateway_info: { network_id: external?.id ?? "" },
  });
  undo.unshift(() => routers.delete(router.id));
  await cloud.network.addRouterInterface(router.id, { subnet_id: subnet.id });
  undo.unshift(() => cloud.network.removeRouterInterface(router.id, { subnet_id: subnet.id }));
  const servers = await Promise.all(
    Array.from({ length: options.servers }, (_, i) => makeServer(cloud, `${prefix}-node-${i}`, network.id)),
  );
  undo.unshift(() => Promise.all(servers.map((server) => removeServer(cloud, server.id))));
  return {
    subnet,
    routerId: router.id,
    servers,
    async remove() {
      await removeLoadBalancers(cloud, prefix);
      for (const task of undo) await task();
    },
  };
}

async function makeServer(cloud: Cloud, name: string, network: string): Promise<Server> {
  const [flavor] = await cloud.compute.flavors.all();
  const [image] = await cloud.image.images.all({ name: "cirros" });
  const made = await cloud.compute.servers.create({
    name,
    flavorRef: flavor?.id ?? "",
    imageRef: image?.id ?? "",
    networks: [{ uuid: network }],
  });
  const found = await settle(
    () => cloud.compute.servers.find(made.id),
    (server) => server?.status !== "BUILD",
  );
  return found ?? made;
}

async function removeServer(cloud: Cloud, id: string): Promise<void> {
  await cloud.compute.servers.delete(id);
  await settle(
    () => cloud.compute.servers.find(id),
    (server) => server === undefined,
  );
}

/** What a failed test left behind. */
async function removeLoadBalancers(cloud: Cloud, prefix: string): Promise<void> {
  const { loadBalancing, network } = cloud;
  const left = (await loadBalancing.loadBalancers.all()).filter((lb) => lb.name.includes(prefix));
  const isSettled = (lb: LoadBalancer | undefined) => lb === undefined || !lb.provisioning_status.startsWith("PENDING");
  for (const lb of left) {
    await settle(() => loadBalancing.loadBalancers.find(lb.id), isSettled);
    await loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
    await settle(() => loadBalancing.loadBalancers.find(lb.id), isSettled);
  }
  for (const ip of await network.floatingIps.all())
    if (ip.description.includes(prefix)) await network.floatingIps.delete(ip.id);
}

async function settle<T>(look: () => Promise<T>, done: (found: T) => boolean): Promise<T> {
  for (let i = 0; ; i++) {
    const found = await look();
    if (done(found) || i > 300) return found;
    await systemClock.sleep(i < 50 ? 20 : 200);
  }
}
