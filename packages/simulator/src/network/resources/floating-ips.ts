import type { Caller } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { address, common, orNull, text, uuid, type InputOf } from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { conflict, floatingIpNotFound, networkNotFound, neutronError, portNotFound } from "../errors.ts";
import { seesNetwork } from "./networks.ts";
import { dropForwardings, forwardingsOf } from "../rules/forwarding-rows.ts";
import { addressFields, askedAddresses, defaultAddresses, insertPort, releaseFloatingIp } from "../rules/port-rows.ts";
import { routerBetween, type Way } from "../rules/reach.ts";
import { born, defined, touched, type FloatingIp, type NetworkState, type Port } from "../model.ts";

const { name: _name, ...nameless } = common;

const attributes = {
  ...nameless,
  floating_network_id: { read: uuid, required: true, put: false },
  floating_ip_address: { read: orNull(address), admin: true, put: false },
  subnet_id: { read: orNull(uuid), put: false },
  port_id: { read: orNull(uuid) },
  fixed_ip_address: { read: orNull(address) },
  qos_policy_id: { read: orNull(uuid) },
  dns_name: { read: text, put: false },
  dns_domain: { read: text, put: false },
} as const;
type Attributes = typeof attributes;
type Input = InputOf<Attributes>;

/** Floating IPs: each has a port of its own on the external network, which goes with it. */
export function floatingIpCollection(state: NetworkState): Collection<FloatingIp, Attributes> {
  state.kernel.timers.handler("network.floatingip", (id) => settle(state, id));
  return {
    singular: "floatingip",
    plural: "floatingips",
    attributes,
    table: state.floatingIps,
    indexes: ["floating_ip_address", "port_id", "router_id", "project_id"],
    filters: ["status", "router_id"],
    quota: "floatingip",
    notFound: floatingIpNotFound,
    sees: (caller, row) => caller.isAdmin || row.project_id === caller.projectId,
    view: (row) => view(state, row),
    create: (caller, projectId, input) => create(state, { caller, projectId }, input),
    update: (caller, row, change) => update(state, { caller, row }, change),
    remove: (_, row) => {
      dropForwardings(state, { floatingIpId: row.id });
      for (const port of state.ports.by("device_id", row.id)) state.ports.remove(port.id);
      state.floatingIps.remove(row.id);
    },
  };
}

function create(
  state: NetworkState,
  { caller, projectId }: { caller: Caller; projectId: string },
  input: Input,
): FloatingIp {
  const networkId = input.floating_network_id ?? "";
  const network = state.networks.get(networkId);
  if (!network || !seesNetwork(state, caller, network)) throw networkNotFound(networkId);
  if (!network["router:external"]) throw badFloatingIp(`Network ${networkId} is not a valid external network.`);
  if (!state.subnets.by("network_id", networkId).some((subnet) => subnet.ip_version === 4)) {
    throw badFloatingIp(`Network ${networkId} does not contain any IPv4 subnet.`);
  }
  const base = born(state.kernel, projectId, input);
  const port = insertPort(state, {
    project_id: "",
    network_id: networkId,
    device_id: base.id,
    device_owner: "network:floatingip",
    status: "N/A",
  });
  const wish = { networkId, mac: port.mac_address, deviceOwner: port.device_owner };
  const asked = { subnet_id: input.subnet_id ?? undefined, ip_address: input.floating_ip_address ?? undefined };
  const named = asked.subnet_id !== undefined || asked.ip_address !== undefined;
  const ips = (named ? askedAddresses(state, [asked], wish) : defaultAddresses(state, wish)).slice(0, 1);
  const ip = ips[0];
  if (!ip)
    throw neutronError(
      409,
      "ExternalIpAddressExhausted",
      `Unable to find any IP address on external network ${networkId}.`,
    );
  state.ports.update(port.id, addressFields(ips));
  const floating = state.floatingIps.insert({
    ...base,
    revision_number: 0,
    floating_ip_address: ip.ip_address,
    floating_network_id: networkId,
    router_id: null,
    port_id: null,
    fixed_ip_address: null,
    status: "DOWN",
    dns_name: input.dns_name ?? "",
    dns_domain: input.dns_domain ?? "",
    qos_policy_id: input.qos_policy_id ?? null,
  });
  return input.port_id ? associate(state, { caller, row: floating }, input.port_id, input.fixed_ip_address) : floating;
}

