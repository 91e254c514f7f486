import { Node, Service, type Informer, type ObjectKey } from "@causeway/kubernetes";
import type {
  Cloud,
  CloudWatch,
  FloatingIp,
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  Network,
  Pool,
  Subnet,
} from "@causeway/openstack";
import type { CloudControllerConfig } from "../config/config.ts";
import { eligibleNodes, nodeAddress } from "./desired.ts";
import { annotation, floatingIpDescription, legacyLoadBalancerName, loadBalancerName } from "./names.ts";
import { parametersOf, type Parameters } from "./parameters.ts";
import type { PoolDetails } from "./pool-details.ts";
import type { TreeFreshness } from "./tree-freshness.ts";

/** A pool with what its list entry does not tell. */
export interface ObservedPool {
  readonly pool: Pool;
  readonly members: readonly Member[];
  readonly monitor: HealthMonitor | undefined;
}

export interface Observed {
  readonly service: Service;
  readonly clusterName: string;
  readonly config: CloudControllerConfig;
  readonly parameters: Parameters;
  readonly lbName: string;
  /** Nodes that may be members. */
  readonly nodes: readonly Node[];
  /** Load balancers that may be the Service's; more than one is an error. */
  readonly loadBalancers: readonly LoadBalancer[];
  readonly listeners: readonly Listener[];
  readonly pools: readonly ObservedPool[];
  /** On the VIP's port. */
  readonly floatingIp: FloatingIp | undefined;
  /** Ours by their description, wherever they are attached. */
  readonly ownFloatingIps: readonly FloatingIp[];
  /** The one with the wanted address, if the Service names one. */
  readonly wantedFloatingIp: FloatingIp | undefined;
  /** Where the first node's address is: VIP and members go there unless told otherwise. */
  readonly nodeSubnet: Subnet | undefined;
  readonly externalNetwork: Network | undefined;
  /** False when the cloud has no Octavia. */
  readonly octavia: boolean;
}

export interface GatherFrom {
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly clusterName: string;
  readonly config: CloudControllerConfig;
  readonly details: PoolDetails;
  readonly freshness: TreeFreshness;
}

/** Reads caches; members and monitors of a pool are read once and again only when the pool's own entry has changed. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const service = from.services.get(key);
  if (!service || !concerns(service)) return undefined;
  const octavia = await from.cloud.has("load-balancer", { signal });
  const { watch, config, clusterName } = from;
  await startInformers(watch, octavia, signal);
  const parameters = parametersOf(service, config.loadBalancer);
  const lbName = loadBalancerName(clusterName, service);
  const loadBalancers = octavia ? candidates(watch, service, lbName) : [];
  const lb = loadBalancers[0];
  if (lb) await from.freshness.ensure(lb, signal);
  const nodes = eligibleNodes(from.nodes.list(), parameters.nodeSelector);
  const address = service.spec.loadBalancerIP;
  return {
    service,
    clusterName,
    config,
    parameters,
    lbName,
    nodes,
    loadBalancers,
    listeners: lb ? watch.listeners.byIndex("loadbalancer", lb.id) : [],
    pools: lb ? await observedPools(from, lb, signal) : [],
    floatingIp: lb ? watch.floatingIps.byIndex("port", lb.vip_port_id)[0] : undefined,
    ownFloatingIps: watch.floatingIps
      .list()
      .filter((ip) => ip.description === floatingIpDescription(clusterName, service)),
    wantedFloatingIp:
      address === undefined || address === "" ? undefined : watch.floatingIps.byIndex("address", address)[0],
    nodeSubnet: nodeSubnet(watch, nodes, service.spec.ipFamilies?.[0] ?? "IPv4"),
    externalNetwork: externalNetwork(watch, parameters.floatingNetworkId),
    octavia,
  };
}

/** A Service is ours while it is of the type, and as long after as it bears our finalizer. */
function concerns(service: Service): boolean {
  if (service.metadata.finalizers?.includes(serviceFinalizer) === true) return true;
  return (
    service.spec.type === "LoadBalancer" &&
    service.spec.loadBalancerClass === undefined &&
    service.metadata.deletionTimestamp === undefined
  );
}

/** Kubernetes' own name: any cloud provider that takes over knows it. */
export const serviceFinalizer = "service.kubernetes.io/load-balancer-cleanup";

async function startInformers(watch: CloudWatch, octavia: boolean, signal: AbortSignal): Promise<void> {
  const all = [
    watch.floatingIps,
    watch.networks,
    watch.subnets,
    watch.ports,
    ...(octavia ? [watch.loadBalancers, watch.listeners, watch.pools] : []),
  ];
  await Promise.all(all.map((informer) => informer.start(signal)));
}

/** By the annotated id, else by name, else by the in-tree provider's name. */
function candidates(watch: CloudWatch, service: Service, lbName: string): readonly LoadBalancer[] {
  const alive = (lb: LoadBalancer | undefined): lb is LoadBalancer =>
    lb !== undefined && lb.provisioning_status !== "DELETED";
  const id = service.metadata.annotations?.[annotation.loadBalancerId];
  const known = id === undefined ? undefined : watch.loadBalancers.get(id);
  if (alive(known)) return [known];
  const named = watch.loadBalancers.byIndex("name", lbName).filter(alive);
  return named.length > 0 ? named : watch.loadBalancers.byIndex("name", legacyLoadBalancerName(service)).filter(alive);
}

async function observedPools(from: GatherFrom, lb: LoadBalancer, signal: AbortSignal): Promise<ObservedPool[]> {
  const pools = from.watch.pools.byIndex("loadbalancer", lb.id);
  return Promise.all(pools.map((pool) => from.details.of(pool, signal)));
}

function nodeSubnet(watch: CloudWatch, nodes: readonly Node[], family: "IPv4" | "IPv6"): Subnet | undefined {
  for (const node of nodes) {
    const address = nodeAddress(node, family);
    const server = node.spec?.providerID?.split("/").at(-1);
    const port =
      address === undefined ? undefined : watch.ports.byIndex("address", address).find((p) => p.device_id === server);
    const fixed = port?.fixed_ips.find((ip) => ip.ip_address === address);
    if (fixed) return watch.subnets.get(fixed.subnet_id);
  }
  return undefined;
}

/** The named one, or the first external network that has an IPv4 subnet (or subnets that are not shown to us). */
function externalNetwork(watch: CloudWatch, id: string | undefined): Network | undefined {
  if (id !== undefined) return watch.networks.get(id);
  return watch.networks.list().find((network) => {
    if (!network["router:external"]) return false;
    const subnets = watch.subnets.byIndex("network", network.id);
    return subnets.length === 0 || subnets.some((s) => s.ip_version === 4);
  });
}
