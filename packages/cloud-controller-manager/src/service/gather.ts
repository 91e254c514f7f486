import type { Node, ObjectKey, Service } from "@causeway/kubernetes";
import type { CloudWatch, FloatingIp, LoadBalancer, Network, Subnet } from "@causeway/openstack";
import { floatingIpKey, floatingIpBackoff, type ObservedPool } from "@causeway/octavia-tree";
import { concerns, wantsLoadBalancer } from "./parameters/concern.ts";
import { eligibleNodes, nodeAddress } from "./parameters/desired.ts";
import { firstExternalNetwork } from "./address/external-network.ts";
import { matchingSubnets } from "./address/floating-subnets.ts";
import { newNodes, type ServingNodes } from "./parameters/new-members.ts";
import { heldOf, withExpected } from "./held.ts";
import { annotation } from "../config/annotations.ts";
import { floatingIpDescription, legacyLoadBalancerName, loadBalancerName, retiringName } from "./parameters/names.ts";
import { candidatesOf } from "./plan-candidates.ts";
import { recognised } from "./recognise.ts";
import { formerName, isAnothers, proofTags } from "./ownership.ts";
import { parametersOf, type Parameters } from "./parameters/parameters.ts";
import { isDualStack, otherFamily, secondName, secondParameters, secondService } from "./parameters/second-family.ts";
import type { Observed, GatherFrom } from "./observed.ts";

/** Reads caches; members and monitors of a pool are read once and again only when the pool's own entry has changed. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const service = from.services.get(key);
  if (!service || !concerns(service, from.config)) return undefined;
  const octavia = await from.cloud.has("load-balancer", { signal });
  await startInformers(from.watch, octavia, signal);
  const lbName = loadBalancerName(from.clusterName, service);
  const parameters = parametersOf(service, from.config.loadBalancer);
  const first = await observe(from, { service, lbName, parameters, octavia }, signal);
  const name = secondName(lbName, otherFamily(service));
  const former = first.formerName
    ? secondName(first.formerName, otherFamily(service))
    : formerSecondName(from.watch, { service, name });
  const there = [name, former ?? name].some((known) => from.watch.loadBalancers.byIndex("name", known).length > 0);
  if (!octavia || !(there || isDualStack(service))) return first;
  const query = {
    service: secondService(service),
    lbName: name,
    former,
    parameters: secondParameters(parameters),
    octavia,
    second: true,
  };
  return { ...first, second: await observe(from, query, signal) };
}

/**
 * The name that the second one had before the cluster was renamed, where the first does not have it, because it is gone
 * or has its new name: the tag of its owner does. All load balancers are read for it, so only for a Service that lacks
 * a second or that ends.
 */
function formerSecondName(
  watch: CloudWatch,
  { service, name }: { readonly service: Service; readonly name: string },
): string | undefined {
  const ends = service.metadata.deletionTimestamp !== undefined || !wantsLoadBalancer(service);
  if (!(ends || isDualStack(service)) || watch.loadBalancers.byIndex("name", name).length > 0) return undefined;
  const end = secondName("", otherFamily(service));
  return watch.loadBalancers
    .list()
    .find((lb) => lb.name.endsWith(end) && isStaying(lb) && proofTags(lb, service).length > 0)?.name;
}

interface BalancerQuery extends BalancerIdentity {
  readonly parameters: Parameters;
  readonly octavia: boolean;
}

/** One load balancer of a Service, and what it needs. */
async function observe(from: GatherFrom, query: BalancerQuery, signal: AbortSignal): Promise<Observed> {
  const { service, lbName, parameters, octavia } = query;
  const { watch, config, clusterName } = from;
  const all = octavia ? await freshCandidates(from, query, signal) : [];
  const named = (name: string) => (octavia ? watch.loadBalancers.byIndex("name", name).filter(isStaying) : []);
  const retiring = named(retiringName(lbName)).filter((lb) => !isAnothers(lb, service));
  const anothers = named(lbName).filter((lb) => isAnothers(lb, service));
  const known = all.filter((lb) => lb.provisioning_status !== "PENDING_DELETE");
  const { former, adoption, unproved, staying } = await recognised(from, { ...query, known, anothers }, signal);
  const [first] = staying;
  const expectedActive = first && from.freshness.expectedActive(first);
  // The next change of its members is planned before a list shows it ACTIVE, and sent when it is likely to be.
  const loadBalancers =
    first && expectedActive !== undefined ? staying.with(0, { ...first, provisioning_status: "ACTIVE" }) : staying;
  const lb = loadBalancers[0];
  const nodes = eligibleNodes(from.nodes.list(), parameters.nodeSelector);
  const pools =
    lb && (from.whole === true || lb.provisioning_status === "ACTIVE")
      ? await observedPools(from, lb, { expected: expectedActive !== undefined, signal })
      : [];
  return {
    service,
    clusterName,
    config,
    parameters,
    lbName,
    nodes,
    loadBalancers,
    anothers: anothers.filter((lb) => lb.id !== adoption?.lb.id),
    adoption,
    unproved,
    retiring,
    retiringFloatingIp: retiring[0] && watch.floatingIps.byIndex("port", retiring[0].vip_port_id)[0],
    leaving: all.filter((l) => l.provisioning_status === "PENDING_DELETE"),
    listeners: lb ? watch.listeners.byIndex("loadbalancer", lb.id) : [],
    pools,
    serving: await servingNodes(from, { lb, nodes, pools }, signal),
    ...(await floatingIps(from, { service, lb, lbName }, signal)),
    nodeSubnet: await freshNodeSubnet(from, { service, nodes, parameters, lb }, signal),
    ...(await freshExternalPlace(from, { parameters, lb }, signal)),
    octavia,
    facts: octavia ? await from.octavia.facts(signal) : { version: undefined, providers: [] },
    tlsProblem: await tlsProblem(from, { service, parameters }, signal),
    formerName:
      lb &&
      (former ??
        (query.former !== undefined && lb.name === query.former ? query.former : formerName(service, lb, lbName))),
    second: undefined,
    held: withExpected(heldOf(from, { ...query, lb: adoption?.lb ?? lb ?? all[0], nodes }), expectedActive),
  };
}

