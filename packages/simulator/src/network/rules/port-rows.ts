import { contains, formatIp, parseCidr, parseIp, slaacAddress } from "./addresses.ts";
import { nextFree } from "./allocation.ts";
import { conflict, invalidInput, neutronError, subnetNotFound } from "../errors.ts";
import { born, touched, type FixedIp, type Network, type NetworkState, type Port, type Subnet } from "../model.ts";

/** The fields of a row that follow from its addresses. */
export function addressFields(given: readonly FixedIp[]) {
  const fixedIps = given.toSorted(
    (a, b) => compareText(a.ip_address, b.ip_address) || compareText(a.subnet_id, b.subnet_id),
  );
  return {
    fixed_ips: fixedIps,
    allocations: fixedIps.map((ip) => allocationKey(ip.subnet_id, ip.ip_address)),
    addresses: fixedIps.map((ip) => ip.ip_address),
    subnet_ids: [...new Set(fixedIps.map((ip) => ip.subnet_id))],
  };
}

/** Neutron's query orders a port's addresses as texts. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const allocationKey = (subnetId: string, ip: string): string => `${subnetId}|${ip}`;

/** True if a port has this address of the subnet. */
export function isTaken(state: NetworkState, subnetId: string, ip: string): boolean {
  return state.ports.by("allocations", allocationKey(subnetId, ip)).length > 0;
}

/** Inserts a port; fields that are not given have their defaults. Checks and addresses are the caller's. */
export function insertPort(state: NetworkState, given: Partial<Port> & Pick<Port, "project_id" | "network_id">): Port {
  return state.ports.insert({
    mac_address: freeMac(state, given.network_id),
    admin_state_up: true,
    status: "DOWN",
    device_id: "",
    device_owner: "",
    security_groups: [],
    allowed_address_pairs: [],
    port_security_enabled: false,
    extra_dhcp_opts: [],
    dns_name: "",
    "binding:vnic_type": "normal",
    "binding:profile": {},
    "binding:host_id": "",
    ...addressFields(given.fixed_ips ?? []),
    ...born(state.kernel, given.project_id, {}),
    ...given,
  });
}

/** A MAC of OpenStack's range that no port of the network has. */
export function freeMac(state: NetworkState, networkId: string): string {
  for (;;) {
    const hex = state.kernel.newId().replaceAll("-", "").slice(-6);
    const mac = `fa:16:3e:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`;
    if (!macTaken(state, networkId, mac)) return mac;
  }
}

/** True if a port of the network has this MAC address. */
export function macTaken(state: NetworkState, networkId: string, mac: string): boolean {
  return state.ports.by("mac_address", mac).some((port) => port.network_id === networkId);
}

/** Where addresses are wanted. */
export interface AddressWish {
  readonly networkId: string;
  readonly mac: string;
  /** Addresses the port has and may keep. */
  readonly kept?: readonly FixedIp[];
  readonly deviceOwner: string;
}

/** Addresses for a port that names none: one of each version, and one of each SLAAC subnet. */
export function defaultAddresses(state: NetworkState, wish: AddressWish): readonly FixedIp[] {
  const subnets = state.subnets.by("network_id", wish.networkId).filter((subnet) => serves(subnet, wish.deviceOwner));
  const out: FixedIp[] = [];
  for (const version of [4, 6] as const) {
    const plain = subnets.filter((subnet) => subnet.ip_version === version && !isSlaac(subnet));
    const ip = firstFree(state, plain);
    if (plain.length > 0 && !ip) throw exhausted(wish.networkId);
    if (ip) out.push(ip);
  }
  for (const subnet of subnets) if (isSlaac(subnet)) out.push(slaacOf(subnet, wish.mac));
  return out;
}

/** The addresses that `fixed_ips` requests; 400, 404 or 409 as in Neutron. */
export function askedAddresses(
  state: NetworkState,
  asked: readonly { readonly subnet_id?: string | undefined; readonly ip_address?: string | undefined }[],
  wish: AddressWish,
): readonly FixedIp[] {
  const out: FixedIp[] = [];
  for (const { subnet_id: subnetId, ip_address: ip } of asked) {
    if (subnetId === undefined && ip === undefined) {
      throw invalidInput("IP allocation requires subnet_id or ip_address.");
    }
    const subnet =
      subnetId === undefined ? subnetHolding(state, wish.networkId, ip ?? "") : subnetOf(state, subnetId, wish);
    out.push(ip === undefined ? freeIn(state, subnet, { wish, out }) : wantedIn(state, subnet, { ip, wish, out }));
  }
  return out;
}

interface SoFar {
  readonly wish: AddressWish;
  readonly out: readonly FixedIp[];
}

function freeIn(state: NetworkState, subnet: Subnet, { wish, out }: SoFar): FixedIp {
  if (isSlaac(subnet)) return slaacOf(subnet, wish.mac);
  const keeps = wish.kept?.find((ip) => ip.subnet_id === subnet.id && !out.some((o) => o.ip_address === ip.ip_address));
  const ip = keeps ?? firstFree(state, [subnet], new Set(out.map((o) => o.ip_address)));
  if (!ip) throw exhausted(wish.networkId);
  return ip;
}

