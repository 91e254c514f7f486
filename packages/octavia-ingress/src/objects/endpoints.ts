import { cidrContains, parseCidr, parseIp } from "@causeway/foundation";
import type { Endpoint, EndpointSlice, Service } from "@causeway/kubernetes";
import type { MemberCreate } from "@causeway/openstack";
import { podPortOf, type BackendPort } from "./backends.ts";

/** The label of an EndpointSlice that names its Service. */
export const SERVICE_LABEL = "kubernetes.io/service-name";
/** Octavia sends all members of a pool to its amphorae at each change. */
const MOST_MEMBERS = 1_000;
/** Addresses of the amphora itself and of its hypervisor: a user who may write EndpointSlices must not reach those. */
const FORBIDDEN = ["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::/127", "fe80::/10", "ff00::/8"]
  .map(parseCidr)
  .filter((cidr) => cidr !== undefined);

/**
 * A Service's pods as members, at their own addresses and the port of their containers; or why there are none. Pods
 * that are ready are members; where no pod is, those that are ending and still serve, as kube-proxy has it. Pure.
 */
export function podMembers(
  service: Service | undefined,
  port: BackendPort,
  slices: readonly EndpointSlice[],
): { readonly members: readonly MemberCreate[]; readonly problem?: string } {
  const found = podPortOf(service, port);
  if ("problem" in found) return { members: [], problem: found.problem };
  const family = found.service.spec.ipFamilies?.[0] ?? "IPv4";
  const places = slices
    .filter(({ addressType }) => addressType === family)
    .flatMap(({ endpoints, ports = [] }) => {
      const at = ports.find(
        ({ name = "", protocol = "TCP" }) => name === (found.port.name ?? "") && protocol === "TCP",
      );
      return at?.port === undefined ? [] : (endpoints ?? []).map((endpoint) => ({ endpoint, port: at.port ?? 0 }));
    });
  const ready = places.filter(({ endpoint }) => isReady(endpoint));
  const usable = ready.length > 0 ? ready : places.filter(({ endpoint }) => isEndingButServing(endpoint));
  const members = new Map<string, MemberCreate>();
  let forbidden: string | undefined;
  for (const { endpoint, port: protocol_port } of usable) {
    const address = endpoint.addresses[0] ?? "";
    if (!isReachable(address)) forbidden ??= address;
    else
      members.set(`${address} ${protocol_port}`, { name: endpoint.targetRef?.name ?? address, address, protocol_port });
  }
  const sorted = [...members.keys()].sort().flatMap((key) => members.get(key) ?? []);
  const problem =
    forbidden !== undefined
      ? `has an endpoint at ${forbidden}, which may not be a member`
      : sorted.length > MOST_MEMBERS
        ? `has more than ${MOST_MEMBERS} endpoints; the others are left out`
        : undefined;
  return { members: sorted.slice(0, MOST_MEMBERS), ...(problem !== undefined && { problem }) };
}

/** All addresses of the slices, of pods that are not ready yet, too: their ports are opened before they are members. */
export function endpointAddresses(slices: Iterable<readonly EndpointSlice[]>): string[] {
  const all = [...slices]
    .flat()
    .flatMap(({ endpoints }) => (endpoints ?? []).map(({ addresses }) => addresses[0] ?? ""));
  return [...new Set(all.filter(isReachable))].sort();
}

function isReady({ conditions = {} }: Endpoint): boolean {
  const { ready, serving, terminating } = conditions;
  return ready !== false && serving !== false && terminating !== true;
}

function isEndingButServing({ conditions = {} }: Endpoint): boolean {
  return conditions.terminating === true && conditions.serving === true;
}

function isReachable(address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && !FORBIDDEN.some((cidr) => cidrContains(cidr, ip));
}
