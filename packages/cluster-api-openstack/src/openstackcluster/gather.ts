import {
  annotations,
  labels,
  type Cluster,
  type Machine,
  type OpenStackCluster,
  type OpenStackClusterIdentity,
  type OpenStackMachine,
  type OpenStackServer,
} from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import {
  isDeleting,
  type Informer,
  type KubeObject,
  type Namespace,
  type ObjectKey,
  type Secret,
} from "@causeway/kubernetes";
import {
  isUnauthorized,
  type CloudInformer,
  type CloudWatch,
  type Listener,
  type Member,
  type Pool,
} from "@causeway/openstack";
import {
  limitsRate,
  refusedList,
  unavailable,
  type Session,
  type Sessions,
  type Startable,
} from "../identity/sessions.ts";
import type { Refusals } from "../reactions/refusals.ts";
import type { Interests } from "../reactions/interests.ts";
import type { ListRequests } from "../reactions/list-requests.ts";
import { bastionName, clusterResourceName, listenerName, loadBalancerName, networkName } from "../resources/naming.ts";
import { apiPorts } from "./endpoint-port.ts";
import { isStaying } from "./leaving.ts";
import { seesLoadBalancers } from "./load-balancers-seen.ts";
import { dependsOnStates, isControlPlane } from "./members.ts";
import { interestsOf } from "./interests.ts";
import type { ClusterCloud, Observed, LoadBalancing, ReservedRange } from "./model.ts";

/** The informers that an OpenStackCluster is gathered from, and its sessions with clouds. */
export interface ClusterSources {
  readonly clusters: Informer<Cluster>;
  readonly openStackClusters: Informer<OpenStackCluster>;
  /** Indexed by "cluster": "namespace/cluster". */
  readonly machines: Informer<OpenStackMachine>;
  /** Of Cluster API: the owners of those. */
  readonly owners: Informer<Machine>;
  readonly secrets: Informer<Secret>;
  readonly openStackServers: Informer<OpenStackServer>;
  readonly clusterIdentities: Informer<OpenStackClusterIdentity>;
  readonly namespaces: Informer<Namespace>;
  readonly sessions: Sessions;
  readonly interests: Interests;
  readonly refusals: Refusals;
  readonly listRequests: ListRequests;
}

/** What was read, and with which session the steps are to be made. */
export interface ClusterGathered extends Observed {
  readonly session: Session | undefined;
  readonly crn: string;
}

/**
 * Reads an OpenStackCluster, its owner, and the resources of its project. Calls OpenStack only for what is not cached.
 */
