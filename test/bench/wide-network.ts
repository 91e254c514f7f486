/** More addresses for the floating IPs and routers of the simulated cloud, for benchmarks of many clusters. */
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";

const WIDE = { ip_version: 4, cidr: "172.28.0.0/18", enable_dhcp: false } as const;

/**
 * The simulated cloud's network of floating IPs has 241 addresses: 16,000 more, for a thousand clusters and their
 * routers. `cloudsYaml` is the simulator's own.
 */
export async function widenPublicNetwork(cloudsYaml: string, userAgent = "bench"): Promise<void> {
  const admin = connectCloud(loadCloudsYaml({ text: cloudsYaml, cloud: "simulator-admin" }), { userAgent });
  try {
    const external = (await admin.network.networks.all({ name: "public" }))[0];
    await admin.network.subnets.create({ name: "public-wide", network_id: external?.id ?? "", ...WIDE });
  } finally {
    await admin.close();
  }
}
