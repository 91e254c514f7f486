import { canonicalIp, cidrContains, formatCidr, parseCidr, parseIp, type Cidr } from "@causeway/foundation";
import type { Node } from "@causeway/kubernetes";
import type { Port, Route } from "@causeway/openstack";
import type { Observed } from "./gather.ts";

/** A route to the pods of one node in one family, or why there can be none. */
export interface Wanted {
  readonly node: Node;
  /** Canonical. */
  readonly destination: string;
  readonly nexthop: string | undefined;
  /** The port that must be let send the pods' addresses; undefined: none needs it. */
  readonly port: Port | undefined;
  readonly problem: string | undefined;
}

/** Every node's pod CIDRs, each with the node's first InternalIP of its family as next hop. */
export function wantedRoutes(observed: Observed): readonly Wanted[] {
  return observed.nodes
    .filter((node) => node.metadata.deletionTimestamp === undefined)
    .flatMap((node) => podCidrs(node).map((cidr) => wantedRoute(observed, node, cidr)));
}

function podCidrs({ spec }: Node): Cidr[] {
  const listed = spec?.podCIDRs ?? [];
  const all = listed.length > 0 ? listed : [spec?.podCIDR ?? ""];
  return all.flatMap((text) => parseCidr(text) ?? []);
}

function wantedRoute(observed: Observed, node: Node, cidr: Cidr): Wanted {
  const destination = formatCidr(cidr);
  const nexthop = internalAddress(node, cidr.version);
  const none = { node, destination, nexthop: undefined, port: undefined };
  if (nexthop === undefined) return { ...none, problem: `the node has no InternalIP of IPv${cidr.version}` };
  const ip = parseIp(nexthop);
  if (!ip || !observed.networks.some((network) => cidrContains(network.cidr, ip)))
    return { ...none, nexthop, problem: `the router has no interface on the network of ${nexthop}` };
  const { port, problem } = portOf(observed, nexthop);
  const refused = observed.refusals.get(routeKey({ destination, nexthop })) ?? refusalOf(observed, port);
  return { node, destination, nexthop, port, problem: problem ?? refused?.message };
}

/** A Node's first InternalIP of the family, canonical; undefined: it has none. */
export function internalAddress(node: Node, version: 4 | 6): string | undefined {
  const address = node.status?.addresses?.find(
    (a) => a.type === "InternalIP" && parseIp(a.address)?.version === version,
  )?.address;
  return address === undefined ? undefined : canonicalIp(address);
}

function portOf(observed: Observed, address: string): { port?: Port; problem?: string } {
  if (!observed.addressPairs) return {};
  const ports = observed.portsAt(address);
  const [port] = ports;
  if (!port) return { problem: `no port on the router's networks has the address ${address}` };
  if (ports.length > 1)
    return { problem: `${ports.length} ports on the router's networks have the address ${address}` };
  return port.port_security_enabled === false ? {} : { port };
}

function refusalOf(observed: Observed, port: Port | undefined) {
  return port && observed.refusals.get(port.id);
}

/** What a route is known by. */
export function routeKey({ destination, nexthop }: Route): string {
  const cidr = parseCidr(destination);
  return `${cidr ? formatCidr(cidr) : destination} via ${canonicalIp(nexthop) ?? nexthop}`;
}
