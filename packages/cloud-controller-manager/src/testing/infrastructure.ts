import { systemClock } from "@causeway/foundation";
import type { Cloud, LoadBalancer, Server, Subnet } from "@causeway/openstack";

/** What a cluster's nodes need: a network with a way out, and servers. */
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

/** Milliseconds that a cloud has for each thing it makes or takes away: one that is busy may need minutes. */
const TIMEOUT = 900_000;

/** Made by plain calls, next to the controller that is tested. What was made is deleted when the rest fails. */
export async function makeInfrastructure(cloud: Cloud, options: InfrastructureOptions): Promise<Infrastructure> {
  const undo: (() => Promise<unknown>)[] = [];
  const takeBack = async () => {
    await removeLoadBalancers(cloud, options.prefix);
    for (const task of undo) await task();
  };
  try {
    return { ...(await make(cloud, options, undo)), remove: takeBack };
  } catch (error) {
    await takeBack();
    throw error;
  }
}

/** `undo` gets what takes each thing back, the last one first. */
async function make(
  cloud: Cloud,
  options: InfrastructureOptions,
  undo: (() => Promise<unknown>)[],
): Promise<Omit<Infrastructure, "remove">> {
  const { prefix } = options;
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
  const ids: string[] = [];
  undo.unshift(() => Promise.all(ids.map((id) => removeServer(cloud, id))));
  for (let i = 0; i < options.servers; i++) ids.push(await makeServer(cloud, `${prefix}-node-${i}`, network.id));
  const servers = await Promise.all(ids.map((id) => active(cloud, id)));
  return { subnet, routerId: router.id, servers };
}

async function makeServer(cloud: Cloud, name: string, network: string): Promise<string> {
  const flavors = await cloud.compute.flavors.all();
  // Others may make flavors of their own, and take them away.
  const flavor = flavors.find((one) => one.name === "m1.tiny") ?? flavors[0];
  const [image] = await cloud.image.images.all({ name: "cirros" });
  const made = await cloud.compute.servers.create({
    name,
    flavorRef: flavor?.id ?? "",
    imageRef: image?.id ?? "",
    networks: [{ uuid: network }],
  });
  return made.id;
}

async function active(cloud: Cloud, id: string): Promise<Server> {
  const found = await settle(
    () => cloud.compute.servers.find(id),
    (server) => server?.status !== "BUILD",
  );
  if (found?.status !== "ACTIVE") throw new Error(`server ${id} did not become ACTIVE, but ${found?.status ?? "went"}`);
  return found;
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

async function settle<T>(check: () => Promise<T>, done: (found: T) => boolean): Promise<T> {
  const end = Date.now() + TIMEOUT;
  for (let i = 0; ; i++) {
    const found = await check();
    if (done(found)) return found;
    if (Date.now() > end) throw new Error("waited too long for the cloud to make or take away what was requested");
    await systemClock.sleep(i < 50 ? 20 : 200);
  }
}
