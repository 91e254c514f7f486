import type { Caller } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { bool, common, integer, listOf, orNull, text, uuid, type InputOf } from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { conflict, invalidValue, networkNotFound } from "../errors.ts";
import { deleteSubnet } from "./subnets.ts";
import { addMetadataPort, removePort } from "../rules/port-rows.ts";
import { checkMtu, largestMtu, newSegments, segmentList } from "../rules/network-segments.ts";
import { firstSegment } from "./segments.ts";
import { type SegmentKind } from "../rules/segment-kinds.ts";
import { born, defined, touched, type Network, type NetworkState } from "../model.ts";
import { ensureDefaultGroup } from "../rules/default-group.ts";
import { checkQos } from "./qos.ts";
import { dropPolicies, opened, setOpen } from "./rbac.ts";
import { checkZoneHints } from "../rules/zones.ts";

const attributes = {
  ...common,
  admin_state_up: { read: bool },
  mtu: { read: notNegative, filter: integer },
  shared: { read: bool, admin: true },
  "router:external": { read: bool, admin: true },
  is_default: { read: bool, admin: true },
  port_security_enabled: { read: bool, filter: false },
  dns_domain: { read: text },
  qos_policy_id: { read: orNull(uuid) },
  availability_zone_hints: { read: listOf(text), put: false },
  "provider:network_type": { read: text, admin: true, put: false },
  "provider:physical_network": { read: orNull(text), admin: true, put: false },
  "provider:segmentation_id": { read: orNull(integer), admin: true, put: false, filter: integer },
  segments: { read: segmentList, admin: true, put: false, filter: false },
} as const;

/** A whole number from 0 on. */
function notNegative(value: unknown, field: string): number {
  const number = integer(value);
  if (number < 0) throw invalidValue(field, `'${number}' should be non-negative.`);
  return number;
}

type Attributes = typeof attributes;

/** True for own, shared and external networks, and those that an RBAC policy opens to the project. */
export const seesNetwork = (state: NetworkState, caller: Caller, row: Network): boolean =>
  caller.isAdmin ||
  row.project_id === caller.projectId ||
  row["router:external"] ||
  usableNetwork(state, caller, row) ||
  opened(state, caller, row.id, "access_as_external");

/** True if the caller's project may have ports on a network of another. */
export const usableNetwork = (state: NetworkState, caller: Caller, row: Network): boolean =>
  row.shared || opened(state, caller, row.id);

/** Networks. A network's name is not unique, also within a project. */
export function networkCollection(state: NetworkState): Collection<Network, Attributes> {
  return {
    singular: "network",
    plural: "networks",
    attributes,
    table: state.networks,
    indexes: ["name"],
    filters: ["status"],
    quota: "network",
    notFound: networkNotFound,
    sees: (caller, row) => seesNetwork(state, caller, row),
    prepare: (projectId) => ensureDefaultGroup(state, projectId),
    view: (row, caller) => view(state, row, caller),
    viewMade: (row, caller) => ({ ...view(state, row, caller), is_default: row.is_default }),
    create: (caller, projectId, input) => {
      const made = createNetwork(state, projectId, input);
      checkQos(state, caller, { policy: input.qos_policy_id, kind: "network", id: made.id });
      return made;
    },
    update: (caller, row, change) => {
      checkQos(state, caller, { policy: change.qos_policy_id, kind: "network", id: row.id });
      if (change.shared === false && row.shared) checkUnshared(state, row);
      checkMtu(state.segments.by("network_id", row.id), change.mtu);
      const made = state.networks.update(row.id, { ...defined(change), ...touched(state.kernel, row) });
      openAsTold(state, made);
      return made;
    },
    remove: (_, row) => remove(state, row),
  };
}

