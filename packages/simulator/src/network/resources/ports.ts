import type { Caller } from "../../kernel/interface.ts";
import { formatIp, parseCidr, parseIp } from "../rules/addresses.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import {
  address,
  bool,
  common,
  list,
  listOf,
  mac,
  object,
  orNull,
  shown,
  text,
  uuid,
  type InputOf,
} from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { ensureDefaultGroup } from "../rules/default-group.ts";
import {
  badRequest,
  conflict,
  groupNotFound,
  invalidInput,
  networkNotFound,
  neutronError,
  portNotFound,
} from "../errors.ts";
import { seesNetwork, usableNetwork } from "./networks.ts";
import { checkQos } from "./qos.ts";
import { keptOptions, mergedOptions, readOptions } from "../rules/dhcp-options.ts";
import { opened } from "./rbac.ts";
import {
  addressFields,
  askedAddresses,
  defaultAddresses,
  freeMac,
  insertPort,
  macTaken,
  removePort,
  type AddressWish,
} from "../rules/port-rows.ts";
import { born, defined, touched, type AddressPair, type FixedIp, type NetworkState, type Port } from "../model.ts";

interface FixedIpWish {
  readonly subnet_id?: string | undefined;
  readonly ip_address?: string | undefined;
}
interface PairWish {
  readonly ip_address: string;
  readonly mac_address?: string | undefined;
}

const attributes = {
  ...common,
  network_id: { read: uuid, required: true, put: false },
  admin_state_up: { read: bool },
  mac_address: { read: mac },
  fixed_ips: { read: fixedIps },
  device_id: { read: text },
  device_owner: { read: text },
  security_groups: { read: (v: unknown, f: string) => (v === null ? [] : listOf(uuid)(v, f)) },
  allowed_address_pairs: { read: pairs, filter: false },
  port_security_enabled: { read: bool, filter: false },
  extra_dhcp_opts: { read: orNull(readOptions), filter: false },
  dns_name: { read: text },
  dns_domain: { read: text },
  qos_policy_id: { read: orNull(uuid) },
  "binding:vnic_type": { read: text, filter: false },
  "binding:profile": { read: profile, admin: true, filter: false },
  "binding:host_id": { read: orNull(text), admin: true },
  propagate_uplink_status: { read: bool },
} as const;
type Attributes = typeof attributes;
/** A port as a request gives it. */
export type PortInput = InputOf<Attributes>;

/** Ports. Visible to their project and to the network's owner. */
export function portCollection(state: NetworkState): Collection<Port, Attributes> {
  return {
    singular: "port",
    plural: "ports",
    attributes,
    table: state.ports,
    indexes: ["addresses", "device_id", "mac_address", "name", "network_id", "security_groups", "project_id"],
    filters: ["status", "ip_allocation"],
    special: { fixed_ips: hasFixedIp },
    quota: "port",
    notFound: portNotFound,
    sees: (caller, row) => seesPort(state, caller, row),
    owns: (caller, row) => seesPort(state, caller, row),
    prepare: (projectId) => ensureDefaultGroup(state, projectId),
    view: (row, caller) => portView(state, row, caller),
    create: (caller, projectId, input) => createPort(state, { caller, projectId }, input),
    update: (caller, row, change) => updatePort(state, { caller, row }, change),
    remove: (_, row) => {
      checkDeletable(state, row);
      removePort(state, row);
    },
  };
}

function seesPort(state: NetworkState, caller: Caller, row: Port): boolean {
  if (caller.isAdmin || row.project_id === caller.projectId) return true;
  return state.networks.get(row.network_id)?.project_id === caller.projectId;
}

