// Creates a network with a subnet, and never a second one: after a lost response it searches by name before it repeats
// the call.
import { connectCloud, isQuotaExceeded, loadCloudsYaml } from "@causeway/openstack";

const cloud = connectCloud(loadCloudsYaml({ cloud: process.env["OS_CLOUD"] }));
const { networks, subnets } = cloud.network;
const name = process.argv[2] ?? "example";
try {
  const find = async () => (await networks.all({ name }))[0];
  const network = (await find()) ?? (await networks.create({ name }, { recover: find }));
  if (network.subnets.length === 0) {
    const subnet = { network_id: network.id, name, ip_version: 4 as const, cidr: "10.20.0.0/24" };
    const recover = async () => (await subnets.all({ network_id: network.id }))[0];
    await subnets.create(subnet, { recover });
  }
  console.log(network.id);
} catch (error) {
  if (isQuotaExceeded(error)) console.error("the project's quota of networks is used up");
  throw error;
} finally {
  await cloud.close();
}
