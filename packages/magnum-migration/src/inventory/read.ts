import { InputError } from "@causeway/foundation";
import type {
  Cloud,
  ContainerInfrastructure,
  LoadBalancer,
  Member,
  Orchestration,
  Port,
  Server,
} from "@causeway/openstack";

import type { ImageFacts } from "./images.ts";
import { readImages } from "./read-images.ts";

type Json = Readonly<Record<string, unknown>>;
type MagnumCluster = ContainerInfrastructure.MagnumCluster;
type StackResource = Orchestration.StackResource;

/** A stack of the cluster with all resources below it. */
export interface StackFacts {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly resources: readonly StackResource[];
  /** Of the driver's template, as it was created or last updated; hidden ones are masked. */
  readonly parameters?: Json;
}

/** A load balancer with its listener's port, its pool and the pool's members. */
export interface BalancerFacts {
  readonly balancer: LoadBalancer;
  readonly port: number;
  readonly poolId: string;
  readonly members: readonly Member[];
}

/** All that the inventory is made from, as the services return it. */
export interface ClusterFacts {
  readonly cluster: Json & MagnumCluster;
  readonly template: Json;
  readonly groups: readonly Json[];
  readonly stacks: readonly StackFacts[];
  readonly servers: readonly Server[];
  readonly ports: readonly Port[];
  readonly balancers: readonly BalancerFacts[];
  /** Of workers. */
  readonly images: readonly ImageFacts[];
}

/** Deeper than Magnum's driver nests. */
const DEPTH = 5;

/**
 * Reads a cluster from Magnum, Heat, Nova, Neutron, Octavia and Glance; nothing is written. @throws
 * MIGRATE_CLUSTER_UNKNOWN
 */
export async function readCluster(cloud: Cloud, ident: string, signal: AbortSignal): Promise<ClusterFacts> {
  const magnum = cloud.containerInfrastructure;
  const cluster = await magnum.clusters.find(ident, { signal });
  if (!cluster)
    throw new InputError("MIGRATE_CLUSTER_UNKNOWN", `Magnum has no cluster ${ident} in this project`, {
      hint: "List the clusters with: openstack coe cluster list",
    });
  const template = await magnum.clusterTemplates.get(cluster.cluster_template_id, { signal });
  // Lists of node groups have no labels.
  const listed = await magnum.nodeGroups(cluster.uuid).all({}, { signal });
  const groups = (await Promise.all(
    listed.map(({ uuid }) => magnum.nodeGroups(cluster.uuid).get(uuid, { signal })),
  )) as unknown as readonly Json[];
  const ids = new Set([
    cluster.stack_id,
    ...groups.map((group) => String((group["stack_id"] ?? cluster.stack_id) as string)),
  ]);
  const stacks: StackFacts[] = [];
  for (const id of ids) {
    const stack = await cloud.orchestration.find(id, { signal });
    if (!stack) continue;
    const resources = await cloud.orchestration.resources(stack, { depth: DEPTH, signal });
    const { id: stackId, stack_name: name, stack_status: status, parameters = {} } = stack;
    stacks.push({ id: stackId, name, status, resources, parameters });
  }
  const named = new Set(stacks.flatMap(({ resources }) => resources.map((one) => one.physical_resource_id)));
  const servers = (await cloud.compute.servers.all({}, { signal })).filter(({ id }) => named.has(id));
  const serverIds = new Set(servers.map(({ id }) => id));
  const ports = (await cloud.network.ports.all({}, { signal })).filter(({ device_id }) => serverIds.has(device_id));
  const balancers = await readBalancers(cloud, named, signal);
  const images = groups.filter((group) => group["role"] !== "master").flatMap((group) => imageOf(group));
  return {
    cluster: cluster as Json & MagnumCluster,
    template: template as unknown as Json,
    groups,
    stacks,
    servers,
    ports,
    balancers,
    images: await readImages(cloud, images, signal),
  };
}

const imageOf = ({ image_id: ident }: Json): string[] => (typeof ident === "string" && ident !== "" ? [ident] : []);

async function readBalancers(cloud: Cloud, named: ReadonlySet<string>, signal: AbortSignal): Promise<BalancerFacts[]> {
  if (!(await cloud.has("load-balancer", { signal }))) return [];
  const { loadBalancing } = cloud;
  const all = (await loadBalancing.loadBalancers.all({}, { signal })).filter(({ id }) => named.has(id));
  return Promise.all(
    all.map(async (balancer) => {
      const [listener] = await loadBalancing.listeners.all({ loadbalancer_id: balancer.id }, { signal });
      const poolId = balancer.pools[0]?.id ?? "";
      const members = poolId === "" ? [] : await loadBalancing.members(poolId).all({}, { signal });
      return { balancer, port: listener?.protocol_port ?? 0, poolId, members };
    }),
  );
}
