// Continues while its credentials are rotated: it reads them again when a token expires, or a token or certificate is
// refused.
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";

const read = () => loadCloudsYaml({ cloud: process.env["OS_CLOUD"] });
const cloud = connectCloud(read(), { reload: read });
try {
  console.log(`${cloud.name}: ${(await cloud.network.networks.all()).length} networks`);
} finally {
  await cloud.close();
}
