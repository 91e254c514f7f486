import type { OpenStackClusterSpec } from "@causeway/api";
import type { PlannedEvent } from "@causeway/kubernetes";
import { isOfPolicies, limitsOf, nextTreeChange, partsInCreate, type ObservedTree } from "@causeway/octavia-tree";
import type { LoadBalancer, LoadBalancerCreate, Network, Subnet } from "@causeway/openstack";
import { parseCidr } from "../resources/cidr.ts";
import { description, loadBalancerName } from "../resources/naming.ts";
import { findOwned } from "../resources/ownership.ts";
import { resolveParameter, resolveSubnet } from "../resources/parameters.ts";
import { bastionAddresses } from "./bastion.ts";
import {
  desiredTree,
  endpointOwnership,
  isProvisioned,
  keptMembers,
  observedTree,
  type EndpointSite,
} from "./endpoint-tree.ts";
import { found, missing, type ClusterContext, type Part } from "./model.ts";
import type { ClusterStep } from "./steps.ts";
import { duplicates, type NetworkPart } from "./network.ts";
import type { RouterPart } from "./router.ts";

type Wanted = NonNullable<NonNullable<OpenStackClusterSpec["apiServer"]>["managedLoadBalancer"]>;

/** The load balancer's share of the endpoint part. */
export interface BalancerPart extends Part {
  readonly loadBalancer?: LoadBalancer;
}

interface Site extends EndpointSite {
  readonly network?: Network;
  /** Where the VIP is. */
  readonly subnets: readonly Subnet[];
}

const type = "APIEndpointReady";

/** The load balancer before the API servers, made whole in one call, then kept as declared. */
export function planLoadBalancer(context: ClusterContext, network: NetworkPart, router: RouterPart): BalancerPart {
  const { cloud, crn, object } = context;
  const wanted = object.spec.apiServer?.managedLoadBalancer ?? {};
  if (!cloud.loadBalancing.available) {
    const message = "The cloud has no load-balancer service; set spec.apiServer.managedLoadBalancer.enabled to false";
    return broken("LoadBalancerServiceMissing", message);
  }
  if (network.subnets.length === 0)
    return { ...broken("WaitingForNetwork", "Waiting for the network"), waitsForOthers: true };
  const site = siteOf(context, wanted, network, router);
  if (typeof site === "string") return broken("LoadBalancerNetworkNotFound", site);
  const name = loadBalancerName(crn);
  const mark = {
    name,
    description: description(crn),
    projectId: cloud.projectId,
    recordedId: object.status?.apiServerManagedLoadBalancer?.id,
  };
  const balancers = cloud.loadBalancing.loadBalancers.filter((lb) => lb.provisioning_status !== "DELETED");
  const result = findOwned(balancers, mark);
  if (result.kind === "several") return broken("DuplicateLoadBalancer", duplicates("load balancers", name, result.ids));
  if (result.kind === "one") return planExisting(context, result.resource, site);
  return planCreate(context, wanted, site);
}

function planCreate(context: ClusterContext, wanted: Wanted, site: Site): BalancerPart {
  const { providers } = context.cloud.loadBalancing;
  const unknown = wanted.provider !== undefined && !providers.includes(wanted.provider);
  const events: PlannedEvent[] = unknown
    ? [
        {
          type: "Warning",
          reason: "LoadBalancerProviderNotFound",
          message: `Load-balancer provider ${wanted.provider} does not exist, the default is used; available: ${providers.join(", ")}`,
        },
      ]
    : [];
  const provider = unknown ? undefined : wanted.provider;
  return {
    finding: missing(type, "CreatingLoadBalancer", `Creating load balancer ${loadBalancerName(context.crn)}`),
    steps: [{ for: type, type: "create-load-balancer", body: balancerBody(context, { ...wanted, provider }, site) }],
    events,
  };
}

function balancerBody(
  context: ClusterContext,
  wanted: Omit<Wanted, "provider"> & { provider: string | undefined },
  site: Site,
): LoadBalancerCreate {
  const { crn, tags, object } = context;
  const fixed = object.spec.apiServer?.fixedIP;
  const whole = desiredTree(context, site, { provider: wanted.provider });
  // A monitor in the create of OVN's provider remains PENDING_CREATE, and members that come later OFFLINE.
  const tree = limitsOf(wanted.provider).monitorInCreate
    ? whole
    : { ...whole, pools: whole.pools.map((pool) => ({ ...pool, monitor: undefined })) };
  return {
    name: loadBalancerName(crn),
    description: description(crn),
    ...(site.network ? { vip_network_id: site.network.id } : {}),
    ...(site.subnets[0] ? { vip_subnet_id: site.subnets[0].id } : {}),
    ...(fixed ? { vip_address: fixed } : {}),
    ...(wanted.provider ? { provider: wanted.provider } : {}),
    ...(wanted.flavor ? { flavor_id: wanted.flavor } : {}),
    ...(wanted.availabilityZone ? { availability_zone: wanted.availabilityZone } : {}),
    ...(tags.length > 0 ? { tags: [...tags] } : {}),
    ...partsInCreate(tree, endpointOwnership.policyDescription),
  };
}

