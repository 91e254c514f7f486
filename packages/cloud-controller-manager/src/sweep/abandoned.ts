import type { Clock } from "@causeway/foundation";
import type { Cloud, LoadBalancer } from "@causeway/openstack";
import { readProject, type Observed } from "./gather.ts";
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
  readonly clock: Clock;
}

/**
 * Removes what Services and Ingresses of the cluster have in the cloud, by names, descriptions and tags that only its
 * controllers give. Floating IPs remain, since a Service may have said so, and what is not on its own network.
 */
export async function sweepAbandoned(of: AbandonedCluster, signal: AbortSignal): Promise<readonly Swept[]> {
  const observed = { ...(await readProject(of.cloud, signal)), clusterName: of.clusterName, services: [] };
  const orphans = [...planSweep(observed, { floatingIps: false }), ...ingressBalancers(observed)];
  const judged = orphans.map((orphan) => ({
    ...orphan,
    kept: orphan.kept ?? elsewhere(observed, of.networkId, orphan),
  }));
  return removeAll({ ...of, ports: observed.ports }, judged, signal);
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

function elsewhere(
  { loadBalancers, ports }: Observed,
  networkId: string | undefined,
  { kind, id }: Orphan,
): string | undefined {
  if (networkId === undefined) return SHARED;
  const networks =
    kind === "load balancer"
      ? loadBalancers.filter((each) => each.id === id).map((each) => each.vip_network_id)
      : ports
          .filter((port) => kind === "security group" && port.security_groups.includes(id))
          .map((port) => port.network_id);
  return networks.every((each) => each === networkId) ? undefined : ELSEWHERE;
}
