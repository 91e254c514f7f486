import { cidrContains, formatCidr, parseCidr } from "@causeway/foundation";
import type { Node, Plan, PlannedEvent } from "@causeway/kubernetes";
import type { AddressPair, Port, Route } from "@causeway/openstack";
import type { Observed } from "./gather.ts";
import type { Mark, PairedPort, Step } from "./steps.ts";
import { routeKey, wantedRoutes, type Wanted } from "./wanted.ts";

/** A warning event on one Node. */
export interface NodeWarning {
  readonly node: Node;
  readonly event: PlannedEvent;
}

/** How long (ms) until a router that is not there is searched for again. */
const resyncInterval = 60_000;

/**
 * cloud-provider's route controller as one plan for all nodes: a port permits its pods' addresses before a route points
 * to it; routes that point to no node are deleted, after their address pairs; a Node's condition is set when its routes
 * exist. Routes outside the cluster's CIDRs belong to others and are not changed.
 */
export function plan(observed: Observed, now: number): Plan<Step, readonly NodeWarning[]> {
  const { router } = observed;
  if (!router || !observed.routable)
    return { steps: [], status: [], wait: { for: "a router that takes routes", until: now + resyncInterval } };
  const wanted = wantedRoutes(observed);
  const surplus = surplusRoutes(observed, router.routes, wanted);
  const good = wanted.filter((route) => route.problem === undefined);
  const pairs = [...missingPairs(good), ...surplusPairs(observed, surplus, wanted)];
  if (pairs.length > 0) return { steps: [{ type: "set-address-pairs", ports: merged(pairs) }], status: [] };
  const present = new Set(router.routes.map(routeKey));
  const missing = good.flatMap(routeOf).filter((route) => !present.has(routeKey(route)));
  const marks = marksOf(wanted, present);
  const steps: Step[] = [
    ...(surplus.length > 0 ? [{ type: "remove-routes", routes: surplus } as const] : []),
    ...(missing.length > 0 ? [{ type: "add-routes", routes: missing } as const] : []),
    ...(marks.length > 0 ? [{ type: "mark-nodes", nodes: marks } as const] : []),
  ];
  const untils = [...observed.refusals.values()].map((refusal) => refusal.until);
  const wait = untils.length === 0 ? {} : { wait: { for: "what the cloud refused", until: Math.min(...untils) } };
  return { steps, status: warnings(wanted), ...wait };
}

function routeOf({ destination, nexthop }: Wanted): Route[] {
  return nexthop === undefined ? [] : [{ destination, nexthop }];
}

/** Ours that lead nowhere any more. Where a node's next hop is not known just now, what there is remains. */
function surplusRoutes(observed: Observed, routes: readonly Route[], wanted: readonly Wanted[]): readonly Route[] {
  const keys = new Set(wanted.flatMap(routeOf).map(routeKey));
  const unknown = new Set(wanted.filter((w) => w.nexthop === undefined).map((w) => w.destination));
  return routes.filter((route) => {
    const cidr = parseCidr(route.destination);
    if (!cidr || !observed.clusterCidrs.some((cluster) => cidrContains(cluster, cidr))) return false;
    return !keys.has(routeKey(route)) && !unknown.has(formatCidr(cidr));
  });
}

interface PairChange {
  readonly port: Port;
  readonly add?: string;
  readonly remove?: string;
}

function missingPairs(wanted: readonly Wanted[]): PairChange[] {
  return wanted.flatMap(({ port, destination }) => {
    if (!port || port.allowed_address_pairs.some((pair) => sameNetwork(pair.ip_address, destination))) return [];
    return [{ port, add: destination }];
  });
}

/** Pairs of routes that go, unless the port needs them still. */
function surplusPairs(observed: Observed, surplus: readonly Route[], wanted: readonly Wanted[]): PairChange[] {
  if (!observed.addressPairs) return [];
  return surplus.flatMap(({ destination, nexthop }) =>
    observed.portsAt(nexthop).flatMap((port) => {
      const pair = port.allowed_address_pairs.find((p) => sameNetwork(p.ip_address, destination));
      const needed = wanted.some((w) => w.port?.id === port.id && sameNetwork(destination, w.destination));
      if (!pair || needed || observed.refusals.has(port.id)) return [];
      return [{ port, remove: pair.ip_address }];
    }),
  );
}

function sameNetwork(a: string, b: string): boolean {
  const [left, right] = [parseCidr(a), parseCidr(b)];
  return left !== undefined && right !== undefined && formatCidr(left) === formatCidr(right);
}

/** One change for each port. */
function merged(changes: readonly PairChange[]): PairedPort[] {
  const ports = new Map<string, { port: Port; pairs: AddressPair[] }>();
  for (const { port, add, remove } of changes) {
    const entry = ports.get(port.id) ?? { port, pairs: [...port.allowed_address_pairs] };
    entry.pairs = entry.pairs.filter((pair) => pair.ip_address !== remove);
    if (add !== undefined) entry.pairs.push({ ip_address: add });
    ports.set(port.id, entry);
  }
  return [...ports.values()].map(({ port, pairs }) => ({ id: port.id, revision: port.revision_number, pairs }));
}

/** Of the condition, as cloud-provider has them. */
export const reasons = { true: "RouteCreated", false: "NoRouteCreated" } as const;

/** A node whose routes are all there is available; one that can have none is not. Between the two nothing is said. */
function marksOf(wanted: readonly Wanted[], present: ReadonlySet<string>): Mark[] {
  return byNode(wanted).flatMap(([node, routes]) => {
    const problem = routes.find((route) => route.problem !== undefined && !isPresent(route, present))?.problem;
    const available = routes.every((route) => isPresent(route, present));
    if (problem === undefined && !available) return [];
    const condition = node.status?.conditions?.find((c) => c.type === "NetworkUnavailable");
    const status = available ? "False" : "True";
    if (condition?.status === status && condition.reason === reasons[`${available}`]) return [];
    const message = available ? "Routes to the node's pods are in place" : `No route to the node's pods: ${problem}`;
    return [{ name: node.metadata.name, available, message }];
  });
}

function isPresent(route: Wanted, present: ReadonlySet<string>): boolean {
  return routeOf(route).some((r) => present.has(routeKey(r)));
}

function byNode(wanted: readonly Wanted[]): readonly (readonly [Node, readonly Wanted[]])[] {
  const nodes = Map.groupBy(wanted, (route) => route.node);
  return [...nodes];
}

function warnings(wanted: readonly Wanted[]): NodeWarning[] {
  return wanted
    .filter((route) => route.problem !== undefined)
    .map(({ node, destination, problem }) => ({
      node,
      event: { type: "Warning", reason: "FailedToCreateRoute", message: `Could not route ${destination}: ${problem}` },
    }));
}
