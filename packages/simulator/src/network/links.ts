import type { Caller } from "../kernel/interface.ts";
import type { LinkedGroup, LinkedPort, NetworkLinks, PortRequest, ServerAddress } from "../kernel/links.ts";
import { checkQuota } from "./kit/collection.ts";
import { ensureDefaultGroup } from "./rules/default-group.ts";
import { groupNotFound, subnetNotFound } from "./errors.ts";
import { createPort, type PortInput } from "./resources/ports.ts";
import { removePort } from "./rules/port-rows.ts";
import { touched, type NetworkState, type Port, type SecurityGroup } from "./model.ts";

/** What Nova and Octavia get done by the network service, without HTTP. */
export function networkLinks(state: NetworkState): NetworkLinks {
  const change = (id: string, fields: Partial<Port>): void => {
    const port = state.ports.get(id);
    if (port) state.ports.update(id, { ...fields, ...touched(state.kernel, port) });
  };
  return {
    createPort: (projectId, request) => makePort(state, projectId, request),
    bindPort: (id, serverId, zone) =>
      change(id, { device_id: serverId, device_owner: `compute:${zone}`, "binding:host_id": hostOf(zone) }),
    activatePort: (id) => change(id, { status: "ACTIVE" }),
    unbindPort: (id) => change(id, { device_id: "", device_owner: "", "binding:host_id": "", status: "DOWN" }),
    deletePort(id) {
      const port = state.ports.get(id);
      if (port) removePort(state, port);
    },
    port: (id) => state.ports.get(id),
    portsOf: (deviceId, first) => orderedPorts(state, deviceId, first),
    networkName(id, projectId) {
      const network = state.networks.get(id);
      const visible = projectId === undefined || network?.project_id === projectId || network?.shared;
      return visible ? network?.name : undefined;
    },
    networksOf: (projectId) => {
      const own = state.networks.by("project_id", projectId).filter((network) => !network["router:external"]);
      const shared = state.networks.all().filter((network) => network.shared && network.project_id !== projectId);
      return [...own, ...shared].map((network) => network.id);
    },
    serverAddresses: (serverId, first) => addressesOf(state, orderedPorts(state, serverId, first)),
    hasSecurityGroup: (projectId, idOrName) => groupOf(state, projectId, idOrName) !== undefined,
    changeSecurityGroup(portId, { verb, group }) {
      const port = state.ports.get(portId);
      const id = port && groupOf(state, port.project_id, group)?.id;
      if (!port || id === undefined || port.security_groups.includes(id) === (verb === "add")) return false;
      const others = port.security_groups.filter((other) => other !== id);
      change(portId, { security_groups: verb === "add" ? [...others, id] : others });
      return true;
    },
    securityGroups(projectId) {
      if (projectId !== undefined) ensureDefaultGroup(state, projectId);
      const groups = projectId === undefined ? state.groups.all() : state.groups.by("project_id", projectId);
      return groups.map((group) => linkedGroup(state, group));
    },
    securityGroupNames: (portId) =>
      (state.ports.get(portId)?.security_groups ?? []).flatMap((id) => state.groups.get(id)?.name ?? []),
  };
}

function linkedGroup(state: NetworkState, group: SecurityGroup): LinkedGroup {
  const incoming = state.rules.by("security_group_id", group.id).filter((rule) => rule.direction === "ingress");
  const rules = incoming.map((rule) => ({
    id: rule.id,
    protocol: rule.protocol,
    from: rule.port_range_min,
    to: rule.port_range_max,
    group: rule.remote_group_id === null ? undefined : state.groups.get(rule.remote_group_id)?.name,
    cidr: rule.remote_ip_prefix ?? undefined,
  }));
  const { id, name, description, project_id } = group;
  return { id, name, description, project_id, rules };
}

/** Zone "nova" has compute-1, zone "az2" compute-2. */
const hostOf = (zone: string): string => (zone === "az2" ? "compute-2" : "compute-1");

const byAge = (a: Port, b: Port): number => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0);

function makePort(state: NetworkState, projectId: string, request: PortRequest): LinkedPort {
  const caller: Caller = { userId: "", projectId, roles: ["admin"], isAdmin: true };
  const {
    subnet_id: subnetId,
    ip_address: ip,
    network_id: given,
    security_groups: groups,
    more_ips: more = [],
    ...rest
  } = request;
  const subnet = subnetId === undefined ? undefined : state.subnets.get(subnetId);
  if (subnetId !== undefined && !subnet) throw subnetNotFound(subnetId);
  const networkId = given ?? subnet?.network_id ?? "";
  const fixed =
    subnetId === undefined && ip === undefined ? {} : { fixed_ips: [{ subnet_id: subnetId, ip_address: ip }, ...more] };
  const named = groups && { security_groups: groups.map((group) => groupIdOf(state, projectId, group)) };
  const input: PortInput = { ...rest, network_id: networkId, ...fixed, ...named };
  return state.kernel.atomic(() => {
    checkQuota(state, projectId, { resource: "port", used: state.ports.by("project_id", projectId).length });
    return createPort(state, { caller, projectId }, input);
  });
}

function groupOf(state: NetworkState, projectId: string, idOrName: string) {
  if (idOrName === "default") return ensureDefaultGroup(state, projectId);
  return state.groups.by("project_id", projectId).find((group) => group.id === idOrName || group.name === idOrName);
}

function groupIdOf(state: NetworkState, projectId: string, idOrName: string): string {
  const group = groupOf(state, projectId, idOrName);
  if (!group) throw groupNotFound(idOrName);
  return group.id;
}

function orderedPorts(state: NetworkState, deviceId: string, first: readonly string[] = []): readonly Port[] {
  const places = new Map(first.map((id, place) => [id, place]));
  const placeOf = ({ id }: Port): number => places.get(id) ?? first.length;
  return state.ports.by("device_id", deviceId).toSorted((a, b) => placeOf(a) - placeOf(b) || byAge(a, b));
}

function addressesOf(state: NetworkState, ports: readonly Port[]): readonly ServerAddress[] {
  const [fixed, floating]: [ServerAddress[], ServerAddress[]] = [[], []];
  for (const port of ports) {
    const network = state.networks.get(port.network_id)?.name ?? "";
    const common = { network, mac_address: port.mac_address, port_id: port.id };
    for (const { ip_address: addr } of port.fixed_ips) {
      fixed.push({ ...common, addr, version: addr.includes(":") ? 6 : 4, kind: "fixed" });
    }
    for (const { floating_ip_address: addr } of state.floatingIps.by("port_id", port.id)) {
      floating.push({ ...common, addr, version: 4, kind: "floating" });
    }
  }
  return [...fixed, ...floating];
}
