import type { Cloud, CallOptions, ServiceDescription } from "@causeway/openstack";
import { Lease, Node, Service, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { messageOf } from "@causeway/foundation";
import type { VolumeFacts } from "./volume-facts.ts";

/** Services that Causeway speaks to, the indispensable ones first. */
export const services = [
  "identity",
  "compute",
  "network",
  "image",
  "load-balancer",
  "block-storage",
  "key-manager",
] as const;
/** A type of service in Keystone's catalog. */
export type AskedService = (typeof services)[number];

/** An answer, or what the cloud said in its place. */
export type CloudAnswer<T> = { readonly value: T } | { readonly error: string };

/** A limit of the project; a limit below 0 is none. */
export interface Quota {
  readonly limit: number;
  readonly used: number;
}

/** What a user's credentials show of a cloud and its project. */
export interface CloudFacts {
  readonly region: string;
  readonly services: Readonly<Record<AskedService, CloudAnswer<ServiceDescription | undefined>>>;
  /** Of Neutron. */
  readonly extensions: CloudAnswer<ReadonlySet<string>>;
  /** Names of Octavia's providers. */
  readonly providers: CloudAnswer<readonly string[]>;
  /** May this user see load balancers? */
  readonly loadBalancers: CloudAnswer<number>;
  readonly externalNetworks: CloudAnswer<readonly string[]>;
  readonly quotas: CloudAnswer<Readonly<Record<string, Quota>>>;
}

/** What a cluster shows of its cloud controller. */
export interface ClusterFacts {
  readonly version: string;
  readonly nodes: number;
  /** Nodes whose server is in the project. */
  readonly known: number;
  /** Nodes that wait for a cloud controller. */
  readonly uninitialized: number;
  /** The holder of the cloud controller managers' Lease; "" for none. */
  readonly leader: string;
  /** There is no Lease, and Causeway's controller serves Services: that of `causeway up`, which elects no leader. */
  readonly withoutElection: boolean;
}

/** All that `causeway doctor` judges. */
export interface Facts {
  readonly cloud: CloudFacts;
  /** Undefined: no cluster was named. */
  readonly cluster: CloudAnswer<ClusterFacts> | undefined;
  /** Undefined: no cluster was named. */
  readonly volumes?: CloudAnswer<VolumeFacts> | undefined;
}

/** An error becomes a fact, unless the signal has aborted. */
export async function asked<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<CloudAnswer<T>> {
  try {
    return { value: await ask() };
  } catch (error) {
    signal.throwIfAborted();
    return { error: messageOf(error) };
  }
}

/** Reads only. A service's error is a fact of that service; throws when the cloud accepts no credentials at all. */
export async function cloudFacts(cloud: Cloud, signal: AbortSignal): Promise<CloudFacts> {
  const call = { signal };
  const projectId = await cloud.projectId(call);
  const descriptions = await Promise.all(
    services.map(async (service) => [service, await asked(() => cloud.describe(service, call), signal)] as const),
  );
  const octavia = await cloud.has("load-balancer", call);
  const { loadBalancing, network } = cloud;
  const absent = { error: "there is no Octavia" };
  const [extensions, providers, loadBalancers, externalNetworks, quotas] = await Promise.all([
    asked(() => network.extensions(call), signal),
    octavia ? asked(async () => (await loadBalancing.providers.all({}, call)).map((p) => p.name), signal) : absent,
    octavia
      ? asked(async () => (await loadBalancing.loadBalancers.all({ project_id: projectId }, call)).length, signal)
      : absent,
    asked(async () => (await network.networks.all({ "router:external": true }, call)).map((n) => n.name), signal),
    asked(() => quotasOf(cloud, projectId, call), signal),
  ]);
  return {
    region: cloud.region,
    services: Object.fromEntries(descriptions) as unknown as CloudFacts["services"],
    extensions,
    providers,
    loadBalancers,
    externalNetworks,
    quotas,
  };
}

async function quotasOf(cloud: Cloud, projectId: string, call: CallOptions): Promise<Record<string, Quota>> {
  const quotas: Record<string, Quota> = {};
  const networking = await cloud.network.quotaDetails(projectId, call);
  for (const name of ["floatingip", "port", "network", "router", "security_group", "security_group_rule"]) {
    const quota = networking[name];
    if (quota) quotas[name] = { limit: quota.limit, used: quota.used + quota.reserved };
  }
  const limits = await cloud.compute.limits(call);
  const [instances, used] = [limits["maxTotalInstances"], limits["totalInstancesUsed"]];
  if (instances !== undefined && used !== undefined) quotas["server"] = { limit: instances, used };
  if (await cloud.has("load-balancer", call)) {
    const { load_balancer: limit } = (await cloud.loadBalancing.quota(projectId, call)) as {
      load_balancer?: number | null;
    };
    const have = await cloud.loadBalancing.loadBalancers.all({ project_id: projectId }, call);
    quotas["load_balancer"] = { limit: limit ?? -1, used: have.length };
  }
  return quotas;
}

/** What of a cluster concerns its cloud controller. */
export async function clusterFacts(
  client: KubernetesClient,
  cloud: Cloud,
  signal: AbortSignal,
): Promise<CloudAnswer<ClusterFacts>> {
  return asked(async () => {
    const call = { signal };
    const version = (await client.request("GET", "/version", call)) as { gitVersion?: string };
    const nodes = (await client.list(Node, call)).items;
    const servers = new Set((await cloud.compute.servers.all({}, call)).map((server) => server.id));
    const lease = await client.find(Lease, { namespace: "kube-system", name: "cloud-controller-manager" }, call);
    const services = lease ? [] : (await client.list(Service, call)).items;
    return {
      withoutElection: services.some(isServedByCauseway),
      version: version.gitVersion ?? "unknown",
      nodes: nodes.length,
      known: nodes.filter((node) => servers.has(node.spec?.providerID?.split("/").at(-1) ?? "")).length,
      uninitialized: nodes.filter((node) =>
        node.spec?.taints?.some((t) => t.key === "node.cloudprovider.kubernetes.io/uninitialized"),
      ).length,
      leader: lease?.spec?.holderIdentity ?? "",
    };
  }, signal);
}

/** Causeway's cloud controller is the manager of the status of Services that it serves. */
export function isServedByCauseway({ metadata }: KubeObject): boolean {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly { readonly manager?: string }[] };
  return managedFields.some(({ manager }) => manager === "causeway-cloud-controller-manager");
}