/** Makes a network as POST /networks does, with the port that OVN serves metadata from. */
export function createNetwork(state: NetworkState, projectId: string, input: InputOf<Attributes>): Network {
  const { kernel } = state;
  const zones = checkZoneHints(input.availability_zone_hints ?? []);
  const external = input["router:external"] ?? false;
  const kinds = newSegments(state, input);
  const [kind] = kinds;
  checkMtu(kinds, input.mtu);
  const network = state.networks.insert({
    ...born(kernel, projectId, input),
    admin_state_up: input.admin_state_up ?? true,
    mtu: input.mtu || largestMtu(kinds),
    shared: input.shared ?? false,
    "router:external": external,
    is_default: input.is_default ?? false,
    port_security_enabled: input.port_security_enabled ?? true,
    dns_domain: input.dns_domain ?? "",
    qos_policy_id: input.qos_policy_id ?? null,
    availability_zone_hints: zones,
    "provider:network_type": kind.network_type,
    "provider:physical_network": kind.physical_network,
    "provider:segmentation_id": kind.segmentation_id,
  });
  for (const each of kinds) firstSegment(state, network, each);
  openAsTold(state, network);
  addMetadataPort(state, network);
  return network;
}

/** The policies that "shared" and "router:external" are made of. */
function openAsTold(state: NetworkState, row: Network): void {
  setOpen(state, row, { type: "network", open: row.shared });
  setOpen(state, row, { type: "network", open: row["router:external"], action: "access_as_external" });
}

/** 409 if other projects have ports on the network. */
function checkUnshared(state: NetworkState, row: Network): void {
  const targets = new Set(state.rbac.by("object_id", row.id).map((policy) => policy.target_tenant));
  const guests = state.ports
    .by("network_id", row.id)
    .filter((port) => port.project_id !== "" && port.project_id !== row.project_id && !targets.has(port.project_id));
  if (guests.length === 0) return;
  const why = "Multiple tenants are using it.";
  throw conflict("InvalidSharedSetting", `Unable to reconfigure sharing settings for network ${row.id}. ${why}`);
}

function remove(state: NetworkState, row: Network): void {
  const ports = state.ports.by("network_id", row.id);
  // An external network takes floating IPs that no port has with it.
  const loose = state.floatingIps.all().filter((ip) => ip.floating_network_id === row.id && ip.port_id === null);
  const gone = new Set(loose.map((ip) => ip.id));
  const used = ports.filter((port) => port.device_owner !== "network:distributed" && !gone.has(port.device_id));
  if (used.length > 0) {
    const ids = used.map((port) => port.id).join(",");
    const why = `There are one or more ports still in use on the network, id for these ports is: ${ids}.`;
    throw conflict("NetworkInUse", `Unable to complete operation on network ${row.id}. ${why}`);
  }
  for (const ip of loose) state.floatingIps.remove(ip.id);
  for (const port of ports) removePort(state, port);
  for (const subnet of state.subnets.by("network_id", row.id)) deleteSubnet(state, subnet);
  for (const segment of state.segments.by("network_id", row.id)) state.segments.remove(segment.id);
  dropPolicies(state, row.id);
  state.networks.remove(row.id);
}

function view(state: NetworkState, row: Network, caller: Caller): JsonObject {
  const {
    "provider:network_type": _type,
    "provider:physical_network": _physical,
    "provider:segmentation_id": _segment,
    is_default: isDefault,
    ...rest
  } = row;
  const subnets = state.subnets.by("network_id", row.id).map((subnet) => subnet.id);
  return {
    ...rest,
    ...(row["router:external"] ? { is_default: isDefault } : {}),
    shared: usableNetwork(state, caller, row),
    tenant_id: row.project_id,
    status: "ACTIVE",
    subnets: subnets.sort(),
    availability_zones: [],
    ipv4_address_scope: null,
    ipv6_address_scope: null,
    qos_policy_id: row.qos_policy_id ?? null,
    l2_adjacency: true,
    ...(caller.isAdmin ? providerOf(state, row) : {}),
  };
}

const providerView = ({ network_type, physical_network, segmentation_id }: SegmentKind) => ({
  "provider:network_type": network_type,
  "provider:physical_network": physical_network,
  "provider:segmentation_id": segmentation_id,
});

/** A network's one segment, or the list of them; nulls when none is left. */
function providerOf(state: NetworkState, row: Network): JsonObject {
  const segments = state.segments.by("network_id", row.id);
  if (segments.length > 1) return { segments: segments.map(providerView) };
  const [only] = segments;
  if (only) return providerView(only);
  const none = { "provider:network_type": null, "provider:physical_network": null, "provider:segmentation_id": null };
  return none;
}
