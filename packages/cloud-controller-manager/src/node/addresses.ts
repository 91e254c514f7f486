import { cidrContains, compareIps, parseCidr, parseIp } from "@causeway/foundation";
import type { NodeAddress } from "@causeway/kubernetes";
import type { Port, Server } from "@causeway/openstack";
import type { NetworkingConfig } from "../config/config.ts";

interface Sources {
  readonly server: Server;
  /** Ports of the server, in Neutron's order. */
  readonly ports: readonly Port[];
  /** Fixed addresses of subports of its trunks, with their networks' names. */
  readonly trunked?: readonly { readonly network: string; readonly address: string }[];
}

/**
 * The addresses of a server's node, in cloud-provider-openstack's order: fixed IPs of ACTIVE ports; accessIPv4 and
 * accessIPv6; the "hostname" of the metadata; what the server and its trunks have by network name, floating ones as
 * ExternalIP; without repeats, sorted by the configured CIDRs.
 */
export function nodeAddresses(sources: Sources, config: NetworkingConfig): NodeAddress[] {
  let addresses: NodeAddress[] = [
    ...portAddresses(sources.ports),
    ...accessAddresses(sources.server),
    ...hostNames(sources.server),
  ];
  const { trunked = [], server } = sources;
  for (const name of [...new Set([...Object.keys(server.addresses), ...trunked.map((t) => t.network)])].sort()) {
    const below = trunked.filter((t) => t.network === name).map(({ address }) => ({ addr: address }));
    addresses = addNetwork(addresses, { name, listed: [...(server.addresses[name] ?? []), ...below] }, config);
  }
  const wanted = config.ipv6Disabled ? addresses.filter((a) => !a.address.includes(":")) : addresses;
  return sorted(unique(wanted), config.addressSortOrder);
}

function portAddresses(ports: readonly Port[]): NodeAddress[] {
  return ports
    .filter((p) => p.status === "ACTIVE")
    .flatMap((p) => p.fixed_ips.map((ip): NodeAddress => ({ type: "InternalIP", address: ip.ip_address })));
}

function accessAddresses(server: Server): NodeAddress[] {
  const { accessIPv4, accessIPv6 } = server as { accessIPv4?: string; accessIPv6?: string };
  return [accessIPv4, accessIPv6]
    .filter((a): a is string => a !== undefined && a !== "")
    .map((address): NodeAddress => ({ type: "ExternalIP", address }));
}

function hostNames(server: Server): NodeAddress[] {
  const name = server.metadata["hostname"];
  return name === undefined || name === "" ? [] : [{ type: "Hostname", address: name }];
}

interface Listed {
  readonly name: string;
  readonly listed: readonly { readonly addr: string; readonly "OS-EXT-IPS:type"?: string }[];
}

/** A public network's addresses lose their internal twins; where internal networks are named, others give none. */
function addNetwork(before: NodeAddress[], network: Listed, config: NetworkingConfig): NodeAddress[] {
  let addresses = before;
  for (const { addr, "OS-EXT-IPS:type": type } of network.listed) {
    const internal = (a: NodeAddress) => a.type === "InternalIP" && a.address === addr;
    if (type === "floating") addresses = [...addresses, { type: "ExternalIP", address: addr }];
    else if (config.publicNetworks.includes(network.name))
      addresses = [...addresses.filter((a) => !internal(a)), { type: "ExternalIP", address: addr }];
    else if (config.internalNetworks.length > 0 && !config.internalNetworks.includes(network.name))
      addresses = addresses.filter((a) => !internal(a));
    else addresses = [...addresses, { type: "InternalIP", address: addr }];
  }
  return addresses;
}

function unique(addresses: readonly NodeAddress[]): NodeAddress[] {
  return [...new Map(addresses.map((a) => [`${a.type} ${a.address}`, a])).values()];
}

/** Addresses in the first CIDR first, ascending within one; those in none keep their order at the end. */
function sorted(addresses: readonly NodeAddress[], order: readonly string[]): NodeAddress[] {
  if (order.length === 0) return [...addresses];
  const cidrs = order.flatMap((text) => parseCidr(text) ?? []);
  const rank = (a: NodeAddress) => {
    const ip = parseIp(a.address);
    const at = ip === undefined ? -1 : cidrs.findIndex((cidr) => cidrContains(cidr, ip));
    return { at: at === -1 ? cidrs.length : at, ip };
  };
  const ranked = addresses.map((address, index) => ({ address, index, ...rank(address) }));
  ranked.sort(
    (a, b) => a.at - b.at || (a.at < cidrs.length && a.ip && b.ip ? compareIps(a.ip, b.ip) : 0) || a.index - b.index,
  );
  return ranked.map((r) => r.address);
}
