/** What a migration may not change, as lines that can be compared. */
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { magnumRows } from "./devcloud.ts";
import type { Tickers } from "./tickers.ts";

/** What may not change before roll: servers and ports by id, pods by uid, their containers by their start. */
export async function vitalsOf(cloud: Cloud, tickers: Tickers): Promise<unknown> {
  const servers = await cloud.compute.servers.all();
  const ids = new Set(servers.map(({ id }) => id));
  const ports = (await cloud.network.ports.all({})).filter(({ device_id }) => ids.has(device_id));
  return {
    servers: servers.map(({ id, name }) => `${name} ${id}`).toSorted(),
    ports: ports.map(({ id, name, device_id }) => `${name} ${id} ${device_id}`).toSorted(),
    pods: await tickers.pods(),
  };
}

/** The floating IP of the API: its id, the port that it leads to, and that port's address. */
export async function floatingOf(cloud: Cloud, address: string): Promise<readonly string[]> {
  const found = await cloud.network.floatingIps.all({ floating_ip_address: address });
  return found.map(({ id, port_id, fixed_ip_address }) => `${id} ${port_id ?? ""} ${fixed_ip_address ?? ""}`);
}

/** Load balancers by id, VIP port and address. */
export async function balancersOf(cloud: Cloud): Promise<readonly string[]> {
  const all = await cloud.loadBalancing.loadBalancers.all({ project_id: await cloud.projectId() });
  return all.map(({ id, vip_port_id, vip_address }) => `${id} ${vip_port_id} ${vip_address}`).toSorted();
}

/** Security groups by name and id. */
export async function groupsOf(cloud: Cloud): Promise<readonly string[]> {
  const all = await cloud.network.securityGroups.all({ project_id: await cloud.projectId() });
  return all.map(({ id, name }) => `${name} ${id}`).toSorted();
}

export async function networkOf(cloud: Cloud): Promise<readonly string[]> {
  const project_id = await cloud.projectId();
  const { networks, subnets, routers } = cloud.network;
  const found = await Promise.all([
    networks.all({ project_id }),
    subnets.all({ project_id }),
    routers.all({ project_id }),
  ]);
  return found.flat().map(({ id, name }) => `${name} ${id}`);
}

/** What Magnum and Heat have of clusters: projects, users and trusts of all domains, and rows with keys. */
export async function residueOf(): Promise<readonly string[]> {
  const admin = connectCloud(loadCloudsYaml({ cloud: `${process.env["OS_CLOUD"] ?? "devcloud"}-admin` }));
  try {
    const { projects, users, trusts } = admin.identity;
    const named = [...(await projects.all()), ...(await users.all())].map(({ id, name }) => `${name} ${id}`);
    return [...named, ...(await trusts.all()).map(({ id }) => `trust ${id}`), ...(await magnumRows())].toSorted();
  } finally {
    await admin.close();
  }
}
