import { createSocket } from "node:dgram";
import { CausewayError } from "@causeway/foundation";
import type { Cloud } from "@causeway/openstack";

/**
 * The address of this host that machines of the cloud can reach: the one from which this host reaches the
 * gateway of the cloud's external network. No packet is sent for it.
 * @throws ADVERTISE_ADDRESS_UNKNOWN when there is no external network with an IPv4 gateway, or no route to it.
 */
export async function advertiseAddress(cloud: Cloud, signal: AbortSignal): Promise<string> {
  for (const network of await cloud.network.networks.all({ "router:external": true }, { signal })) {
    for (const subnet of await cloud.network.subnets.all({ network_id: network.id, ip_version: 4 }, { signal })) {
      if (subnet.gateway_ip === null) continue;
      const address = await sourceAddressTowards(subnet.gateway_ip);
      if (address !== undefined) return address;
    }
  }
  throw new CausewayError(
    "ADVERTISE_ADDRESS_UNKNOWN",
    "the address at which machines of the cloud reach this host could not be found",
    {
      hint: "Say it with --advertise-address ADDRESS.",
    },
  );
}

function sourceAddressTowards(target: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const end = (address: string | undefined) => {
      socket.close();
      resolve(address);
    };
    socket.once("error", () => end(undefined));
    socket.connect(9, target, () => end(socket.address().address));
  });
}
