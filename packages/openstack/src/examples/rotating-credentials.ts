// Works on while its credentials are rotated: they are read again when a token ends, is refused, or a certificate is.
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";

const read = () => loadCloudsYaml({ cloud: process.env["OS_CLOUD"] });
const cloud = connectCloud(read(), { reload: read });
try {
  console.log(`${cloud.name}: ${(await cloud.network.networks.all()).length} networks`);
} finally {
  await cloud.close();
}
