import type { Clock } from "@causeway/foundation";
import type { Brake, Node, ObjectKey } from "@causeway/kubernetes";
import {
  errorKey,
  immutableKey,
  Backoffs,
  PolicyDetails,
  PoolDetails,
  TreeFreshness,
  uncertainKey,
  type ObservedTree,
} from "@causeway/octavia-tree";
import type { Cloud, CloudWatch, LoadBalancer } from "@causeway/openstack";
import { CertificateStore } from "../certificates/store.ts";
import type { IngressConfig } from "../config/config.ts";
import type { StoredPoolRecord } from "../pool-record/pool-record.ts";
import { certificatePrefixes, type Owner } from "../names.ts";
import type { ObservedBalancer, IpFamily } from "./balancer.ts";
import { earlierCreateUntil, LOST_FOR } from "./plan-earlier.ts";
import { selectBalancers } from "./plan-selection.ts";
import { GroupReader } from "./security-group/gather-group.ts";

/** What is kept between reads of the cloud, for all owners. */
export interface BalancerMemory {
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly details: PoolDetails;
  /** What an earlier process knew of pools. */
  readonly record: StoredPoolRecord | undefined;
  readonly policies: PolicyDetails;
  readonly freshness: TreeFreshness;
  readonly backoffs: Backoffs;
  readonly certificates: CertificateStore;
  readonly groups: GroupReader;
  readonly clock: Clock;
  /** When (ms since the epoch) this process began, and owners of which no earlier process can have created anything. */
  readonly began: number;
  readonly fresh: Set<string>;
}

/** A memory that begins with nothing but the record of an earlier process. */
export function balancerMemory(
  cloud: Cloud,
  watch: CloudWatch,
  clock: Clock,
  config: IngressConfig & { readonly record?: StoredPoolRecord | undefined },
): BalancerMemory {
  const { clusterName, manageSecurityGroups, record } = config;
  return {
    cloud,
    watch,
    details: new PoolDetails(cloud, record),
    record,
    policies: new PolicyDetails(cloud, () => watch.listeners.list()),
    freshness: new TreeFreshness(watch),
    backoffs: new Backoffs(clock),
    certificates: new CertificateStore(cloud, clock, certificatePrefixes(clusterName)),
    groups: new GroupReader(cloud, watch, manageSecurityGroups),
    clock,
    began: clock.now(),
    fresh: new Set(),
  };
}

/** Whose load balancer is gathered, and which parts of the cloud it concerns. */
export interface GatherBalancer {
  readonly owner: Owner;
  readonly key: ObjectKey;
  readonly brake: Brake;
  /** Are floating IPs and certificates of any interest? */
  readonly floating: boolean;
  readonly tls: boolean;
  readonly address: string | undefined;
  /** Where members are, and where the load balancer is. */
  readonly nodes: readonly Node[];
  /** Addresses of pods that are members. */
  readonly pods: readonly string[];
  readonly subnetId: string;
  /** Clients are limited to some ranges, which have to be of the VIP's family. */
  readonly ranged: boolean;
  /** It had our finalizer when it was first seen. */
  readonly held: boolean;
}

/** Reads a load balancer with all that belongs to it, from informers and digests where they are fresh. */
export async function gatherBalancer(
  memory: BalancerMemory,
  from: GatherBalancer,
  signal: AbortSignal,
): Promise<ObservedBalancer> {
  const { watch, backoffs, certificates } = memory;
  const { owner, brake, key } = from;
  const { loadBalancers, listeners, pools, floatingIps } = watch;
  const needed = [loadBalancers, listeners, pools, ...(from.floating ? [floatingIps] : [])];
  await Promise.all([...needed.map((informer) => informer.start(signal)), memory.record?.ready(signal)]);
  const stored = from.tls ? await certificates.all(signal) : await certificates.left(signal);
  const all = [...new Set([...loadBalancers.byIndex("name", owner.name), ...loadBalancers.byIndex("tag", owner.tag)])];
  const { found, leaving } = selectBalancers(all, owner);
  const [lb] = found;
  // What an earlier process created has been seen.
  if (all.length > 0) memory.fresh.add(owner.tag);
  return {
    owner,
    found,
    leaving,
    tree: lb ? await treeOf(memory, lb, signal) : undefined,
    floatingIp: lb && from.floating ? floatingIps.byIndex("port", lb.vip_port_id)[0] : undefined,
    named: from.address === undefined || !from.floating ? undefined : floatingIps.byIndex("address", from.address)[0],
    own: from.floating ? floatingIps.list().filter((ip) => ip.description === owner.floatingIpDescription) : [],
    stored,
    group: await memory.groups.of(from, signal),
    family: from.ranged ? await familyOf(memory, lb, from.subnetId, signal) : undefined,
    held: {
      uncertain: latest(backoffs.until(uncertainKey(owner.name)), lb ? undefined : earlierCreate(memory, from)),
      busy: lb && backoffs.until(immutableKey(lb.id)),
      broken: backoffs.until(errorKey(owner.name)),
      braked: (step) => brake.holdOf(key, step)?.until,
    },
  };
}

/**
 * Begins to read all that the first reads of load balancers need, so that none waits for another. What fails is read
 * again by the reconcile that needs it.
 */
export function readAhead(memory: BalancerMemory, floating: boolean, signal: AbortSignal): void {
  const { watch, certificates, groups, record } = memory;
  const { loadBalancers, listeners, pools, floatingIps } = watch;
  const lists = [loadBalancers, listeners, pools, ...(floating ? [floatingIps] : [])];
  const begun: (Promise<unknown> | undefined)[] = lists.map((informer) => informer.start(signal));
  begun.push(certificates.left(signal), groups.readAhead(signal), record?.ready(signal));
  for (const each of begun) each?.catch(() => {});
}

async function treeOf(
  memory: BalancerMemory,
  lb: LoadBalancer,
  signal: AbortSignal,
): Promise<ObservedTree | undefined> {
  if (lb.provisioning_status !== "ACTIVE") return undefined;
  const { watch, freshness, details, policies } = memory;
  await freshness.ensure(lb, signal);
  const listeners = watch.listeners.byIndex("loadbalancer", lb.id);
  const pools = watch.pools.byIndex("loadbalancer", lb.id);
  const [observedPools, byListener] = await Promise.all([
    Promise.all(pools.map((pool) => details.of(pool, lb, signal))),
    Promise.all(listeners.map(async (l) => [l.id, await policies.of(l, signal)] as const)),
  ]);
  return { lb, listeners, pools: observedPools, policies: new Map(byListener) };
}

async function familyOf(
  { groups }: BalancerMemory,
  lb: LoadBalancer | undefined,
  subnetId: string,
  signal: AbortSignal,
): Promise<IpFamily | undefined> {
  const address = lb?.vip_address ?? (await groups.cidr(subnetId, signal));
  return address === undefined ? undefined : address.includes(":") ? 6 : 4;
}

/** Until when a create of an earlier process may be under way; undefined: none can be. */
function earlierCreate({ began, clock, fresh }: BalancerMemory, { owner, held }: GatherBalancer): number | undefined {
  if (clock.now() - began > 2 * LOST_FOR) {
    fresh.clear();
    return undefined;
  }
  if (!held) fresh.add(owner.tag);
  return earlierCreateUntil({ began, isFresh: fresh.has(owner.tag) });
}

function latest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
