import type { EndpointSlice, Node, Service } from "@causeway/kubernetes";
import type { MemberCreate } from "@causeway/openstack";
import type { MemberPlace } from "../config/config.ts";
import { nodePortOf, type BackendPort } from "./backends.ts";
import { podMembers } from "./endpoints.ts";
import { membersAt } from "./nodes.ts";

/** What members are made of. */
export interface MemberFacts {
  readonly nodes: readonly Node[];
  /** By "namespace/name". */
  readonly services: ReadonlyMap<string, Service>;
  /** Of Services, by the same names; where members are pods. */
  readonly slices: ReadonlyMap<string, readonly EndpointSlice[]>;
}

/** The members of a Service's port, and what is wrong with the Service. Pure. */
export function membersOf(
  { nodes, services, slices }: MemberFacts,
  place: MemberPlace | undefined,
  { service: name, port }: { readonly service: string; readonly port: BackendPort },
): { readonly members: readonly MemberCreate[]; readonly problem?: string } {
  const service = services.get(name);
  if (place === "pods") return podMembers(service, port, slices.get(name) ?? []);
  const found = nodePortOf(service, port);
  return "problem" in found ? { members: [], problem: found.problem } : { members: membersAt(nodes, found.port) };
}
