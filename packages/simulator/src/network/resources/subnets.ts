import type { Caller } from "../../kernel/interface.ts";
import { isObject } from "../../kernel/json.ts";
import {
  address,
  bool,
  common,
  integer,
  list,
  listOf,
  oneOf,
  orNull,
  routes,
  shown,
  text,
  uuid,
  type InputOf,
} from "../kit/attributes.ts";
import { contains, formatCidr, formatIp, overlaps, parseCidr, parseIp, type Cidr } from "../rules/addresses.ts";
import type { Collection } from "../kit/collection.ts";
import { conflict, invalidInput, invalidValue, networkNotFound, neutronError, subnetNotFound } from "../errors.ts";
import { addMetadataAddress, addressFields, dropMetadataAddress } from "../rules/port-rows.ts";
import { opened } from "./rbac.ts";
import { allocate } from "./subnet-pools.ts";
import { born, defined, touched, type NetworkState, type Pool, type Subnet } from "../model.ts";

const modes = oneOf("slaac", "dhcpv6-stateful", "dhcpv6-stateless");

const attributes = {
  ...common,
  network_id: { read: uuid, required: true, put: false },
  ip_version: { read: integer, required: true, put: false },
  cidr: { read: cidrText, put: false, filter: cidrText },
  gateway_ip: { read: orNull(address) },
  allocation_pools: { read: pools, filter: false },
  enable_dhcp: { read: bool },
  dns_nameservers: { read: nameservers, filter: false },
  host_routes: { read: routes, filter: false },
  ipv6_ra_mode: { read: orNull(modes), put: false },
  ipv6_address_mode: { read: orNull(modes), put: false },
  service_types: { read: listOf(text) },
  subnetpool_id: { read: orNull(text), put: false },
  prefixlen: { read: integer, put: false },
  use_default_subnetpool: { read: bool, put: false },
  segment_id: { read: orNull(text), admin: true },
  dns_publish_fixed_ip: { read: bool },
} as const;
type Attributes = typeof attributes;
type Input = InputOf<Attributes>;

/** `publishes`: the cloud has the extension subnet-dns-publish-fixed-ip. */
export function subnetCollection(
  state: NetworkState,
  { publishes }: { readonly publishes: boolean },
): Collection<Subnet, Attributes> {
  const { dns_publish_fixed_ip: _publish, ...others } = attributes;
  return {
    singular: "subnet",
    plural: "subnets",
    // Without the extension the attribute is unknown.
    attributes: publishes ? attributes : (others as Attributes),
    table: state.subnets,
    indexes: ["network_id", "name", "project_id"],
    filters: ["shared"],
    quota: "subnet",
    notFound: subnetNotFound,
    sees: (caller, row) => seesSubnet(state, caller, row),
    view: ({ segment_id: segment, dns_publish_fixed_ip: publish, ...row }, caller) => ({
      ...row,
      tenant_id: row.project_id,
      subnetpool_id: row.subnetpool_id ?? null,
      ...(publishes ? { dns_publish_fixed_ip: publish ?? false } : {}),
      ...(caller.isAdmin ? { segment_id: segment ?? null } : {}),
    }),
    create: (caller, projectId, input) => createSubnet(state, { caller, projectId }, input),
    update: (_, row, change) => update(state, row, change),
    remove: (_, row) => {
      const all = state.ports.by("subnet_ids", row.id).filter((port) => port.device_owner !== "network:distributed");
      // Addresses that hosts gave themselves go with their subnet.
      const own = isAutomatic(row) ? all.filter((port) => !port.device_owner.startsWith("network:")) : [];
      const used = all.filter((port) => !own.includes(port));
      if (used.length > 0) {
        const why = "One or more ports have an IP allocation from this subnet.";
        throw conflict("SubnetInUse", `Unable to complete operation on subnet ${row.id}: ${why}`);
      }
      for (const port of own) {
        const left = port.fixed_ips.filter((ip) => ip.subnet_id !== row.id);
        state.ports.update(port.id, { ...addressFields(left), ...touched(state.kernel, port) });
      }
      deleteSubnet(state, row);
      const network = state.networks.get(row.network_id);
      if (network) state.networks.update(network.id, touched(state.kernel, network));
    },
  };
}

