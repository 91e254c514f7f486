import type {
  NeutronParameter,
  OpenStackMachine,
  OpenStackMachineSpec,
  PortSpec,
  ResolvedPort,
  SubportSpec,
} from "@causeway/api";
import { labels } from "@causeway/api";
import type { Port, PortCreate } from "@causeway/openstack";
import { description, portName } from "../resources/naming.ts";
import { resolveParameter, resolveSubnet } from "../resources/parameters.ts";
import type { MachineContext } from "./model.ts";

/** The ports with IDs in place of filters, and why some could not be resolved ("spec.ports[0]…: …"). */
export interface ResolvedPorts {
  readonly ports: readonly ResolvedPort[];
  readonly problems: readonly string[];
}

/** The ports of a machine, each before its subports: those of its spec, or one on the cluster's network. */
export function resolvePorts(context: MachineContext): ResolvedPorts {
  const problems: string[] = [];
  const ports = portSpecs(context.object.spec).flatMap((spec, index) => {
    const field = `spec.ports[${index}]`;
    const { nameSuffix, subports: _below, ...own } = spec;
    const wanted = { ...own, ...given("trunk", spec.trunk ?? context.object.spec.trunk) };
    const port = resolvePort(context, wanted, { field, name: portName(context.name, index, nameSuffix), problems });
    return port ? [port, ...resolveSubports(context, spec, { parent: port, field, problems })] : [];
  });
  const names = ports.map((p) => p.name);
  if (new Set(names).size < names.length) problems.push("spec.ports: two ports have the same name suffix");
  return { ports, problems };
}

function portSpecs(spec: OpenStackMachineSpec): readonly PortSpec[] {
  return spec.ports?.length ? spec.ports : [{}];
}

/** What a port of the spec is called in the cloud. */
export interface NamedPort {
  readonly name: string;
  readonly description: string | undefined;
  readonly isSubport: boolean;
}

/** The ports that a spec names, and the subports that the server was given before. */
export function namedPorts({ spec, status }: Pick<OpenStackMachine, "spec" | "status">, server: string): NamedPort[] {
  const named = portSpecs(spec).flatMap((port, index): NamedPort[] => {
    const name = portName(server, index, port.nameSuffix);
    const below = (port.subports ?? []).map((subport) => ({
      name: subportName(name, subport),
      description: subport.description,
      isSubport: true,
    }));
    return [{ name, description: port.description, isSubport: false }, ...below];
  });
  const known = new Set(named.map(({ name }) => name));
  const before = (status?.resolved?.ports ?? []).filter((port) => port.parent !== undefined && !known.has(port.name));
  return [...named, ...before.map(({ name, description }) => ({ name, description, isSubport: true }))];
}

/** What distinguishes the ports of a machine from others: "name|description", as `markOf` reads them from a port. */
export function portMarks(
  object: Pick<OpenStackMachine, "spec" | "status">,
  { name, crn }: { readonly name: string; readonly crn: string },
  which: "all" | "without subports" = "all",
): string[] {
  return namedPorts(object, name)
    .filter(({ isSubport }) => which === "all" || !isSubport)
    .map((port) => `${port.name}|${port.description || description(crn)}`);
}

/** What a port is recognised by: two ports with equal marks are the same port of a spec. */
export function markOf(port: Pick<Port, "name" | "description">): string {
  return `${port.name}|${port.description}`;
}

function subportName(parent: string, { nameSuffix, segmentationID }: SubportSpec): string {
  return `${parent}-${nameSuffix || segmentationID}`;
}

interface Place {
  readonly field: string;
  readonly name: string;
  readonly problems: string[];
}

function resolvePort(
  context: MachineContext,
  spec: Omit<PortSpec, "subports" | "nameSuffix">,
  place: Place,
): ResolvedPort | undefined {
  const networkID = networkOf(context, spec, place);
  if (networkID === undefined) return undefined;
  const { network: _, fixedIPs: _ips, securityGroups: _groups, tags: _tags, ...kept } = spec;
  const fixedIPs = fixedIpsOf(context, spec, { ...place, networkID });
  const groups = groupsOf(context, spec, place);
  const tags = tagsOf(context, spec);
  return {
    ...kept,
    name: place.name,
    networkID,
    description: spec.description || description(context.crn),
    ...(fixedIPs.length > 0 ? { fixedIPs } : {}),
    ...(groups.length > 0 ? { securityGroups: groups } : {}),
    ...(tags.length > 0 ? { tags } : {}),
  };
}

interface Below {
  readonly parent: ResolvedPort;
  readonly field: string;
  readonly problems: string[];
}

function resolveSubports(context: MachineContext, { subports = [] }: PortSpec, below: Below): ResolvedPort[] {
  const { parent, field, problems } = below;
  if (subports.length > 0 && !parent.trunk) problems.push(`${field}.subports need trunk: true`);
  return subports.flatMap((spec, index): ResolvedPort[] => {
    const { segmentationID, segmentationType = "vlan", nameSuffix: _, ...rest } = spec;
    const place = { field: `${field}.subports[${index}]`, name: subportName(parent.name, spec), problems };
    const port = resolvePort(context, rest, place);
    return port ? [{ ...port, parent: parent.name, segmentationID, segmentationType }] : [];
  });
}

function networkOf(
  context: MachineContext,
  spec: Pick<PortSpec, "network">,
  { field, problems }: Place,
): string | undefined {
  if (!spec.network) {
    const id = context.infrastructure?.status?.network?.id;
    if (id === undefined) problems.push("The cluster has no network yet");
    return id;
  }
  const network = resolveParameter(spec.network, context.cloud.networks, `${field}.network`);
  if (!network.ok) problems.push(network.problem);
  return network.ok ? network.resource.id : undefined;
}