export async function gather(
  sources: ClusterSources,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ClusterGathered | undefined> {
  const object = sources.openStackClusters.get(key);
  if (!object) {
    sources.interests.clear(key);
    return undefined;
  }
  const clusterName = ownerName(object, "Cluster");
  const cluster =
    clusterName === undefined ? undefined : sources.clusters.get({ namespace: key.namespace, name: clusterName });
  return observeCluster(sources, { object, clusterName, cluster }, signal);
}

/** The objects that a cluster is read by, as they are or as they would be. */
export interface ClusterObjects {
  readonly object: OpenStackCluster;
  readonly clusterName: string | undefined;
  readonly cluster: Cluster | undefined;
}

/** Reads what belongs to these objects. */
export async function observeCluster(
  sources: ClusterSources,
  { object, clusterName, cluster }: ClusterObjects,
  signal: AbortSignal,
): Promise<ClusterGathered> {
  const key = { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
  const crn = clusterResourceName(key.namespace, clusterName ?? key.name);
  const machines = sources.machines.byIndex("cluster", `${key.namespace}/${clusterName ?? key.name}`);
  const base = {
    object,
    clusterName,
    crn,
    paused: isPaused(object, cluster) || object.metadata.annotations?.[annotations.managedBy] !== undefined,
    machines,
    leaving: leavingOf(sources, machines),
    reserved: reservedBy(cluster),
    controlPlane: cluster?.spec.controlPlaneRef,
    bastion: sources.openStackServers.get({ ...key, name: bastionName(clusterName ?? key.name) }),
    hold: sources.refusals.get(object),
    isLeaving: isDeleting(object) || (cluster !== undefined && isDeleting(cluster)),
  };
  const place = { reference: object.spec.identityRef, namespace: key.namespace };
  const opened = await sources.sessions.get(place, (watch) => neededOf(object, watch), signal);
  if (!opened.ok) return { ...base, session: undefined, identity: opened };
  const { session } = opened;
  // A deletion waits for changes in the cloud, and there would be none for ever.
  const refused = base.isLeaving ? refusedList(neededOf(object, session.watch)) : undefined;
  if (refused !== undefined) return { ...base, session: undefined, identity: refused };
  const listed: ReadContext["listed"] = async (informer) => {
    try {
      await sources.sessions.listed(informer, place, signal);
    } catch (error) {
      signal.throwIfAborted();
      const pause = isUnauthorized(error) ? undefined : session.cloud.pause("load-balancer");
      if (pause === undefined) throw error;
      if (pause.isUnavailable)
        throw new CausewayError("OPENSTACK_UNAVAILABLE", unavailable("Octavia", pause.until), { cause: error });
      throw new CausewayError("OPENSTACK_RATE_LIMITED", limitsRate("Octavia"), { cause: error });
    }
  };
  const needsStates = dependsOnStates(base);
  const cloud = await readCloud(object, { session, crn, listed, needsStates }, signal);
  sources.interests.set(key, interestsOf({ ...base, crn }, cloud));
  return { ...base, session, identity: { ok: true, cloud } };
}

/** Names of the control-plane machines whose Machines are drained and wait for hooks before they go. */
function leavingOf({ owners }: ClusterSources, machines: readonly OpenStackMachine[]): ReadonlySet<string> {
  const left = machines.filter(
    (machine) => isControlPlane(machine) && !isDeleting(machine) && !isStaying(machine, owners),
  );
  return new Set(left.map(({ metadata }) => metadata.name));
}

function reservedBy(cluster: Cluster | undefined): ReservedRange[] {
  const { services, pods } = cluster?.spec.clusterNetwork ?? {};
  const ranges = (use: string, cidrs: readonly string[] = []) => cidrs.map((cidr) => ({ use, cidr }));
  return [...ranges("service", services?.cidrBlocks), ...ranges("pod", pods?.cidrBlocks)];
}

/** The name of the owner of a kind; the label serves where the reference has not been set. */
export function ownerName(object: KubeObject, kind: string): string | undefined {
  const reference = object.metadata.ownerReferences?.find((r) => r.kind === kind);
  return (
    reference?.name ??
    (kind === "Cluster" && isDeleting(object) ? object.metadata.labels?.[labels.clusterName] : undefined)
  );
}

/**
 * The rule of Cluster API: spec.paused of the Cluster, or annotation cluster.x-k8s.io/paused of any value on the
 * object.
 */
export function isPaused(object: KubeObject, cluster: Cluster | undefined): boolean {
  return cluster?.spec.paused === true || object.metadata.annotations?.[annotations.paused] !== undefined;
}

/** Whether the spec asks for a load balancer before the API servers. */
export function usesBalancer(object: OpenStackCluster): boolean {
  const balancer = object.spec.apiServer?.managedLoadBalancer;
  return balancer !== undefined && balancer.enabled !== false;
}

/**
 * The informers that a cluster cannot do without. Those of load balancers are started apart: the service may be
 * missing.
 */
function neededOf(_object: OpenStackCluster, watch: CloudWatch) {
  return [watch.networks, watch.subnets, watch.routers, watch.ports, watch.securityGroups, watch.floatingIps];
}

interface ReadContext {
  readonly session: Session;
  readonly crn: string;
  /** Starts an informer, and awaits a list that is not too old. */
  readonly listed: (informer: Startable) => Promise<void>;
  /** Whether a member may be removed depends on the states of the others. */
  readonly needsStates: boolean;
}

/** How old the states of members may be in milliseconds while something waits for them. */
export const MEMBER_STATES_LAST = 2_000;

async function readCloud(object: OpenStackCluster, reading: ReadContext, signal: AbortSignal): Promise<ClusterCloud> {
  const { session } = reading;
  const { watch, projectId, identity } = session;
  const zones = isDeleting(object) ? [] : await zonesOf(session, signal);
  const loadBalancing = await readLoadBalancing(object, reading, signal);
  return {
    projectId,
    identity,
    // Lists and index are read when the plan is made, so that they show the same moment.
    get networks() {
      return watch.networks.list();
    },
    get subnets() {
      return watch.subnets.list();
    },
    get routers() {
      return watch.routers.list();
    },
    get ports() {
      return watch.ports.list();
    },
    portIndex: { get: (id) => watch.ports.get(id), onDevice: (id) => watch.ports.byIndex("device", id) },
    get securityGroups() {
      return watch.securityGroups.list();
    },
    nameIndex: {
      networks: (name) => watch.networks.byIndex("name", name),
      subnets: (name) => watch.subnets.byIndex("name", name),
      routers: (name) => watch.routers.byIndex("name", name),
      securityGroups: (name) => watch.securityGroups.byIndex("name", name),
    },
    floatingIps: watch.floatingIps.list(),
    loadBalancing,
    zones,
  };
}

/** Without Nova's response the recorded zones remain. */
async function zonesOf(session: Session, signal: AbortSignal): Promise<ClusterCloud["zones"]> {
  try {
    return await session.zones(signal);
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

async function readLoadBalancing(
  object: OpenStackCluster,
  { session, crn, listed, needsStates }: ReadContext,
  signal: AbortSignal,
): Promise<LoadBalancing> {
  const { cloud, watch } = session;
  const withoutMonitors = [...session.withoutMonitors];
  const none = {
    providers: [],
    loadBalancers: [],
    listeners: [],
    pools: [],
    members: new Map<string, Member[]>(),
    withoutMonitors,
  };
  const used = usesBalancer(object);
  const available = (used || isDeleting(object)) && (await cloud.has("load-balancer", { signal }));
  if (!available) return { ...none, available: false };
  if (used) await listed(watch.loadBalancers);
  else if (!(await seesLoadBalancers(() => listed(watch.loadBalancers), watch.ports, networksOf(object, watch, crn))))
    return { ...none, available: false };
  if (!used || isDeleting(object)) return { ...none, available, loadBalancers: watch.loadBalancers.list() };
  await Promise.all([listed(watch.listeners), listed(watch.pools)]);
  const wantsProvider = object.spec.apiServer?.managedLoadBalancer?.provider !== undefined;
  const providers = wantsProvider ? await session.providers(signal) : [];
  // Of the cluster's own: the project may have those of a thousand clusters.
  const loadBalancers = watch.loadBalancers.byIndex("name", loadBalancerName(crn));
  const partsOf = <T extends Listener | Pool>(informer: CloudInformer<T>) => [
    ...new Set(loadBalancers.flatMap(({ id }) => informer.byIndex("loadbalancer", id))),
  ];
  const [listeners, pools] = [partsOf(watch.listeners), partsOf(watch.pools)];
  const members = new Map<string, readonly Member[]>();
  const names = apiPorts(object.spec).map((port) => listenerName(crn, port));
  const maxAge = needsStates ? MEMBER_STATES_LAST : undefined;
  for (const pool of pools) {
    if (names.includes(pool.name)) members.set(pool.id, await session.members(pool, signal, maxAge));
  }
  return { available, providers, loadBalancers, listeners, pools, members, withoutMonitors };
}

/** The ids of the cluster's networks: the one that it is on, and those of its own name. */
function networksOf(object: OpenStackCluster, watch: CloudWatch, crn: string): ReadonlySet<string> {
  const own = watch.networks.byIndex("name", networkName(crn));
  const id = object.status?.network?.id;
  return new Set([...own.map((network) => network.id), ...(id === undefined ? [] : [id])]);
}
