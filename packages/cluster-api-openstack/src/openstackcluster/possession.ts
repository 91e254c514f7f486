import type { OpenStackCluster } from "@causeway/api";
import type { Network } from "@causeway/openstack";
import {
  adoptAnnotation,
  clusterFinalizer,
  CONTENDED,
  description,
  networkName,
  networkOwner,
  ownerAnnotation,
  ownerFor,
  ownNetworkAnnotation,
} from "../resources/naming.ts";
import { ownNetworks } from "../resources/own-networks.ts";
import type { ClusterCloud, ClusterContext } from "./model.ts";

/**
 * Whose the resources with this cluster's names are. An object that creates a network creates nothing before it, and
 * continues only if a list that was read afterwards shows no other network of the name: of two objects that start in
 * the same moment, at least one sees both networks. Each that does deletes its own and tries again later, so no time
 * decides and no clock.
 */
export type Possession =
  /** The object's own, by their names, but for the networks of `others`. */
  | { readonly kind: "own"; readonly others: readonly Network[] }
  /** The object has not created its network yet, or no longer has it, and others have created none. */
  | { readonly kind: "nothing" }
  /** It has created its network, and it is not known whether others have, too. */
  | { readonly kind: "unchecked"; readonly own: Network }
  /** Others have created networks. `own`: what this object created before it saw them, with nothing on it. */
  | { readonly kind: "others"; readonly own: readonly Network[]; readonly others: readonly Network[] };

type Claimed = Pick<ClusterContext, "object" | "crn"> & {
  readonly cloud: Pick<ClusterCloud, "networks" | "subnets" | "nameIndex" | "projectId">;
};

/** The owner that an object writes down with its finalizer; undefined: its resources are known by their names alone. */
export function newOwner({ object, crn }: Pick<Claimed, "object" | "crn">): string | undefined {
  const { metadata } = object;
  if (metadata.finalizers?.includes(clusterFinalizer)) return undefined;
  if (metadata.annotations?.[adoptAnnotation] === "true" || hasRecords(object)) return undefined;
  return ownerFor(crn, metadata.annotations?.[ownerAnnotation] ?? metadata.uid);
}

/** The owner in the network's description, as it was written down; undefined: it names none. */
export function ownerOf({ object: { metadata, spec }, crn }: Pick<Claimed, "object" | "crn">): string | undefined {
  return spec.managedSubnets?.length ? ownerFor(crn, metadata.annotations?.[ownerAnnotation]) : undefined;
}

/** The network that was checked to be the only one of its name. */
function checkedNetwork({ annotations }: OpenStackCluster["metadata"]): string | undefined {
  const id = annotations?.[ownNetworkAnnotation];
  return id === CONTENDED ? undefined : id;
}

/** Whether anything is recorded that is created after the network, or that the network was checked. */
function hasRecords({ metadata, status }: OpenStackCluster): boolean {
  return (
    checkedNetwork(metadata) !== undefined ||
    status?.initialization?.provisioned === true ||
    (status?.network?.subnets?.length ?? 0) > 0 ||
    (status?.router ?? status?.workerSecurityGroup ?? status?.apiServerManagedLoadBalancer) !== undefined
  );
}

/** Decides by the networks of the cluster's name. An object without an owner has all that has its names. */
export function possessionOf({ object, cloud, crn }: Claimed): Possession {
  const owner = ownerOf({ object, crn });
  if (owner === undefined || object.metadata.annotations?.[adoptAnnotation] === "true")
    return { kind: "own", others: [] };
  const checkedId = checkedNetwork(object.metadata);
  const mark = { name: networkName(crn), description: description(crn), projectId: cloud.projectId };
  const all = ownNetworks(cloud, { ...mark, crn, recordedId: object.status?.network?.id });
  const isOwn = ({ id, description: text }: Network) => id === checkedId || networkOwner(crn, text) === owner;
  const [own, others] = [all.filter(isOwn), all.filter((network) => !isOwn(network))];
  const mine: Possession = { kind: "own", others };
  const hasSubnet = own.some(({ id }) => cloud.subnets.some((subnet) => subnet.network_id === id));
  if (hasSubnet || own.some(({ id }) => id === checkedId)) return mine;
  if (own.length === 0 && others.length === 0) return hasRecords(object) ? mine : { kind: "nothing" };
  // Its network is deleted last: without one nothing is its own that others may have.
  if (others.length > 0) return { kind: "others", own, others };
  const [first] = own;
  return own.length > 1 || !first ? mine : { kind: "unchecked", own: first };
}