/** Where a load balancer is being changed, no member is planned for it. */
async function servingNodes(
  { serving, clock }: GatherFrom,
  { lb, nodes, pools }: Pick<Observed, "nodes" | "pools"> & { readonly lb: LoadBalancer | undefined },
  signal: AbortSignal,
): Promise<ServingNodes> {
  if (!serving || (lb && lb.provisioning_status !== "ACTIVE")) return undefined;
  return serving.of(newNodes({ nodes, pools }, clock.now()), signal);
}

async function tlsProblem(
  { config, certificates }: GatherFrom,
  { service, parameters }: { service: Service; parameters: Parameters },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { tlsContainerRef: reference } = parameters;
  const terminates = (service.spec.ports ?? []).some((port) => (port.protocol ?? "TCP") === "TCP");
  if (reference === "" || !terminates || config.loadBalancer.containerStore === "external") return undefined;
  if (service.metadata.deletionTimestamp !== undefined || !wantsLoadBalancer(service)) return undefined;
  return certificates.problem(reference, signal);
}

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

interface BalancerIdentity {
  readonly service: Service;
  readonly lbName: string;
  /** A name that it may have had before. */
  readonly former?: string | undefined;
  /** It is the one of the other family. */
  readonly second?: boolean;
}

/** The load balancers as they are after the lists of their parts have caught up with them. */
async function freshCandidates(
  from: GatherFrom,
  identity: BalancerIdentity,
  signal: AbortSignal,
): Promise<readonly LoadBalancer[]> {
  const before = candidates(from.watch, identity);
  await Promise.all(before.map((lb) => from.freshness.ensure(lb, signal)));
  return candidates(from.watch, identity);
}

function candidates(
  watch: CloudWatch,
  { service, lbName, former, second = false }: BalancerIdentity,
): readonly LoadBalancer[] {
  const id = service.metadata.annotations?.[annotation.loadBalancerId];
  const old = second ? former : legacyLoadBalancerName(service);
  const lists = {
    annotated: id === undefined ? undefined : watch.loadBalancers.get(id),
    named: watch.loadBalancers.byIndex("name", lbName),
    old: old === undefined ? [] : watch.loadBalancers.byIndex("name", old),
  };
  return candidatesOf(lists, service, lbName);
}

function isStaying({ provisioning_status: status }: LoadBalancer): boolean {
  return status !== "PENDING_DELETE" && status !== "DELETED";
}

async function observedPools(
  from: GatherFrom,
  lb: LoadBalancer,
  { expected, signal }: { readonly expected: boolean; readonly signal: AbortSignal },
): Promise<ObservedPool[]> {
  const pools = from.watch.pools.byIndex("loadbalancer", lb.id);
  return Promise.all(pools.map((pool) => from.details.of(pool, expected ? undefined : lb, signal)));
}

async function floatingIps(
  from: GatherFrom,
  { service, lb }: BalancerIdentity & { readonly lb: LoadBalancer | undefined },
  signal: AbortSignal,
): Promise<Pick<Observed, "floatingIp" | "ownFloatingIps" | "wantedFloatingIp">> {
  const { watch, clusterName } = from;
  const description = floatingIpDescription(clusterName, service);
  const own = () => watch.floatingIps.list().filter((ip) => ip.description === description);
  // Whether another port still has them is known only after a read that is newer than that load balancer's end.
  const elsewhere = (ip: FloatingIp) => ip.port_id !== null && ip.port_id !== lb?.vip_port_id;
  const served = lb !== undefined && watch.floatingIps.byIndex("port", lb.vip_port_id).length > 0;
  if (!served && own().some(elsewhere)) await watch.floatingIps.refresh(signal);
  const address = service.spec.loadBalancerIP ?? "";
  if (lb && address !== "") await readWantedFloatingIp(from, { address, lb }, signal);
  return {
    floatingIp: lb ? watch.floatingIps.byIndex("port", lb.vip_port_id)[0] : undefined,
    ownFloatingIps: own(),
    wantedFloatingIp: address === "" ? undefined : watch.floatingIps.byIndex("address", address)[0],
  };
}