/** Makes a port as POST /ports does. */
export function createPort(
  state: NetworkState,
  { caller, projectId }: { caller: Caller; projectId: string },
  input: PortInput,
): Port {
  const network = state.networks.get(input.network_id ?? "");
  if (!network || !seesNetwork(state, caller, network)) throw networkNotFound(input.network_id ?? "");
  if (!caller.isAdmin && network.project_id !== caller.projectId && !usableNetwork(state, caller, network)) {
    throw neutronError(403, "HTTPForbidden", `Tenant ${projectId} not allowed to create port on this network`);
  }
  if (input.mac_address !== undefined) checkMac(state, network.id, input.mac_address);
  const macAddress = input.mac_address ?? freeMac(state, network.id);
  const owner = input.device_owner ?? "";
  const secured = owner.startsWith("network:") ? false : (input.port_security_enabled ?? network.port_security_enabled);
  const groups = input.security_groups ?? (secured ? [ensureDefaultGroup(state, projectId).id] : []);
  const pairList = completePairs(input.allowed_address_pairs ?? [], macAddress);
  checkSecurity(state, caller, { secured, groups, pairs: pairList, projectId });
  const wish: AddressWish = { networkId: network.id, mac: macAddress, deviceOwner: owner };
  const ips = input.fixed_ips ? askedAddresses(state, input.fixed_ips, wish) : defaultAddresses(state, wish);
  checkQos(state, caller, { policy: input.qos_policy_id, kind: "port", id: "" });
  return insertPort(state, {
    ip_allocation: input.fixed_ips?.length === 0 ? "none" : "immediate",
    qos_policy_id: input.qos_policy_id ?? null,
    ...born(state.kernel, projectId, input),
    network_id: network.id,
    mac_address: macAddress,
    ...plainFields(input),
    device_owner: owner,
    ...addressFields(ips),
    security_groups: groups,
    allowed_address_pairs: pairList,
    port_security_enabled: secured,
  });
}

/** None is given back as an empty one. */
function profile(value: unknown, field: string): JsonObject {
  return value === null ? {} : object(value, field);
}

/** Attributes that nothing else follows from. */
function plainFields(input: PortInput) {
  return {
    admin_state_up: input.admin_state_up ?? true,
    device_id: input.device_id ?? "",
    extra_dhcp_opts: keptOptions(input.extra_dhcp_opts ?? []),
    dns_name: input.dns_name ?? "",
    "binding:vnic_type": input["binding:vnic_type"] ?? "normal",
    "binding:profile": input["binding:profile"] ?? {},
    "binding:host_id": input["binding:host_id"] ?? "",
  };
}

function updatePort(state: NetworkState, { caller, row }: { caller: Caller; row: Port }, change: PortInput): Port {
  if (change.mac_address !== undefined && change.mac_address !== row.mac_address) {
    if (!caller.isAdmin) {
      throw neutronError(
        403,
        "PolicyNotAuthorized",
        "(rule:update_port and rule:update_port:mac_address) is disallowed by policy",
      );
    }
    checkMac(state, row.network_id, change.mac_address);
  }
  checkQos(state, caller, { policy: change.qos_policy_id, kind: "port", id: row.id });
  const secured = change.port_security_enabled ?? row.port_security_enabled;
  const groups = change.security_groups ?? row.security_groups;
  const macAddress = change.mac_address ?? row.mac_address;
  const pairList = change.allowed_address_pairs
    ? completePairs(change.allowed_address_pairs, macAddress)
    : row.allowed_address_pairs;
  if (!secured && change.security_groups === undefined && groups.length > 0) throw groupsOnInsecurePort();
  checkSecurity(state, caller, { secured, groups, pairs: pairList, projectId: row.project_id });
  const { fixed_ips: asked, project_id: _, dns_domain: _d, propagate_uplink_status: _p, ...rest } = defined(change);
  const wish = { networkId: row.network_id, mac: macAddress, kept: row.fixed_ips, deviceOwner: row.device_owner };
  const host = rest["binding:host_id"] === null ? { "binding:host_id": "" } : {};
  const { network_id: _n, extra_dhcp_opts: options, ...fields } = rest;
  const made = state.ports.update(row.id, {
    ...(fields as Partial<Port>),
    ...host,
    ...(options ? { extra_dhcp_opts: mergedOptions(row.extra_dhcp_opts, options) } : {}),
    ...(asked ? addressFields(askedAddresses(state, asked, wish)) : {}),
    security_groups: groups,
    allowed_address_pairs: pairList,
    ...touched(state.kernel, row),
  });
  return made;
}

