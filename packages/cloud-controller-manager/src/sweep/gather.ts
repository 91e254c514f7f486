import { InputError } from "@causeway/foundation";
import { Node, Service, type KubernetesClient } from "@causeway/kubernetes";
import type { Cloud, FloatingIp, LoadBalancer, Port, SecurityGroup } from "@causeway/openstack";
import { parseProviderId } from "../node/provider-id.ts";

/** What a sweep is planned from. */
export interface Observed {
  readonly clusterName: string;
  readonly services: readonly Service[];
  readonly loadBalancers: readonly LoadBalancer[];
  readonly floatingIps: readonly FloatingIp[];
  readonly securityGroups: readonly SecurityGroup[];
  readonly ports: readonly Port[];
}

/** The cluster and the project that a sweep compares. */
export interface SweepFrom {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly clusterName: string;
}

/**
 * Reads the cloud first and the Services after it: one that is made meanwhile is among them. Throws SWEEP_OTHER_CLUSTER
 * where no node of the cluster is a server of this project: Services of another cluster would make all of this one's
 * seem dead.
 */
export async function gatherSweep({ client, cloud, clusterName }: SweepFrom, signal: AbortSignal): Promise<Observed> {
  const { servers, ...found } = await readProject(cloud, signal);
  const nodes = (await client.list(Node, { signal })).items;
  const known = new Set(servers.map((server) => server.id));
  if (!nodes.some((node) => known.has(parseProviderId(node.spec?.providerID)?.serverId ?? "")))
    throw new InputError("SWEEP_OTHER_CLUSTER", "No node of this cluster is a server of this project.", {
      hint: "Specify the kubeconfig of the cluster, and the cloud and project that its nodes are in.",
    });
  const services = (await client.list(Service, { signal })).items;
  return { clusterName, services, ...found };
}

/** What `readProject` returns. */
export type Project = Awaited<ReturnType<typeof readProject>>;

/** What Services may have left in the project, and its servers. */
export async function readProject(cloud: Cloud, signal: AbortSignal) {
  const call = { signal };
  const query = { project_id: await cloud.projectId(call) };
  const octavia = await cloud.has("load-balancer", call);
  const [loadBalancers, floatingIps, securityGroups, ports, servers] = await Promise.all([
    octavia ? cloud.loadBalancing.loadBalancers.all(query, call) : [],
    cloud.network.floatingIps.all(query, call),
    cloud.network.securityGroups.all(query, call),
    cloud.network.ports.all(query, call),
    cloud.compute.servers.all({}, call),
  ]);
  return { loadBalancers, floatingIps, securityGroups, ports, servers };
}
