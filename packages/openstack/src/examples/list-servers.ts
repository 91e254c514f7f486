// Prints the project's servers with their addresses, page by page.
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";

const cloud = connectCloud(loadCloudsYaml({ cloud: process.env["OS_CLOUD"] }));
try {
  for await (const server of cloud.compute.servers.list()) {
    const addresses = Object.values(server.addresses).flat();
    console.log(server.name, server.status, addresses.map((address) => address.addr).join(" "));
  }
} finally {
  await cloud.close();
}