/** True for own subnets, and those of networks that are shared with the project. */
export function seesSubnet(state: NetworkState, caller: Caller, row: Subnet): boolean {
  return caller.isAdmin || row.project_id === caller.projectId || sharedNetwork(state, caller, row.network_id);
}

function sharedNetwork(state: NetworkState, caller: Caller, networkId: string): boolean {
  return state.networks.get(networkId)?.shared === true || opened(state, caller, networkId);
}

/** True if hosts of the subnet make their own addresses (SLAAC). */
const isAutomatic = (row: Subnet): boolean =>
  row.ipv6_address_mode === "slaac" || row.ipv6_address_mode === "dhcpv6-stateless";

/** Forgets a subnet and the metadata port's address in it; callers check for other ports first. */
export function deleteSubnet(state: NetworkState, row: Subnet): void {
  dropMetadataAddress(state, row);
  state.subnets.remove(row.id);
  state.cursors.delete(row.id);
}

/** Makes a subnet as POST /subnets does. */
export function createSubnet(
  state: NetworkState,
  { caller, projectId }: { caller: Caller; projectId: string },
  input: Input,
): Subnet {
  const network = state.networks.get(input.network_id ?? "");
  if (!network || (!caller.isAdmin && network.project_id !== caller.projectId)) {
    throw networkNotFound(input.network_id ?? "");
  }
  const poolId = poolOf(state, input);
  const cidr = poolId === null ? readCidr(input) : pooledCidr(state, { caller, projectId, poolId }, input);
  checkModes(input, cidr);
  checkOverlap(state, network.id, cidr);
  const gateway = input.gateway_ip === undefined ? defaultGateway(cidr, poolId !== null) : canonical(input.gateway_ip);
  const allocationPools = input.allocation_pools ?? wholePools(cidr, gateway);
  checkPools(cidr, allocationPools);
  checkGateway(gateway, allocationPools);
  const subnet = state.subnets.insert({
    ...born(state.kernel, projectId, input),
    revision_number: input.service_types?.length ? 1 : 0,
    network_id: network.id,
    ip_version: cidr.version,
    cidr: formatCidr(cidr),
    gateway_ip: gateway,
    allocation_pools: allocationPools,
    enable_dhcp: input.enable_dhcp ?? true,
    dns_nameservers: input.dns_nameservers ?? [],
    host_routes: input.host_routes ?? [],
    ipv6_ra_mode: input.ipv6_ra_mode ?? null,
    ipv6_address_mode: input.ipv6_address_mode ?? null,
    service_types: input.service_types ?? [],
    subnetpool_id: poolId,
    segment_id: input.segment_id ?? null,
    dns_publish_fixed_ip: input.dns_publish_fixed_ip ?? false,
  });
  checkSegment(state, subnet);
  if (subnet.enable_dhcp) addMetadataAddress(state, subnet);
  state.networks.update(network.id, touched(state.kernel, network));
  return subnet;
}

function update(state: NetworkState, row: Subnet, change: Input): Subnet {
  const cidr = parseCidr(row.cidr);
  const gateway = change.gateway_ip === undefined ? row.gateway_ip : canonical(change.gateway_ip);
  const allocationPools = change.allocation_pools ?? row.allocation_pools;
  if (cidr) checkPools(cidr, allocationPools);
  checkGateway(gateway, allocationPools);
  const {
    project_id: _,
    subnetpool_id: _pool,
    prefixlen: _length,
    ip_version: _version,
    use_default_subnetpool: _default,
    ...rest
  } = defined(change);
  if (rest.segment_id !== undefined && rest.segment_id !== (row.segment_id ?? null)) checkMove(state, row);
  const made = state.subnets.update(row.id, { ...rest, gateway_ip: gateway, ...touched(state.kernel, row) });
  checkSegment(state, made);
  return made;
}

/** 400 unless all subnets of the network are on segments of it, or none is. */
function checkSegment(state: NetworkState, { network_id: networkId, segment_id: id }: Subnet): void {
  const used = new Set(state.subnets.by("network_id", networkId).map((subnet) => subnet.segment_id ?? null));
  if (used.has(null) && used.size > 1) {
    const why = `All of the subnets on network '${networkId}' must either all be associated with segments or all not associated with any segment.`;
    throw neutronError(400, "SubnetsNotAllAssociatedWithSegments", why);
  }
  if (id === null || id === undefined) return;
  const segment = state.segments.get(id);
  if (!segment) throw neutronError(404, "SegmentNotFound", `Segment ${id} could not be found.`);
  if (segment.network_id === networkId) return;
  const why = `The subnet's network id, '${networkId}', doesn't match the network_id of segment '${id}'`;
  throw neutronError(400, "NetworkIdsDontMatch", why);
}