/** The requested fixed IPs; on the cluster's network, without any, one in each of the cluster's subnets. */
function fixedIpsOf(
  context: MachineContext,
  spec: Pick<PortSpec, "network" | "fixedIPs">,
  place: Place & { networkID: string },
): { subnet?: string; ipAddress?: string }[] {
  const wanted = spec.fixedIPs ?? [];
  if (wanted.length === 0) return spec.network ? [] : clusterSubnets(context, place).map((subnet) => ({ subnet }));
  const candidates = context.cloud.subnets.filter((s) => s.network_id === place.networkID);
  return wanted.map(({ subnet, ipAddress }, i) => {
    const address = ipAddress ? { ipAddress } : {};
    if (!subnet) return address;
    const resolved = resolveSubnet(subnet, candidates, `${place.field}.fixedIPs[${i}].subnet`);
    if (!resolved.ok) place.problems.push(resolved.problem);
    return resolved.ok ? { subnet: resolved.resource.id, ...address } : address;
  });
}

function clusterSubnets({ infrastructure, cloud }: MachineContext, { problems }: Place): string[] {
  const known = (infrastructure?.status?.network?.subnets ?? []).map((s) => s.id);
  const primary = infrastructure?.spec.primarySubnet;
  if (!primary) return known;
  const candidates = cloud.subnets.filter((s) => known.includes(s.id));
  const resolved = resolveSubnet(primary, candidates, "spec.primarySubnet of the OpenStackCluster");
  if (!resolved.ok) problems.push(resolved.problem);
  return resolved.ok ? [resolved.resource.id] : [];
}

/** The port's groups, or the managed group of the machine's role; the machine's own groups come on top. */
function groupsOf(
  context: MachineContext,
  spec: Pick<PortSpec, "network" | "securityGroups" | "enablePortSecurity">,
  { field: port, problems }: Place,
): string[] {
  const { object, cloud, infrastructure } = context;
  const field = `${port}.securityGroups`;
  const clusterWide = spec.network === undefined && infrastructure?.spec.managedNetwork?.enablePortSecurity === false;
  const secured = spec.enablePortSecurity ?? !clusterWide;
  if (!secured) {
    if (spec.securityGroups?.length) problems.push(`${field} cannot be set on a port without port security`);
    return [];
  }
  const resolve = (parameter: NeutronParameter, what: string): string[] => {
    const group = resolveParameter(parameter, cloud.securityGroups, what);
    if (!group.ok) problems.push(group.problem);
    return group.ok ? [group.resource.id] : [];
  };
  const own = (spec.securityGroups ?? []).flatMap((g, i) => resolve(g, `${field}[${i}]`));
  const machine = (object.spec.securityGroups ?? []).flatMap((g, i) => resolve(g, `spec.securityGroups[${i}]`));
  const base = spec.securityGroups?.length ? own : managedGroup(context);
  return [...new Set([...base, ...machine])];
}

function managedGroup({ object, infrastructure }: MachineContext): string[] {
  const controlPlane = object.metadata.labels?.[labels.controlPlane] !== undefined;
  const { status } = infrastructure ?? {};
  const group = controlPlane ? status?.controlPlaneSecurityGroup : status?.workerSecurityGroup;
  return infrastructure?.spec.managedSecurityGroups && group ? [group.id] : [];
}

function tagsOf({ object, infrastructure }: MachineContext, spec: Pick<PortSpec, "tags">): string[] {
  return [...new Set([...(object.spec.tags ?? []), ...(infrastructure?.spec.tags ?? []), ...(spec.tags ?? [])])];
}

/**
 * The body of the call that makes a port. A trusted virtual function has an attribute of its own where Neutron has the
 * extension.
 */
export function portBody(port: ResolvedPort, extensions: ReadonlySet<string> = new Set()): PortCreate {
  const extra = Object.fromEntries((port.valueSpecs ?? []).map((v) => [v.key, v.value]));
  const attribute = port.profile?.trustedVF === true && extensions.has("port-trusted-vif");
  const profile = {
    ...(port.profile?.ovsHWOffload ? { capabilities: ["switchdev"] } : {}),
    ...(port.profile?.trustedVF && !attribute ? { trusted: true } : {}),
  };
  return {
    ...extra,
    ...(attribute ? { trusted: true } : {}),
    name: port.name,
    network_id: port.networkID,
    ...given("description", port.description),
    ...given("admin_state_up", port.adminStateUp),
    ...given("mac_address", port.macAddress),
    ...given("port_security_enabled", port.enablePortSecurity),
    ...given("propagate_uplink_status", port.propagateUplinkStatus),
    ...given("binding:host_id", port.hostID),
    ...given("binding:vnic_type", port.vnicType),
    ...(Object.keys(profile).length > 0 ? { "binding:profile": profile } : {}),
    ...(port.fixedIPs?.length
      ? {
          fixed_ips: port.fixedIPs.map((ip) => ({
            ...given("subnet_id", ip.subnet),
            ...given("ip_address", ip.ipAddress),
          })),
        }
      : {}),
    ...(port.securityGroups?.length ? { security_groups: [...port.securityGroups] } : {}),
    ...(port.allowedAddressPairs?.length ? { allowed_address_pairs: addressPairs(port) } : {}),
  };
}

/** The allowed address pairs of a port as Neutron takes them; without a MAC address it is left out. */
export function addressPairs(port: Pick<ResolvedPort, "allowedAddressPairs">) {
  return (port.allowedAddressPairs ?? []).map((pair) => ({
    ip_address: pair.ipAddress,
    ...given("mac_address", pair.macAddress),
  }));
}

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
