import type { Service } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import { limitsOf } from "@causeway/octavia-tree";
import { adoptionOfFormer, adoptionOfRestored, formerCluster, isProved, publishes, unproved } from "./adoption.ts";
import type { Adoption } from "./observed.ts";
import { wantsLoadBalancer } from "./parameters/concern.ts";
import { nodeAddress } from "./parameters/desired.ts";
import type { GatherFrom } from "./observed.ts";

interface Candidates {
  readonly service: Service;
  /** Found by id or name. */
  readonly known: readonly LoadBalancer[];
  /** Of the Service's name, with another owner. */
  readonly anothers: readonly LoadBalancer[];
}

/** The Service's load balancers, and what is known of one that its tags do not say to be the Service's. */
export interface Recognised {
  readonly staying: readonly LoadBalancer[];
  /** Its name from before the cluster was renamed, where the cloud has no tags to say so. */
  readonly former?: string | undefined;
  readonly adoption?: Adoption | undefined;
  readonly unproved?: string | undefined;
}

/**
 * Load balancers whose tags do not name the Service as owner: from before the cluster was renamed, or before the
 * Service was restored.
 */
export async function recognised(from: GatherFrom, candidates: Candidates, signal: AbortSignal): Promise<Recognised> {
  const { service, known, anothers } = candidates;
  const staying = known.length > 0 ? known : publishedBefore(from, service);
  const [lb] = staying;
  // What a Service that ends has left is not adopted again.
  const ends = service.metadata.deletionTimestamp !== undefined || !wantsLoadBalancer(service);
  if (lb) return { staying, ...(ends ? {} : await ofFormer(from, { service, lb }, signal)) };
  for (const another of anothers) {
    const candidate = { service, clusterName: from.clusterName, lb: another };
    const exists = (uid: string) => from.services.list().some(({ metadata }) => metadata.uid === uid);
    // Members are read only where they decide.
    if (!adoptionOfRestored(candidate, { exists, servesNodes: true })) continue;
    const servesNodes = await isOfOurNodes(from, another, signal);
    return { staying, adoption: adoptionOfRestored(candidate, { exists, servesNodes }) };
  }
  return { staying };
}

async function ofFormer(
  from: GatherFrom,
  { service, lb }: { readonly service: Service; readonly lb: LoadBalancer },
  signal: AbortSignal,
): Promise<Omit<Recognised, "staying">> {
  const candidate = { service, clusterName: from.clusterName, lb };
  const cluster = formerCluster(candidate);
  if (cluster === undefined) return {};
  const floatingIp = from.watch.floatingIps.byIndex("port", lb.vip_port_id)[0];
  if (!isProved(candidate, cluster, floatingIp)) {
    const ingress = service.status?.loadBalancer?.ingress ?? [];
    const serves = publishes(service, lb, floatingIp) || ingress.some(({ ip }) => ip === undefined);
    return serves ? { unproved: unproved(candidate, cluster) } : {};
  }
  const { version } = await from.octavia.facts(signal);
  if (!limitsOf(lb.provider, version).tags) return { former: lb.name };
  return { adoption: adoptionOfFormer(candidate, cluster) };
}

/**
 * One of the Service's namespace and name under another cluster's name, whose address the Service publishes, though it
 * has lost its annotations.
 */
function publishedBefore({ watch, clusterName }: GatherFrom, service: Service): readonly LoadBalancer[] {
  if ((service.status?.loadBalancer?.ingress ?? []).length === 0) return [];
  return watch.loadBalancers
    .list()
    .filter((lb) => !["PENDING_DELETE", "DELETED"].includes(lb.provisioning_status))
    .filter((lb) => formerCluster({ service, clusterName, lb }) !== undefined)
    .filter((lb) => publishes(service, lb, watch.floatingIps.byIndex("port", lb.vip_port_id)[0]));
}

/** Is a member of it an address of one of this cluster's nodes, on the port of that node's server? */
async function isOfOurNodes(from: GatherFrom, lb: LoadBalancer, signal: AbortSignal): Promise<boolean> {
  const { watch, nodes, details } = from;
  const pools = watch.pools.byIndex("loadbalancer", lb.id);
  const members = (await Promise.all(pools.map((pool) => details.of(pool, lb, signal)))).flatMap((p) => p.members);
  const servers = new Map<string, string | undefined>();
  for (const node of nodes.list())
    for (const family of ["IPv4", "IPv6"] as const)
      servers.set(nodeAddress(node, family) ?? "", node.spec?.providerID?.split("/").at(-1));
  return members.some(({ address, subnet_id: subnet }) =>
    watch.ports
      .byIndex("address", address)
      .filter((port) => servers.has(address) && port.device_id === servers.get(address))
      .some((port) =>
        port.fixed_ips.some((ip) => ip.ip_address === address && (subnet ?? ip.subnet_id) === ip.subnet_id),
      ),
  );
}
