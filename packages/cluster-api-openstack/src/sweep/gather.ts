import { Cluster, labels, OpenStackCluster, OpenStackMachine, OpenStackServer } from "@causeway/api";
import type { KubeObject, KubernetesClient } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import { ownerName } from "../openstackcluster/gather.ts";
import { clusterResourceName } from "../resources/naming.ts";
import type { SweepObserved } from "./model.ts";

/** Where a sweep reads which clusters live, and what is in the project. */
export interface SweepSources {
  /** Of the management cluster. */
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
}

/** Reads the cloud first and the objects after it: a cluster that is created meanwhile is among them. */
export async function gatherClusterSweep({ client, cloud }: SweepSources, signal: AbortSignal): Promise<SweepObserved> {
  const call = { signal };
  const projectId = await cloud.projectId(call);
  const query = { project_id: projectId };
  const [octavia, cinder] = await Promise.all([cloud.has("load-balancer", call), cloud.has("block-storage", call)]);
  const { network } = cloud;
  const [networks, subnets, routers, ports, securityGroups, floatingIps, loadBalancers, servers, volumes] =
    await Promise.all([
      network.networks.all(query, call),
      network.subnets.all(query, call),
      network.routers.all(query, call),
      network.ports.all(query, call),
      network.securityGroups.all(query, call),
      network.floatingIps.all(query, call),
      octavia ? cloud.loadBalancing.loadBalancers.all(query, call) : [],
      cloud.compute.servers.all({}, call),
      cinder ? cloud.blockStorage.volumes.all({}, call) : [],
    ]);
  const living = await livingClusters(client, signal);
  return {
    projectId,
    networks,
    subnets,
    routers,
    ports,
    securityGroups,
    floatingIps,
    loadBalancers: loadBalancers.filter((l) => l.provisioning_status !== "DELETED"),
    servers,
    volumes,
    living,
  };
}

/** A cluster lives while any object of it does. */
export async function livingClusters(client: KubernetesClient, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const [clusters, infrastructures, machines, servers] = await Promise.all([
    client.list(Cluster, { signal }),
    client.list(OpenStackCluster, { signal }),
    client.list(OpenStackMachine, { signal }),
    client.list(OpenStackServer, { signal }),
  ]);
  const names = ({ metadata }: KubeObject, more: readonly (string | undefined)[] = []) =>
    [metadata.labels?.[labels.clusterName], ...more].flatMap((name) =>
      name === undefined ? [] : [clusterResourceName(metadata.namespace ?? "", name)],
    );
  return new Set([
    ...clusters.items.flatMap((one) => names(one, [one.metadata.name])),
    ...infrastructures.items.flatMap((one) => names(one, [one.metadata.name, ownerName(one, "Cluster")])),
    ...machines.items.flatMap((one) => names(one)),
    ...servers.items.flatMap((one) => names(one, [one.metadata.name])),
  ]);
}
