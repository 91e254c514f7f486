import { cidrContains, parseCidr, parseIp, shortList } from "@causeway/foundation";
import type { Network, Port, Server, Volume } from "@causeway/openstack";
import { isRouterInterface } from "../openstackcluster/router.ts";
import { isGone } from "../openstackmachine/server.ts";
import {
  description,
  groupOwner,
  loadBalancerName,
  networkName,
  networkOwner,
  securityGroupDescription,
  securityGroupName,
  serverOwnerKey,
} from "../resources/naming.ts";
import { ownNetworks } from "../resources/own-networks.ts";
import type { ClusterOrphan, OrphanKind, SweepObserved } from "./model.ts";

const described = /^Created by cluster-api-provider-openstack cluster (\S{1,512})(?: \(\S{1,64}\))?$/;
const grouped = /^k8s-cluster-(\S{1,512})-secgroup-(?:controlplane|worker|bastion)$/;
const roles = ["controlplane", "worker", "bastion"] as const;

/** What the user of a sweep decides. */
export interface SweepChoice {
  /** True: servers that run are deleted, too. */
  readonly running: boolean;
}

/**
 * The resources of clusters that are gone, in the order in which they can be deleted. A resource counts as a cluster's
 * only with the name and the mark that the provider gives it; what else is in the project is not in the plan.
 */
export function planClusterSweep(observed: SweepObserved, choice: SweepChoice): ClusterOrphan[] {
  return orphanedClusters(observed).flatMap((cluster) => orphansOf(observed, cluster, choice));
}

/** "namespace-name" of clusters that marks name, and the management cluster does not have. */
function orphanedClusters({ living, ...cloud }: SweepObserved): string[] {
  const { networks, subnets, routers, floatingIps, loadBalancers, ports, servers, volumes, securityGroups } = cloud;
  const marked = [...networks, ...subnets, ...routers, ...floatingIps, ...loadBalancers, ...ports];
  const texts = marked.map((r) => r.description ?? "");
  const named = [
    ...texts.flatMap((text) => described.exec(text)?.[1] ?? []),
    ...securityGroups.filter(isManagedGroup).flatMap(({ name }) => grouped.exec(name)?.[1] ?? []),
    ...[...servers, ...volumes].flatMap(({ metadata }) => metadata[serverOwnerKey]?.replace("/", "-") ?? []),
  ];
  // Upstream marks ports with the bare name of the cluster: alone that names no cluster.
  const whole = [...new Set(named)].filter((cluster) => cluster.includes("-") && !living.has(cluster));
  const bare = (cluster: string) => [...living, ...whole].some((other) => other.endsWith(`-${cluster}`));
  return whole.filter((cluster) => !onlyPorts(cloud, cluster) || !bare(cluster)).sort();
}

/** Those of clusters whose spec names a network have an owner in their descriptions. */
function isManagedGroup({ description: text }: { readonly description: string }): boolean {
  return text === securityGroupDescription || groupOwner(text) !== undefined;
}

function onlyPorts(cloud: Omit<SweepObserved, "living">, cluster: string): boolean {
  const { networks, subnets, routers, floatingIps, loadBalancers, servers, volumes, securityGroups } = cloud;
  const others = [...networks, ...subnets, ...routers, ...floatingIps, ...loadBalancers];
  return !(
    others.some((r) => described.exec(r.description ?? "")?.[1] === cluster) ||
    securityGroups.some(({ name }) => grouped.exec(name)?.[1] === cluster) ||
    [...servers, ...volumes].some(({ metadata }) => metadata[serverOwnerKey]?.replace("/", "-") === cluster)
  );
}

function orphansOf(observed: SweepObserved, cluster: string, { running }: SweepChoice): ClusterOrphan[] {
  const mark = description(cluster);
  const { projectId } = observed;
  const isMarked = (r: { readonly description: string | null; readonly project_id?: string }) =>
    (r.description === mark || networkOwner(cluster, r.description) !== undefined) &&
    (r.project_id === undefined || r.project_id === projectId);
  const networks = ownNetworks(observed, { crn: cluster, name: networkName(cluster), description: mark, projectId });
  const on = new Set(networks.map(({ id }) => id));
  const ports = observed.ports.filter((p) => isMarked(p) || (on.has(p.network_id) && isBare(p, cluster)));
  const servers = observed.servers.filter((s) => !isGone(s) && isServerOf(s, cluster, { ports, networks: on }));
  const groups = roles.flatMap((role) =>
    observed.securityGroups.filter((g) => g.name === securityGroupName(cluster, role) && isManagedGroup(g)),
  );
  const living = servers.filter(({ status }) => status === "ACTIVE");
  const inUse =
    living.length > 0 && !running
      ? `${living.length} of the cluster's servers run, so another management cluster may have it; --running deletes it all the same`
      : undefined;
  const orphan = (
    kind: OrphanKind,
    { id, name }: { readonly id: string; readonly name: string },
    more: Partial<ClusterOrphan> = {},
  ): ClusterOrphan => ({ kind, id, name, cluster, ...more, ...(inUse === undefined ? {} : { kept: inUse }) });

  const gone = new Set(servers.map(({ id }) => id));
  const freed = ports.filter((p) => p.device_id === "" || gone.has(p.device_id));
  const balancers = observed.loadBalancers.filter((l) => isMarked(l) && l.name === loadBalancerName(cluster));
  const vips = new Set(balancers.map((l) => l.vip_port_id));
  const blockers = observed.ports.filter(
    (p) =>
      on.has(p.network_id) && !freed.includes(p) && !gone.has(p.device_id) && !vips.has(p.id) && !goesWithNetwork(p),
  );
  const blocked = blockedBy(blockers.filter((p) => !isRouterInterface(p.device_owner)));
  const usersOf = (group: string) =>
    observed.ports.filter((p) => p.security_groups.includes(group) && !freed.includes(p) && !gone.has(p.device_id));
  return [
    ...servers.map((s) => orphan("server", s)),
    ...observed.volumes
      .filter((v) => isVolumeOf(v, cluster, { servers, ports: freed.filter((p) => on.has(p.network_id)) }))
      .map((v) => orphan("volume", v, volumeKept(v.attachments.map((a) => a.server_id).filter((id) => !gone.has(id))))),
    ...freed.flatMap((p) => (p.trunk_details ? [trunkOf(p, orphan)] : [])),
    ...freed.map((p) => orphan("port", p)),
    ...balancers.map((l) => orphan("load balancer", l)),
    ...observed.floatingIps
      .filter(isMarked)
      .map((f) => orphan("floating IP", { id: f.id, name: f.floating_ip_address })),
    ...observed.routers
      .filter((r) => isMarked(r) && r.name === networkName(cluster))
      .map((r) => orphan("router", r, { ...routerParts(observed, r.id), ...blocked })),
    ...networks.map((n) => orphan("network", n, { ...networkParts(observed, n), ...blocked })),
    ...groups.map((g) => orphan("security group", g, blockedBy(usersOf(g.id)))),
  ];
}