/** A subnet gets a segment later only as the only one of a network of one segment. */
function checkMove(state: NetworkState, { network_id: networkId, segment_id: has }: Subnet): void {
  if (state.subnets.by("network_id", networkId).length > 1) {
    const why = `All of the subnets on network '${networkId}' must either all be associated with segments or all not associated with any segment.`;
    throw neutronError(400, "SubnetsNotAllAssociatedWithSegments", why);
  }
  if (has !== null && has !== undefined) {
    const why = "A subnet that is already associated with a segment cannot have its segment association changed.";
    throw neutronError(400, "SubnetSegmentAssociationChangeNotAllowed", why);
  }
  if (state.segments.by("network_id", networkId).length < 2) return;
  const why = `The network '${networkId}' has multiple segments, it is only possible to associate an existing subnet with a segment on networks with a single segment.`;
  throw neutronError(400, "NoUpdateSubnetWhenMultipleSegmentsOnNetwork", why);
}

/** The pool that a subnet is to come from; null if it says its own range. */
function poolOf(state: NetworkState, input: Input): string | null {
  if (input.use_default_subnetpool !== true) return input.subnetpool_id ?? null;
  const pool = state.subnetPools.all().find((row) => row.is_default && row.ip_version === input.ip_version);
  if (pool) return pool.id;
  throw neutronError(400, "BadRequest", `Bad subnets request: No default subnetpool found for IPv${input.ip_version}.`);
}

interface FromPool {
  readonly caller: Caller;
  readonly projectId: string;
  readonly poolId: string;
}

function pooledCidr(state: NetworkState, from: FromPool, input: Input): Cidr {
  return allocate(state, { ...from, prefixlen: input.prefixlen, cidr: input.cidr });
}

/** 400 unless the two IPv6 modes fit each other and the prefix. */
function checkModes(input: Input, cidr: Cidr): void {
  const [ra, addressing] = [input.ipv6_ra_mode ?? null, input.ipv6_address_mode ?? null];
  if (ra === null && addressing === null) return;
  if (cidr.version === 4) {
    const field = ra === null ? "ipv6_address_mode" : "ipv6_ra_mode";
    throw invalidInput(`${field} is not valid when ip_version is 4.`);
  }
  if (input.enable_dhcp === false) {
    throw invalidInput("ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False.");
  }
  if (ra !== null && addressing !== null && ra !== addressing) {
    const what = `ipv6_ra_mode set to '${ra}' with ipv6_address_mode set to '${addressing}' is not valid.`;
    throw invalidInput(`${what} If both attributes are set, they must be the same value.`);
  }
  if (addressing === null || addressing === "dhcpv6-stateful" || cidr.length === 64) return;
  const what = `Invalid CIDR ${formatCidr(cidr)} for IPv6 address mode.`;
  throw invalidInput(`${what} OpenStack uses the EUI-64 address format, which requires the prefix to be /64.`);
}

function checkOverlap(state: NetworkState, networkId: string, cidr: Cidr): void {
  for (const other of state.subnets.by("network_id", networkId)) {
    const taken = parseCidr(other.cidr);
    if (taken && overlaps(taken, cidr)) {
      const what = `Requested subnet with cidr: ${formatCidr(cidr)} for network: ${networkId}`;
      throw invalidInput(`${what} overlaps with another subnet.`);
    }
  }
}

/** The first host address; of an IPv6 subnet that is not from a pool its own base address, as Neutron takes it. */
function defaultGateway(cidr: Cidr, pooled: boolean): string {
  return formatIp({ ...cidr, value: cidr.version === 6 && !pooled ? cidr.base : cidr.base + 1n });
}

