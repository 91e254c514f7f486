import {
  limitsOf,
  transport,
  type DesiredListener,
  type DesiredMonitor,
  type DesiredPool,
  type DesiredTree,
  type ObservedTree,
  type Ownership,
} from "@causeway/octavia-tree";
import type { LoadBalancer, Member, Subnet } from "@causeway/openstack";
import { listenerName } from "../resources/naming.ts";
import { apiPorts } from "./endpoint-port.ts";
import { desiredMembers, type DesiredMembers } from "./members.ts";
import type { ClusterContext, LoadBalancing } from "./model.ts";

/** Whom the API's listeners let in, and where the API servers are. */
export interface EndpointSite {
  readonly memberSubnets: readonly Subnet[];
  readonly allowedCidrs: readonly string[];
}

/** Nothing below the API's load balancer is deleted: a port that left the spec keeps its listener. */
export const endpointOwnership: Ownership = {
  listener: () => false,
  pool: () => false,
  policy: () => false,
  policyDescription: "",
};

type Parts = Pick<LoadBalancing, "listeners" | "pools" | "members">;

/** What the cloud has below a load balancer. Monitors are not read: they are written with their pools alone. */
export function observedTree({ listeners, pools, members }: Parts, lb: LoadBalancer): ObservedTree {
  const isBelow = ({ loadbalancers }: { readonly loadbalancers: readonly { readonly id: string }[] }): boolean =>
    loadbalancers.some(({ id }) => id === lb.id);
  return {
    lb,
    listeners: listeners.filter(isBelow),
    pools: pools.filter(isBelow).map((pool) => ({ pool, members: members.get(pool.id) ?? [], monitor: undefined })),
    policies: new Map(),
  };
}

/**
 * The API's load balancer: for each port a listener with a pool of the control-plane machines. `tree`: what is there;
 * undefined: nothing yet.
 */
export function desiredTree(
  context: ClusterContext,
  site: EndpointSite,
  { provider, tree }: { readonly provider: string | undefined; readonly tree?: ObservedTree },
): DesiredTree {
  const ports = apiPorts(context.object.spec).map((port) => {
    // The protocol of a listener or pool is immutable: those that are there keep theirs.
    const listener = tree?.listeners.find((l) => l.protocol_port === port && transport(l.protocol) === "TCP");
    const pool = tree?.pools.find((p) => p.pool.id === listener?.default_pool_id)?.pool;
    const name = listenerName(context.crn, port);
    const place = { name, port, provider, present: membersOf(tree, name) };
    // A pool of another name was put there by an operator, who manages its members.
    const isOurs = pool === undefined || pool.name === name;
    return {
      listener: desiredListener(context, site, { name, port, protocol: listener?.protocol ?? "TCP" }),
      pools: isOurs ? [desiredPool(context, site, { ...place, protocol: pool?.protocol ?? "TCP" })] : [],
    };
  });
  return {
    upkeep: "access",
    tags: context.tags,
    listeners: ports.map(({ listener }) => listener),
    pools: ports.flatMap(({ pools }) => pools),
  };
}

/** Names of the deleted machines whose members remain in a pool of ours until others serve. */
export function keptMembers(context: ClusterContext, { memberSubnets }: EndpointSite, tree: ObservedTree): string[] {
  const kept = apiPorts(context.object.spec).flatMap((port): DesiredMembers["kept"] => {
    const name = listenerName(context.crn, port);
    return desiredMembers(context, { name, port, present: membersOf(tree, name) }, memberSubnets).kept;
  });
  return [...new Set(kept)];
}

function membersOf(tree: ObservedTree | undefined, name: string): readonly Member[] {
  return tree?.pools.find(({ pool }) => pool.name === name)?.members ?? [];
}

interface Place<Protocol> {
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
}

function desiredListener(
  { tags }: ClusterContext,
  { allowedCidrs }: EndpointSite,
  { name, port, protocol }: Place<DesiredListener["protocol"]>,
): DesiredListener {
  return {
    listenerName: name,
    protocol,
    port,
    defaultPool: name,
    policies: [],
    tags,
    connectionLimit: -1,
    // Also where the provider has none: it refuses them, and the API is not open to those who are kept out.
    allowedCidrs,
    tlsContainerRef: undefined,
    insertHeaders: undefined,
    timeouts: undefined,
  };
}

interface PoolPlace extends Place<DesiredPool["poolProtocol"]> {
  readonly provider: string | undefined;
  readonly present: readonly Member[];
}

function desiredPool(
  context: ClusterContext,
  { memberSubnets }: EndpointSite,
  { name, port, protocol, provider, present }: PoolPlace,
): DesiredPool {
  const { algorithm = "ROUND_ROBIN", memberCosts, monitorInCreate } = limitsOf(provider);
  return {
    poolName: name,
    poolProtocol: protocol,
    poolTags: context.tags,
    algorithm,
    persistence: null,
    members: desiredMembers(context, { name, port, present }, memberSubnets).members,
    monitor: desiredMonitor(context, provider),
    monitorName: name,
    isNew: !monitorInCreate && !isProvisioned(context),
    serial: false,
    memberCosts,
  };
}

/** Whether the cluster has had its endpoint: from then on the monitors are the operator's. */
export function isProvisioned({ object }: Pick<ClusterContext, "object">): boolean {
  return object.status?.initialization?.provisioned === true;
}

function desiredMonitor({ object, cloud }: ClusterContext, provider: string | undefined): DesiredMonitor | undefined {
  if (provider !== undefined && cloud.loadBalancing.withoutMonitors.includes(provider)) return undefined;
  const { monitor = {} } = object.spec.apiServer?.managedLoadBalancer ?? {};
  const { delay = 10, timeout = 5, maxRetries = 5, maxRetriesDown = 3 } = monitor;
  return { type: "TCP", delay, timeout, maxRetries, maxRetriesDown };
}