type Make = (kind: OrphanKind, resource: { id: string; name: string }, more?: Partial<ClusterOrphan>) => ClusterOrphan;

function trunkOf(port: Port, orphan: Make): ClusterOrphan {
  const { trunk_id: id = "", sub_ports: subports = [] } = port.trunk_details ?? {};
  return orphan("trunk", { id, name: port.name }, { subports: subports.map((sub) => sub.port_id) });
}

/** Upstream's ports have the bare name of the cluster in their description. */
function isBare(port: Port, cluster: string): boolean {
  const bare = described.exec(port.description)?.[1];
  return bare !== undefined && cluster.endsWith(`-${bare}`);
}

/** By our mark; or, as upstream makes them, with a marked port of its name on the cluster's own network. */
function isServerOf(
  server: Server,
  cluster: string,
  { ports, networks }: { readonly ports: readonly Port[]; readonly networks: ReadonlySet<string> },
): boolean {
  const mark = server.metadata[serverOwnerKey];
  if (mark !== undefined) return mark.replace("/", "-") === cluster;
  return ports.some(
    (p) => p.device_id === server.id && networks.has(p.network_id) && p.name.startsWith(`${server.name}-`),
  );
}

const upstreamVolume = /^(?:Root volume|Additional block device) for (\S{1,255})$/;

/**
 * By our mark. Upstream's volumes have none: their names and descriptions name a server, which must be one of the
 * cluster's, and the only one that they are attached to; or one that is gone, whose port on the cluster's own network
 * is left.
 */
function isVolumeOf(
  { name, description: text, metadata, attachments }: Volume,
  cluster: string,
  { servers, ports }: { readonly servers: readonly Server[]; readonly ports: readonly Port[] },
): boolean {
  const mark = metadata[serverOwnerKey];
  if (mark !== undefined) return mark.replace("/", "-") === cluster;
  const server = upstreamVolume.exec(text ?? "")?.[1];
  if (server === undefined || !name.startsWith(`${server}-`)) return false;
  if (attachments.length === 0)
    return servers.some((one) => one.name === server) || ports.some((p) => p.name.startsWith(`${server}-`));
  return attachments.every((a) => servers.some((one) => one.id === a.server_id && one.name === server));
}

function volumeKept(others: readonly string[]): Partial<ClusterOrphan> {
  return others.length === 0 ? {} : { kept: `attached to server ${others.join(", ")}` };
}

function blockedBy(ports: readonly Port[]): Partial<ClusterOrphan> {
  if (ports.length === 0) return {};
  const names = ports.map((p) => `${p.name || p.id} (${p.device_owner || "no owner"})`).sort();
  return { kept: `in use by ports that are not the cluster's: ${shortList(names, 5)}` };
}

/** Interfaces of a router, and routes by way of hosts behind them. */
function routerParts({ ports, subnets, routers }: SweepObserved, id: string): Partial<ClusterOrphan> {
  const own = ports.filter((p) => p.device_id === id && isRouterInterface(p.device_owner));
  const interfaces = [...new Set(own.flatMap((p) => p.fixed_ips.map((ip) => ip.subnet_id)))];
  const cidrs = subnets.flatMap((s) => (interfaces.includes(s.id) ? (parseCidr(s.cidr) ?? []) : []));
  const routes = (routers.find((r) => r.id === id)?.routes ?? []).filter(({ nexthop }) => {
    const ip = parseIp(nexthop);
    return ip !== undefined && cidrs.some((cidr) => cidrContains(cidr, ip));
  });
  return { interfaces, routes };
}

/** Interfaces that a foreign router has on the network; the cluster's own router loses its interfaces before it. */
function networkParts({ ports, routers }: SweepObserved, { id, name }: Network): Partial<ClusterOrphan> {
  const own = new Set(routers.filter((r) => r.name === name).map((r) => r.id));
  const foreign = ports.filter(
    (p) => p.network_id === id && isRouterInterface(p.device_owner) && !own.has(p.device_id),
  );
  return foreign.length === 0 ? {} : { kept: `router ${foreign[0]?.device_id} has an interface on it` };
}

/** Neutron deletes these with the network. */
function goesWithNetwork({ device_owner: owner }: Port): boolean {
  return ["network:dhcp", "network:distributed"].includes(owner) || owner.startsWith("network:floatingip");
}