/** 409 for ports that only their router or trunk may take away. */
function checkDeletable(state: NetworkState, row: Port): void {
  const owners = ["network:router_interface", "network:router_gateway", "network:floatingip"];
  if (owners.includes(row.device_owner) && row.device_id !== "") {
    const why = `Port ${row.id} cannot be deleted directly via the port API: has device owner ${row.device_owner}.`;
    throw conflict("ServicePortInUse", why);
  }
  const parent = state.trunks.by("port_id", row.id)[0];
  if (parent) {
    throw conflict("PortInUseAsTrunkParent", `Port ${row.id} is currently a parent port for trunk ${parent.id}.`);
  }
  const trunk = state.trunks.by("sub_port_ids", row.id)[0];
  if (trunk) throw conflict("PortInUseAsSubPort", `Port ${row.id} is currently a subport for trunk ${trunk.id}.`);
}

function checkMac(state: NetworkState, networkId: string, wanted: string): void {
  if (!macTaken(state, networkId, wanted)) return;
  const why = `Unable to complete operation for network ${networkId}. The mac address ${wanted} is in use.`;
  throw conflict("MacAddressInUse", why);
}

interface SecurityWish {
  readonly secured: boolean;
  readonly groups: readonly string[];
  readonly pairs: readonly AddressPair[];
  readonly projectId: string;
}

/** Port security of a port with security groups cannot be disabled until they are removed. */
const groupsOnInsecurePort = () =>
  conflict(
    "PortSecurityPortHasSecurityGroup",
    "Port has security group associated. Cannot disable port security or IP address until security group is removed.",
  );

function checkSecurity(
  state: NetworkState,
  caller: Caller,
  { secured, groups, pairs: asked, projectId }: SecurityWish,
): void {
  if (!secured && asked.length > 0) {
    const why = "Port Security must be enabled in order to have allowed address pairs on a port.";
    throw conflict("AddressPairAndPortSecurityRequired", why);
  }
  if (!secured && groups.length > 0) {
    const why = "Port security must be enabled and port must have an IP address in order to use security groups.";
    throw neutronError(400, "PortSecurityAndIPRequiredForSecurityGroups", why);
  }
  for (const id of groups) {
    const group = state.groups.get(id);
    const usable = caller.isAdmin || projectId === "" || group?.project_id === projectId;
    if (!group || !(usable || opened(state, { ...caller, projectId }, id))) throw groupNotFound(id);
  }
}

function completePairs(asked: readonly PairWish[], macAddress: string): readonly AddressPair[] {
  return asked.map((pair) => ({ mac_address: pair.mac_address ?? macAddress, ip_address: pair.ip_address }));
}

function fixedIps(value: unknown, field: string): readonly FixedIpWish[] {
  return list(value ?? [], field).map((entry) => {
    const { subnet_id: subnet, ip_address: ip } = object(entry, field);
    return {
      subnet_id: subnet === undefined ? undefined : uuid(subnet, field),
      ip_address: ip === undefined ? undefined : address(ip, field),
    };
  });
}

function pairs(value: unknown): readonly PairWish[] {
  const seen = new Set<string>();
  return list(value ?? [], "allowed_address_pairs").map((entry) => {
    const { ip_address: ip, mac_address: macAddress } = isObject(entry) ? entry : {};
    if (typeof ip !== "string" || !parseCidr(ip)) throw badRequest(`'${shown(ip)}' is not a valid IP address`);
    const made = { ip_address: ip, mac_address: macAddress === undefined ? undefined : mac(macAddress, "mac_address") };
    const key = `mac_address ${shown(made.mac_address)} ip_address ${ip}`;
    if (seen.has(key)) {
      const why = `Request contains duplicate address pair: ${key}.`;
      throw neutronError(400, "DuplicateAddressPairInRequest", why);
    }
    seen.add(key);
    return made;
  });
}

