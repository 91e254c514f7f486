import { shortList } from "@causeway/foundation";
import { adoptAnnotation, clusterFinalizer, description, loadBalancerName, networkName } from "../resources/naming.ts";
import { ofName } from "../resources/of-name.ts";
import { ownNetworks } from "../resources/own-networks.ts";
import { isOwned, isOwnedAddress } from "../resources/ownership.ts";
import type { ClusterContext } from "./model.ts";
import { findGroup, nodeRoles } from "./security-groups.ts";

/**
 * Why the project's resources with this cluster's names may not be used: this object has not created them. Names are
 * made of namespace and name, so a Cluster of another management cluster can have the same. Proof of creation is the
 * finalizer, which is written before the first resource and remains on an object that is moved, or an ID in the status;
 * upstream's provider writes both, too.
 */
export function claimProblem(context: ClusterContext): string | undefined {
  const { object } = context;
  const { metadata, status } = object;
  if (metadata.finalizers?.includes(clusterFinalizer)) return undefined;
  if (status?.network ?? status?.router ?? status?.workerSecurityGroup ?? status?.apiServerManagedLoadBalancer)
    return undefined;
  if (metadata.annotations?.[adoptAnnotation] === "true") return undefined;
  const present = resourcesOfTheName(context);
  if (present.length === 0) return undefined;
  return `The project has resources with this cluster's names that this object did not create: ${shortList(present, 6)}. A Cluster with the same namespace and name in another management cluster may own them. Choose another name or project; or set the annotation ${adoptAnnotation} to "true" to adopt them`;
}

/** The project's resources with this cluster's names, each by its type and ID. */
export function resourcesOfTheName(context: ClusterContext): string[] {
  const { cloud, crn } = context;
  const mark = { description: description(crn), projectId: cloud.projectId };
  const owned = <T extends Parameters<typeof isOwned>[0]>(what: string, list: readonly T[], name: string) =>
    list.filter((r) => isOwned(r, { ...mark, name })).map((r) => `${what} ${r.id}`);
  const groups = [...nodeRoles, "bastion" as const].flatMap((role) => {
    const found = findGroup(context, role);
    return found.kind === "one" ? [found.resource.id] : found.kind === "several" ? found.ids : [];
  });
  return [
    ...ownNetworks(cloud, { ...mark, crn, name: networkName(crn) }).map(({ id }) => `network ${id}`),
    ...owned("router", ofName(cloud, "routers", networkName(crn)), networkName(crn)),
    ...owned("load balancer", cloud.loadBalancing.loadBalancers, loadBalancerName(crn)),
    ...cloud.floatingIps.filter((ip) => isOwnedAddress(ip, mark)).map(({ id }) => `floating IP ${id}`),
    ...groups.map((id) => `security group ${id}`),
  ];
}