function update(state: NetworkState, { caller, row }: { caller: Caller; row: FloatingIp }, change: Input): FloatingIp {
  const { description, port_id: portId, fixed_ip_address: fixed, qos_policy_id: qos } = defined(change);
  if (portId !== undefined && state.forwardings.by("floatingip_id", row.id).length > 0) {
    throw conflict("FipInUseByPortForwarding", `Floating IP ${row.id} in use by Port Forwarding resources.`);
  }
  if (fixed && portId === undefined) throw badFloatingIp("fixed_ip_address cannot be specified without a port_id.");
  let floating = state.floatingIps.update(row.id, {
    ...(description === undefined ? {} : { description }),
    // A PUT that does not name the policy takes it away: Neutron writes what the body has, or nothing.
    qos_policy_id: qos ?? null,
    ...touched(state.kernel, row),
  });
  if (portId) floating = associate(state, { caller, row: floating }, portId, fixed);
  // A body without port_id keeps the port, unless it is empty: that is how clients disassociate, too.
  else if (row.port_id !== null && (portId === null || Object.keys(change).length === 0)) {
    releaseFloatingIp(state, row.id);
    floating = state.floatingIps.get(row.id) ?? floating;
  }
  return floating;
}

function associate(
  state: NetworkState,
  { caller, row }: { caller: Caller; row: FloatingIp },
  portId: string,
  fixed: string | null | undefined,
): FloatingIp {
  const port = state.ports.get(portId);
  if (!port || (!caller.isAdmin && port.project_id !== caller.projectId)) throw portNotFound(portId);
  const ip = fixed ?? port.fixed_ips.find((entry) => entry.ip_address.includes("."))?.ip_address;
  const fixedIp = port.fixed_ips.find((entry) => entry.ip_address === ip);
  if (ip !== undefined && !fixedIp) throw badFloatingIp(`Port ${portId} does not have fixed ip ${ip}.`);
  if (!fixedIp) throw badFloatingIp(`Cannot add floating IP to port ${portId} that has no fixed IPv4 addresses.`);
  const other = state.floatingIps
    .by("port_id", portId)
    .find(
      (f) =>
        f.id !== row.id &&
        f.fixed_ip_address === fixedIp.ip_address &&
        f.floating_network_id === row.floating_network_id,
    );
  if (other) {
    const what = `Cannot associate floating IP ${row.floating_ip_address} (${row.id}) with port ${portId} using fixed IP`;
    const why = `${fixedIp.ip_address}, as that fixed IP already has a floating IP on external network ${row.floating_network_id}.`;
    throw conflict("FloatingIPPortAlreadyAssociated", `${what} ${why}`);
  }
  if (state.forwardings.by("internal_port_id", portId).length > 0) {
    const why = `Cannot associate floating IP to port ${portId} because it already has a Port Forwarding binding.`;
    throw neutronError(400, "PortHasPortForwarding", why);
  }
  const routerId = requireRouter(state, port, { subnetId: fixedIp.subnet_id, externalId: row.floating_network_id });
  state.kernel.timers.after(state.kernel.delay("floatingip.update"), "network.floatingip", row.id);
  return state.floatingIps.update(row.id, {
    port_id: portId,
    fixed_ip_address: fixedIp.ip_address,
    router_id: routerId,
    ...touched(state.kernel, row),
  });
}

function requireRouter(state: NetworkState, port: Port, way: Way): string {
  const router = routerBetween(state, way);
  if (router !== undefined) return router;
  const { subnetId, externalId } = way;
  const what = `External network ${externalId} is not reachable from subnet ${subnetId}.`;
  const why = `${what}  Therefore, cannot associate Port ${port.id} with a Floating IP.`;
  throw neutronError(404, "ExternalGatewayForFloatingIPNotFound", why);
}

/** The agent's word some time after a change: ACTIVE with a port, DOWN without. */
function settle(state: NetworkState, id: string): void {
  const floating = state.floatingIps.get(id);
  if (!floating) return;
  const status = floating.port_id === null ? "DOWN" : "ACTIVE";
  if (status !== floating.status) state.floatingIps.update(id, { status, ...touched(state.kernel, floating) });
}

const badFloatingIp = (why: string) => neutronError(400, "BadRequest", `Bad floatingip request: ${why}`);

function view(state: NetworkState, row: FloatingIp): JsonObject {
  const { name: _, ...wire } = row;
  const port = row.port_id === null ? undefined : state.ports.get(row.port_id);
  const details = port && {
    name: port.name,
    network_id: port.network_id,
    mac_address: port.mac_address,
    admin_state_up: port.admin_state_up,
    status: port.status,
    device_id: port.device_id,
    device_owner: port.device_owner,
  };
  return {
    ...wire,
    tenant_id: row.project_id,
    qos_policy_id: row.qos_policy_id ?? null,
    port_details: details ?? null,
    port_forwardings: forwardingsOf(state, row.id),
  };
}