function wantedIn(state: NetworkState, subnet: Subnet, { ip: wanted, wish, out }: SoFar & { ip: string }): FixedIp {
  const [cidr, ip] = [parseCidr(subnet.cidr), parseIp(wanted)];
  const host =
    cidr && ip && contains(cidr, ip) && (cidr.version === 6 || (ip.value !== cidr.base && ip.value !== cidr.last));
  if (!host) {
    const why = `IP address ${wanted} is not a valid IP for the specified subnet.`;
    throw neutronError(400, "InvalidIpForSubnet", why);
  }
  const address = formatIp(ip);
  const kept = wish.kept?.some((old) => old.subnet_id === subnet.id && old.ip_address === address);
  if ((!kept && isTaken(state, subnet.id, address)) || out.some((o) => o.ip_address === address)) {
    throw conflict("IpAddressAlreadyAllocated", `IP address ${address} already allocated in subnet ${subnet.id}`);
  }
  return { subnet_id: subnet.id, ip_address: address };
}

function subnetOf(state: NetworkState, subnetId: string, { networkId }: AddressWish): Subnet {
  const subnet = state.subnets.get(subnetId);
  if (!subnet) throw subnetNotFound(subnetId);
  if (subnet.network_id === networkId) return subnet;
  throw invalidInput(
    `Failed to create port on network ${networkId}, because fixed_ips included invalid subnet ${subnetId}.`,
  );
}

function subnetHolding(state: NetworkState, networkId: string, wanted: string): Subnet {
  const ip = parseIp(wanted);
  for (const subnet of state.subnets.by("network_id", networkId)) {
    const cidr = parseCidr(subnet.cidr);
    if (ip && cidr && contains(cidr, ip)) return subnet;
  }
  const why = `IP address ${wanted} is not a valid IP for any of the subnets on the specified network.`;
  throw neutronError(400, "InvalidIpForNetwork", why);
}

const serves = (subnet: Subnet, owner: string): boolean =>
  subnet.service_types.length === 0 || subnet.service_types.some((type) => owner.startsWith(type));

const isSlaac = (subnet: Subnet): boolean =>
  subnet.ipv6_address_mode === "slaac" || subnet.ipv6_address_mode === "dhcpv6-stateless";

function slaacOf(subnet: Subnet, mac: string): FixedIp {
  const prefix = parseCidr(subnet.cidr);
  if (!prefix) throw invalidInput(`${subnet.cidr} is not in a CIDR format.`);
  return { subnet_id: subnet.id, ip_address: formatIp(slaacAddress(prefix, mac)) };
}

const exhausted = (networkId: string) =>
  conflict("IpAddressGenerationFailure", `No more IP addresses available on network ${networkId}.`);

/** Takes the next address of the first subnet that has one. */
export function firstFree(
  state: NetworkState,
  subnets: readonly Subnet[],
  not: ReadonlySet<string> = new Set(),
): FixedIp | undefined {
  for (const subnet of subnets) {
    const taken = (ip: string) => not.has(ip) || isTaken(state, subnet.id, ip);
    const ip = nextFree(subnet.allocation_pools, state.cursors.get(subnet.id), taken);
    if (!ip) continue;
    state.cursors.set(subnet.id, ip.value);
    return { subnet_id: subnet.id, ip_address: formatIp(ip) };
  }
  return undefined;
}

/** The port from which OVN serves DHCP and metadata; one per network. */
export function addMetadataPort(state: NetworkState, network: Network): void {
  insertPort(state, {
    project_id: network.project_id,
    network_id: network.id,
    device_id: `ovnmeta-${network.id}`,
    device_owner: "network:distributed",
  });
}

/** Gives the network's metadata port an address of the subnet, if that is IPv4 and has one left. */
export function addMetadataAddress(state: NetworkState, subnet: Subnet): void {
  const port = metadataPort(state, subnet.network_id);
  const ip = port && subnet.ip_version === 4 ? firstFree(state, [subnet]) : undefined;
  if (!port || !ip) return;
  state.ports.update(port.id, { ...addressFields([...port.fixed_ips, ip]), ...touched(state.kernel, port) });
}

/** Takes a subnet's addresses from the network's metadata port, before the subnet is deleted. */
export function dropMetadataAddress(state: NetworkState, subnet: Subnet): void {
  const port = metadataPort(state, subnet.network_id);
  if (!port?.subnet_ids.includes(subnet.id)) return;
  const left = port.fixed_ips.filter((ip) => ip.subnet_id !== subnet.id);
  state.ports.update(port.id, { ...addressFields(left), ...touched(state.kernel, port) });
}

function metadataPort(state: NetworkState, networkId: string): Port | undefined {
  return state.ports.by("device_id", `ovnmeta-${networkId}`)[0];
}

/** Deletes a port whatever owns it; floating IPs lose it. */
export function removePort(state: NetworkState, port: Port): void {
  for (const floating of state.floatingIps.by("port_id", port.id)) releaseFloatingIp(state, floating.id);
  for (const row of state.forwardings.by("internal_port_id", port.id)) state.forwardings.remove(row.id);
  state.ports.remove(port.id);
}

/** Takes a floating IP from its port; the agent that says DOWN follows. */
export function releaseFloatingIp(state: NetworkState, id: string): void {
  const floating = state.floatingIps.get(id);
  if (!floating) return;
  const free = { port_id: null, router_id: null, fixed_ip_address: null };
  state.floatingIps.update(id, { ...free, ...touched(state.kernel, floating) });
  state.kernel.timers.after(state.kernel.delay("floatingip.update"), "network.floatingip", id);
}