function readCidr(input: Input): Cidr {
  if (input.cidr === undefined) {
    const why = "Bad subnets request: a subnetpool must be specified in the absence of a cidr.";
    throw neutronError(400, "BadRequest", why);
  }
  const cidr = parseCidr(input.cidr);
  if (!cidr) throw invalidInput(`${input.cidr} is not in a CIDR format.`);
  const version = input.ip_version;
  if (version !== 4 && version !== 6) throw invalidValue("ip_version", `${version} is not in valid_values.`);
  if (cidr.version !== version) throw invalidInput(`cidr '${input.cidr}' does not match the ip_version '${version}'.`);
  return cidr;
}

/**
 * Everything but the network, broadcast and gateway addresses; of a subnet of one address, or two of IPv4, all of it.
 */
function wholePools(cidr: Cidr, gateway: string | null): readonly Pool[] {
  const { version } = cidr;
  const isTiny = cidr.base === cidr.last || (version === 4 && cidr.last - cidr.base === 1n);
  const [from, to] = isTiny ? [cidr.base, cidr.last] : [cidr.base + 1n, version === 4 ? cidr.last - 1n : cidr.last];
  if (cidr.base === cidr.last)
    return [{ start: formatIp({ version, value: from }), end: formatIp({ version, value: to }) }];
  const ip = gateway === null ? undefined : parseIp(gateway);
  const pool = (start: bigint, end: bigint): Pool[] =>
    start > end ? [] : [{ start: formatIp({ version, value: start }), end: formatIp({ version, value: end }) }];
  if (!ip || ip.value < from || ip.value > to) return pool(from, to);
  return [...pool(ip.value + 1n, to), ...pool(from, ip.value - 1n)];
}

function checkPools(cidr: Cidr, given: readonly Pool[]): void {
  const ranges = given.map((pool) => {
    const [start, end] = [parseIp(pool.start), parseIp(pool.end)];
    if (!start || !end || start.value > end.value) {
      throw neutronError(400, "InvalidAllocationPool", `The allocation pool ${shown(pool)} is not valid.`);
    }
    if (!contains(cidr, start) || !contains(cidr, end)) {
      const why = `The allocation pool ${pool.start}-${pool.end} spans beyond the subnet cidr ${formatCidr(cidr)}.`;
      throw neutronError(400, "OutOfBoundsAllocationPool", why);
    }
    return { pool: `${pool.start}-${pool.end}`, from: start.value, to: end.value };
  });
  for (const [i, a] of ranges.entries()) {
    for (const b of ranges.slice(i + 1)) {
      if (a.from > b.to || b.from > a.to) continue;
      const why = `Found overlapping allocation pools: ${a.pool} ${b.pool} for subnet ${formatCidr(cidr)}.`;
      throw conflict("OverlappingAllocationPools", why);
    }
  }
}

function checkGateway(gateway: string | null, given: readonly Pool[]): void {
  const ip = gateway === null ? undefined : parseIp(gateway);
  if (!ip) return;
  for (const { start, end } of given) {
    const [from, to] = [parseIp(start), parseIp(end)];
    if (!from || !to || from.version !== ip.version || ip.value < from.value || ip.value > to.value) continue;
    const why = `Gateway ip ${gateway} conflicts with allocation pool ${start}-${end}.`;
    throw conflict("GatewayConflictWithAllocationPools", why);
  }
}

function canonical(ip: string | null): string | null {
  const parsed = ip === null ? undefined : parseIp(ip);
  return parsed ? formatIp(parsed) : null;
}

function cidrText(value: unknown): string {
  if (typeof value === "string" && value.includes("/") && parseCidr(value)) return value;
  throw invalidInput(`${shown(value)} is not in a CIDR format.`);
}

function pools(value: unknown, field: string): readonly Pool[] {
  return list(value, field).map((entry) => {
    if (!isObject(entry) || typeof entry["start"] !== "string" || typeof entry["end"] !== "string") {
      throw invalidValue(field, `Data validation error: '${shown(entry)}' is not a valid pool.`);
    }
    return { start: address(entry["start"], field), end: address(entry["end"], field) };
  });
}

function nameservers(value: unknown, field: string): readonly string[] {
  const seen = new Set<string>();
  for (const server of list(value ?? [], field)) {
    if (typeof server !== "string" || !parseIp(server)) {
      const word = shown(server);
      throw invalidValue(field, `'${word}' is not a valid nameserver. '${word}' is not a valid IP address.`);
    }
    if (seen.has(server)) throw invalidValue(field, `Duplicate nameserver '${server}'.`);
    seen.add(server);
  }
  return [...seen];
}
