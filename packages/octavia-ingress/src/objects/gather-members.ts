import type { EndpointSlice, Informer, Node } from "@causeway/kubernetes";
import type { MemberPlace } from "../config/config.ts";
import { endpointAddresses } from "./endpoints.ts";
import { memberNodes } from "./nodes.ts";
import type { PodEndpoints } from "./pod-endpoints.ts";

/** The nodes and endpoints that members are made of; slices are by "namespace/name" of the Service. */
export interface GatheredMembers {
  readonly nodes: readonly Node[];
  readonly slices: ReadonlyMap<string, readonly EndpointSlice[]>;
  /** What the load balancer's security group is on. */
  readonly opened: { readonly nodes: readonly Node[]; readonly pods: readonly string[] };
}

/** Reads what members are made of: nodes, or the endpoints of these Services ("namespace/name"). */
export async function gatherMembers(
  { nodes, pods }: { readonly nodes: Informer<Node>; readonly pods: PodEndpoints },
  place: MemberPlace | undefined,
  services: Iterable<string>,
  signal: AbortSignal,
): Promise<GatheredMembers> {
  const all = memberNodes(nodes.list());
  if (place !== "pods") return { nodes: all, slices: new Map(), opened: { nodes: all, pods: [] } };
  const slices = await pods.of(services, signal);
  return { nodes: all, slices, opened: { nodes: [], pods: endpointAddresses(slices.values()) } };
}