/** fixed_ips=ip_address=A, fixed_ips=subnet_id=S, fixed_ips=ip_address_substr=T: any of one key, all of the keys. */
function hasFixedIp(row: Port, values: readonly string[]): boolean {
  const asked = new Map<string, string[]>();
  for (const value of values) {
    const at = value.indexOf("=");
    if (at < 0) throw invalidInput(`'${value}' is not of the form <key>=[value].`);
    const key = value.slice(0, at);
    asked.set(key, [...(asked.get(key) ?? []), canonicalIp(value.slice(at + 1))]);
  }
  return [...asked].every(([key, wanted]) => matchesKey(row.fixed_ips, key, wanted));
}

function matchesKey(ips: readonly FixedIp[], key: string, wanted: readonly string[]): boolean {
  if (key === "ip_address") return ips.some((ip) => wanted.includes(ip.ip_address));
  if (key === "subnet_id") return ips.some((ip) => wanted.includes(ip.subnet_id));
  if (key === "ip_address_substr") return ips.some((ip) => wanted.some((part) => ip.ip_address.includes(part)));
  return true;
}

function canonicalIp(value: string): string {
  const ip = parseIp(value);
  return ip ? formatIp(ip) : value;
}

const domain = "simulator.example.";

/** Field by field, not by spreading a row: lists of many thousand ports are returned often. */
function portView(state: NetworkState, row: Port, caller: Caller): JsonObject {
  const trunk = state.trunks.by("port_id", row.id)[0];
  const view: Record<string, unknown> = {
    id: row.id,
    name: row.name,
    network_id: row.network_id,
    tenant_id: row.project_id,
    project_id: row.project_id,
    mac_address: row.mac_address,
    admin_state_up: row.admin_state_up,
    status: row.status,
    device_id: row.device_id,
    device_owner: row.device_owner,
    fixed_ips: row.fixed_ips,
    allowed_address_pairs: row.allowed_address_pairs,
    extra_dhcp_opts: row.extra_dhcp_opts,
    security_groups: row.security_groups,
    description: row.description,
    port_security_enabled: row.port_security_enabled,
    "binding:vnic_type": row["binding:vnic_type"],
    qos_policy_id: row.qos_policy_id ?? null,
    qos_network_policy_id: state.networks.get(row.network_id)?.qos_policy_id ?? null,
    dns_name: row.dns_name,
    dns_domain: "",
    dns_assignment: row.fixed_ips.map(({ ip_address: ip }) => {
      const hostname = row.dns_name || `host-${ip.replaceAll(/[.:]/g, "-")}`;
      return { ip_address: ip, hostname, fqdn: `${hostname}.${domain}` };
    }),
    ip_allocation: row.ip_allocation ?? (row.fixed_ips.length > 0 ? "immediate" : "none"),
    tags: row.tags,
    created_at: row.created_at,
    updated_at: row.updated_at,
    revision_number: row.revision_number,
  };
  if (trunk) view["trunk_details"] = trunkDetails(state, trunk.id);
  return caller.isAdmin ? { ...view, ...bindingOf(row) } : view;
}

/** The fields that only administrators see. */
function bindingOf(row: Port): JsonObject {
  const bound = row["binding:host_id"] !== "";
  return {
    "binding:profile": row["binding:profile"],
    "binding:host_id": row["binding:host_id"],
    "binding:vif_type": bound ? "ovs" : "unbound",
    "binding:vif_details": bound ? { port_filter: true, connectivity: "l2" } : {},
    resource_request: null,
  };
}

function trunkDetails(state: NetworkState, trunkId: string): JsonObject {
  const subPorts = state.trunks.get(trunkId)?.sub_ports ?? [];
  const withMac = subPorts.map((sub) => ({ ...sub, mac_address: state.ports.get(sub.port_id)?.mac_address ?? "" }));
  return { trunk_id: trunkId, sub_ports: withMac };
}