function planExisting(context: ClusterContext, loadBalancer: LoadBalancer, site: Site): BalancerPart {
  const { name, id, provisioning_status: status } = loadBalancer;
  if (status === "ERROR") {
    const message = `Load balancer ${name} (${id}) is in ERROR; inspect it in Octavia: openstack loadbalancer show ${id}`;
    return { finding: missing(type, "LoadBalancerError", message), steps: [], loadBalancer };
  }
  if (status !== "ACTIVE") {
    const wait = `load balancer ${name} (${id}) to be ACTIVE; it is ${status}`;
    const recorded = context.object.spec.controlPlaneEndpoint?.host !== undefined;
    const finding = recorded
      ? found(type, "LoadBalancerUpdating", `Load balancer ${name} is ${status}`)
      : missing(type, "WaitingForLoadBalancer", `Waiting for ${wait}`);
    return { finding, steps: [], wait, loadBalancer };
  }
  const tree = observedTree(context.cloud.loadBalancing, loadBalancer);
  const unlisted = partsToList(context, tree);
  if (unlisted !== undefined) {
    const wait = `${unlisted} of load balancer ${name} to be listed`;
    const refresh = ["listeners", "pools"] as const;
    // Its monitor is still to come, without which the endpoint is not reported.
    const isUnfinished = !limitsOf(loadBalancer.provider).monitorInCreate && !isProvisioned(context);
    const finding = isUnfinished
      ? missing(type, "WaitingForLoadBalancer", `Waiting for ${wait}`)
      : found(type, "LoadBalancerReady");
    return { finding, steps: [], wait, refresh, loadBalancer };
  }
  // Each change makes the load balancer immutable for a while, so one at a time.
  const change = nextChange(context, tree, site);
  const isUnfinished =
    change?.type === "change-load-balancer" && change.change.type === "create-monitor" && !isProvisioned(context);
  const finding = isUnfinished
    ? missing(type, "CreatingMonitor", `Creating the health monitor of load balancer ${name}`)
    : found(type, "LoadBalancerReady");
  const base = { finding, steps: change ? [change] : [], loadBalancer };
  const kept = keptMembers(context, site, tree);
  if (kept.length === 0 || change) return base;
  const wait = `another member of load balancer ${name} to serve; the members of ${kept.join(", ")} remain until then`;
  return { ...base, wait, refresh: ["pools"] };
}

/** Listeners and pools come by lists of their own, which may be older than that of the load balancers. */
function partsToList(context: ClusterContext, { lb, listeners: own }: ObservedTree): string | undefined {
  const { listeners, pools } = context.cloud.loadBalancing;
  if (lb.listeners.some(({ id }) => !listeners.some((l) => l.id === id))) return "listeners";
  const named = [...own.map((l) => l.default_pool_id), ...lb.pools.map(({ id }) => id)];
  return named.some((id) => id !== null && !pools.some((p) => p.id === id)) ? "pools" : undefined;
}

function nextChange(context: ClusterContext, tree: ObservedTree, site: Site): ClusterStep | undefined {
  const wanted = desiredTree(context, site, { provider: tree.lb.provider, tree });
  const change = nextTreeChange(wanted, tree, endpointOwnership);
  if (!change || isOfPolicies(change)) return undefined;
  return { for: type, type: "change-load-balancer", loadBalancerId: tree.lb.id, change };
}

function siteOf(context: ClusterContext, wanted: Wanted, network: NetworkPart, router: RouterPart): Site | string {
  const { cloud } = context;
  const inside = [...network.subnets.map((s) => s.cidr), ...bastionSources(context)];
  const base = { memberSubnets: network.subnets, allowedCidrs: allowedCidrs(wanted, inside, router) };
  if (!wanted.network && !wanted.subnets?.length) return { ...base, subnets: network.subnets };
  const where = "spec.apiServer.managedLoadBalancer";
  const chosen = wanted.network && resolveParameter(wanted.network, cloud.networks, `${where}.network`);
  if (chosen && !chosen.ok) return chosen.problem;
  const candidates = cloud.subnets.filter((s) => !chosen || s.network_id === chosen.resource.id);
  const subnets: Subnet[] = [];
  for (const [i, parameter] of (wanted.subnets ?? []).entries()) {
    const subnet = resolveSubnet(parameter, candidates, `${where}.subnets[${i}]`);
    if (!subnet.ok) return subnet.problem;
    subnets.push(subnet.resource);
  }
  return { ...base, subnets, ...(chosen ? { network: chosen.resource } : {}) };
}

/** The addresses from which the bastion's connections come. */
function bastionSources(context: ClusterContext): string[] {
  const { spec, status } = context.object;
  if (!spec.bastion || spec.bastion.enabled === false) return [];
  const own = bastionAddresses(context).map((ip) => ip.floating_ip_address);
  return [status?.bastion?.ip, spec.bastion.floatingIP, ...own].filter((address) => address !== undefined);
}

/** Whom the user lets in, and the cluster itself: `inside`, and its router's outer addresses. IPv4 only, sorted. */
function allowedCidrs(wanted: Wanted, inside: readonly string[], { router }: RouterPart): string[] {
  if (!wanted.allowedCIDRs?.length) return [];
  const outer = (router?.external_gateway_info?.external_fixed_ips ?? []).flatMap((ip) => ip.ip_address ?? []);
  const all = [...wanted.allowedCIDRs, ...inside, ...outer];
  const parsed = all.map((c) => parseCidr(c.includes("/") ? c : `${c}/32`)).filter((c) => c?.version === 4);
  return [...new Set(parsed.flatMap((c) => c?.text ?? []))].sort();
}

function broken(reason: string, message: string): BalancerPart {
  return { finding: missing(type, reason, message), steps: [] };
}
