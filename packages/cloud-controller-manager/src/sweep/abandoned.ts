import type { Clock } from "@causeway/foundation";
import type { Cloud, LoadBalancer, SecurityGroup } from "@causeway/openstack";
import { ownerPrefix } from "../service/parameters/names.ts";
import { groupUid } from "../service/security-group/names.ts";
import { readProject, type Observed, type Project } from "./gather.ts";
import { planSweep, type Orphan } from "./plan.ts";
import { removeAll, type Swept } from "./sweep.ts";

/** A cluster that is being deleted, and whose API is gone: what its Services were is not known any more. */
export interface AbandonedCluster {
  readonly cloud: Cloud;
  readonly clusterName: string;
  /**
   * The network that was made for it alone: another management cluster may have a cluster of this name in the project.
   * Undefined: it is on a network that others may use, too, so that nothing proves what is its own.
   */
  readonly networkId: string | undefined;
  /** IDs of what an earlier sweep found to be the cluster's, and could not remove. */
  readonly proven?: ReadonlySet<string>;
  /** The listing of the project, which sweeps of several clusters may share. Default: it is read. */
  readonly read?: (signal: AbortSignal) => Promise<Project>;
  readonly clock: Clock;
}

/**
 * Removes what Services and Ingresses of the cluster have in the cloud, by names, descriptions and tags that only its
 * controllers give. Floating IPs remain, since a Service may have said so, and what is not on its own network.
 */
export async function sweepAbandoned(of: AbandonedCluster, signal: AbortSignal): Promise<readonly Swept[]> {
  const { read = (stop: AbortSignal) => readProject(of.cloud, stop) } = of;
  const observed = { ...(await read(signal)), clusterName: of.clusterName, services: [] };
  return removeAll({ ...of, ports: observed.ports }, planAbandoned(observed, of), signal);
}

/** What has the names of the cluster, and why that remains of which nothing proves that it is this cluster's. */
export function planAbandoned(observed: Observed, of: Pick<AbandonedCluster, "networkId" | "proven">): Orphan[] {
  const orphans = [...planSweep(observed, { floatingIps: false }), ...ingressBalancers(observed)];
  return orphans.map((orphan) => ({ ...orphan, kept: orphan.kept ?? unproven(observed, of, orphan) }));
}

/** Those of Ingresses and Gateways have a tag that names the cluster and their object's UID. */
function ingressBalancers({ loadBalancers, clusterName }: Observed): Orphan[] {
  const isOurs = ({ tags, description }: LoadBalancer): boolean =>
    description?.endsWith(` from cluster ${clusterName}`) === true &&
    tags.some((tag) => /^k8s-[a-z]+-owner=/.test(tag) && tag.replace(/^[^=]*=/, "").startsWith(`${clusterName}/`));
  return loadBalancers.filter(isOurs).map(({ id, name, description, provisioning_status: status }) => {
    const [, object = "", namespace = ""] =
      /^Kubernetes \S+ (?:class )?(\S+)(?: in namespace (\S+))?/.exec(description ?? "") ?? [];
    const kept = status.startsWith("PENDING_") ? `it is ${status}` : undefined;
    return { kind: "load balancer", id, name, service: `${namespace}/${object}`, kept };
  });
}

const ELSEWHERE = "it is not on the cluster's own network";
const SHARED = "the cluster has no network of its own: delete it if no other cluster of this name uses it";
const UNUSED =
  "no port and no load balancer of the cluster's own network shows that it is this cluster's: delete it if no other cluster of this name uses it";

function unproven(
  observed: Observed,
  { networkId, proven }: Pick<AbandonedCluster, "networkId" | "proven">,
  { kind, id, name }: Orphan,
): string | undefined {
  const { loadBalancers, ports } = observed;
  if (networkId === undefined) return SHARED;
  if (kind === "load balancer")
    return loadBalancers.some((each) => each.id === id && each.vip_network_id !== networkId) ? ELSEWHERE : undefined;
  if (kind !== "security group") return undefined;
  const networks = ports.filter((port) => port.security_groups.includes(id)).map((port) => port.network_id);
  if (networks.some((each) => each !== networkId)) return ELSEWHERE;
  const isProven = networks.length > 0 || proven?.has(id) === true || hasBalancer(observed, { name, networkId });
  return isProven ? undefined : UNUSED;
}

/** On the cluster's own network, a load balancer of the Service that the group is for, by its UID. */
function hasBalancer(
  { loadBalancers }: Observed,
  { name, networkId }: Pick<SecurityGroup, "name"> & { readonly networkId: string },
): boolean {
  const uid = groupUid(name);
  return loadBalancers.some(
    ({ vip_network_id: network, tags }) =>
      network === networkId && tags.some((tag) => tag.startsWith(ownerPrefix) && tag.endsWith(`/${uid}`)),
  );
}
