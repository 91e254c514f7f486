import type { Network, Subnet } from "@causeway/openstack";
import { adoptAnnotation, description, networkName, networkOwner, ownerOf } from "../resources/naming.ts";
import { ownNetworks } from "../resources/own-networks.ts";
import type { ClusterContext, Observed } from "./model.ts";

/** Milliseconds in which a process that saw its own network alone has created the subnet on it. */
const SETTLED_AFTER = 15_000;

/**
 * Which of several objects with equal names may use the names in this project. Two management clusters that start in
 * the same moment both find nothing, and both create a network: before either creates anything else, one of them has
 * to give way.
 */
export type Contention =
  /** No other object's network of the name is there, or the names are this one's: `cloud` is without those of others. */
  | { readonly kind: "none"; readonly cloud: ClusterContext["cloud"] }
  /** Neither has gone further than its network: decided at `until`. */
  | {
      readonly kind: "open";
      readonly until: number;
      readonly own: readonly Network[];
      readonly others: readonly Network[];
    }
  /** Another object has the names. `own`: what this one created before. */
  | { readonly kind: "lost"; readonly own: readonly Network[]; readonly others: readonly Network[] };

type Contended = Pick<ClusterContext, "object" | "cloud" | "crn" | "now"> & Pick<Observed, "contendedSince">;

/** Networks of the cluster's name that another object has created, by the owner in their descriptions. */
export function networksOfOthers({
  object,
  cloud,
  crn,
}: Pick<Contended, "object" | "crn"> & {
  readonly cloud: {
    readonly networks: readonly Network[];
    readonly subnets: readonly Subnet[];
    readonly projectId: string;
  };
}): readonly Network[] {
  // What is recorded, or may be adopted, is the object's own, no matter which object created it.
  if (object.metadata.annotations?.[adoptAnnotation] === "true") return [];
  const mark = { name: networkName(crn), description: description(crn), projectId: cloud.projectId };
  const owner = ownerOf(object);
  const recordedId = object.status?.network?.id;
  return ownNetworks(cloud, mark).filter((network) => {
    const other = networkOwner(network.description);
    return other !== undefined && other !== owner && network.id !== recordedId;
  });
}

/** Who may use the names, and whether that is decided already. */
export function contentionOf(context: Contended): Contention {
  const { object, cloud, crn, now, contendedSince = now } = context;
  const others = networksOfOthers(context);
  if (others.length === 0) return { kind: "none", cloud };
  const settled: Contention = { kind: "none", cloud: without(cloud, others) };
  const mark = { name: networkName(crn), description: description(crn), projectId: cloud.projectId };
  const own = ownNetworks(settled.cloud, { ...mark, recordedId: object.status?.network?.id });
  const hasSubnet = (network: Network): boolean => cloud.subnets.some((s) => s.network_id === network.id);
  if (object.status?.initialization?.provisioned === true) return settled;
  if (own.length === 0) return { kind: "lost", own, others };
  if (own.some(hasSubnet)) return settled;
  if (others.some(hasSubnet)) return { kind: "lost", own, others };
  const until = contendedSince + SETTLED_AFTER;
  if (now < until) return { kind: "open", until, own, others };
  // All of them waited, for all saw each other: the first ID decides for each of them alike.
  const [first] = [...own, ...others].map(({ id }) => id).sort();
  return own.some(({ id }) => id === first) ? settled : { kind: "lost", own, others };
}

function without(cloud: ClusterContext["cloud"], others: readonly Network[]): ClusterContext["cloud"] {
  const ids = new Set(others.map(({ id }) => id));
  return { ...cloud, networks: cloud.networks.filter(({ id }) => !ids.has(id)) };
}
