import type { Network, Subnet } from "@causeway/openstack";

/**
 * Where a floating IP comes from when no network is named: the first external network that has a subnet of IPv4. One
 * whose subnets are not shown to the project counts, too. `subnetsOf` are those that are shown.
 */
export function firstExternalNetwork(
  networks: readonly Network[],
  subnetsOf: (network: Network) => readonly Subnet[],
): Network | undefined {
  return networks.find((network) => {
    if (!network["router:external"]) return false;
    const shown = subnetsOf(network);
    return network.subnets.some((id) => shown.find((subnet) => subnet.id === id)?.ip_version !== 6);
  });
}