/**
 * A floating IP that was created or freed just now is not so in the cache: it is read before
 * it is called missing or in use.
 */
async function readWantedFloatingIp(
  { watch, cloud, backoffs, clock }: GatherFrom,
  { address, lb }: { readonly address: string; readonly lb: LoadBalancer },
  signal: AbortSignal,
): Promise<void> {
  const key = floatingIpKey(address);
  const known = watch.floatingIps.byIndex("address", address)[0];
  const usable = known && (known.port_id === null || known.port_id === "" || known.port_id === lb.vip_port_id);
  if (usable || address === lb.vip_address) return backoffs.reset(key);
  if ((backoffs.until(key) ?? 0) > clock.now()) return;
  backoffs.increase(key, floatingIpBackoff);
  for (const found of await cloud.network.floatingIps.all({ floating_ip_address: address }, { signal }))
    watch.floatingIps.observe(found);
}

interface MemberSubnetQuery {
  readonly service: Service;
  readonly nodes: readonly Node[];
  readonly parameters: Parameters;
  readonly lb: LoadBalancer | undefined;
}

/**
 * The cache holds ports as created; refresh it when a new load balancer depends on the server that a port belongs to.
 */
async function freshNodeSubnet(
  from: GatherFrom,
  query: MemberSubnetQuery,
  signal: AbortSignal,
): Promise<Subnet | undefined> {
  const { service, nodes, parameters, lb } = query;
  const family = service.spec.ipFamilies?.[0] ?? "IPv4";
  const known = nodeSubnet(from.watch, nodes, family);
  const placed = parameters.portId ?? parameters.subnetId ?? parameters.networkId;
  if (known || lb || nodes.length === 0 || placed !== undefined) return known;
  await Promise.all([from.watch.ports.refresh(signal), from.missed.refresh([from.watch.subnets], signal)]);
  return nodeSubnet(from.watch, nodes, family);
}

function nodeSubnet(watch: CloudWatch, nodes: readonly Node[], family: "IPv4" | "IPv6"): Subnet | undefined {
  for (const node of nodes) {
    const address = nodeAddress(node, family);
    const server = node.spec?.providerID?.split("/").at(-1);
    const port =
      address === undefined ? undefined : watch.ports.byIndex("address", address).find((p) => p.device_id === server);
    const fixed = port?.fixed_ips.find((ip) => ip.ip_address === address);
    const subnet = fixed && watch.subnets.get(fixed.subnet_id);
    if (subnet) return subnet;
  }
  return undefined;
}

/** Networks and subnets are listed rarely: refresh them where one is missing that an address is to come from. */
async function freshExternalPlace(
  { watch, missed }: GatherFrom,
  { parameters, lb }: Pick<MemberSubnetQuery, "parameters" | "lb">,
  signal: AbortSignal,
): Promise<ReturnType<typeof externalPlace>> {
  const known = externalPlace(watch, parameters);
  const served = lb && watch.floatingIps.byIndex("port", lb.vip_port_id).length > 0;
  const found = known.externalNetwork !== undefined && known.floatingSubnets?.length !== 0;
  const named = parameters.floatingSubnetId === undefined || known.namedFloatingSubnet !== undefined;
  if (parameters.internal || served === true || (found && named)) return known;
  await missed.refresh([watch.networks, watch.subnets], signal);
  return externalPlace(watch, parameters);
}

function externalPlace(
  watch: CloudWatch,
  parameters: Parameters,
): Pick<Observed, "externalNetwork" | "floatingSubnets" | "namedFloatingSubnet"> {
  const { floatingNetworkId, floatingSubnetId } = parameters;
  const named = floatingSubnetId === undefined ? undefined : watch.subnets.get(floatingSubnetId);
  const network = externalNetwork(watch, floatingNetworkId ?? named?.network_id);
  const subnets = network ? watch.subnets.byIndex("network", network.id) : [];
  return {
    externalNetwork: network,
    floatingSubnets: matchingSubnets(parameters, subnets),
    namedFloatingSubnet: named,
  };
}

function externalNetwork(watch: CloudWatch, id: string | undefined): Network | undefined {
  if (id !== undefined) return watch.networks.get(id);
  return firstExternalNetwork(watch.networks.list(), (network) => watch.subnets.byIndex("network", network.id));
}
