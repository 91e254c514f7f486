import { shortList } from "@causeway/foundation";
import type { Node, PlannedEvent, Pod } from "@causeway/kubernetes";
import type { ObservedPool } from "@causeway/octavia-tree";
import { nodeAddress } from "./desired.ts";

/**
 * Since when (ms since the epoch) Nodes have been seen to serve, by name; or why that is not known. Undefined: new
 * Nodes are not waited for.
 */
export type ServingNodes =
  | { readonly servingSince: ReadonlyMap<string, number> }
  | { readonly unreadable: string }
  | undefined;

/** The Nodes that may be members now, and those that may not yet. */
export interface NewMembers {
  readonly nodes: readonly Node[];
  /** Names of the Nodes that wait. */
  readonly waiting: readonly string[];
  /** When to read again (ms since the epoch), while Nodes wait. */
  readonly until?: number;
  /** Names of those that have waited so long that it is reported. */
  readonly late: readonly string[];
}

/** kube-proxy is Ready before it has written its first rules: it gets this long (ms) for them. */
const SETTLE = 5_000;
/** A Node waits no longer than this (ms) after its creation. */
const MOST = 300_000;
/** After so long (ms) it is reported. */
const LATE = 60_000;
/** Milliseconds between two reads of kube-proxies. */
const PAUSE = 2_000;

interface NewMembersQuery {
  readonly nodes: readonly Node[];
  readonly pools: readonly ObservedPool[];
  readonly serving?: ServingNodes;
}

/**
 * A Node becomes a member once it serves, and then remains one whatever becomes of that: as with upstream, later
 * trouble is for monitors to notice. Where no Node could be a member, all are.
 */
export function newMembers({ nodes, pools, serving }: NewMembersQuery, now: number): NewMembers {
  if (!serving || "unreadable" in serving) return { nodes, waiting: [], late: [] };
  const isSettled = (node: Node) => now >= (serving.servingSince.get(node.metadata.name) ?? Infinity) + SETTLE;
  const waiting = newNodes({ nodes, pools }, now).filter((node) => !isSettled(node));
  if (waiting.length === 0 || waiting.length === nodes.length) return { nodes, waiting: [], late: [] };
  const namesOf = (some: readonly Node[]) => some.map(({ metadata }) => metadata.name);
  return {
    nodes: nodes.filter((node) => !waiting.includes(node)),
    waiting: namesOf(waiting),
    until: now + PAUSE,
    late: namesOf(waiting.filter((node) => now >= createdAt(node) + LATE)),
  };
}

/** What a user should know of Nodes that are not waited for, or that wait for long. */
export function newMemberEvents(query: NewMembersQuery, now: number): PlannedEvent[] {
  const { serving } = query;
  const event = (reason: string, message: string): PlannedEvent[] => [{ type: "Warning", reason, message }];
  if (serving && "unreadable" in serving) {
    const why = `the Pods of kube-proxy cannot be listed: ${serving.unreadable}`;
    return event("LoadBalancerNodesUnchecked", `new nodes become members before they serve, for ${why}`);
  }
  const { late } = newMembers(query, now);
  if (late.length === 0) return [];
  const message = `these nodes are no members yet, for they or their kube-proxies are not Ready: ${shortList(late, 5)}; each becomes one five minutes after its creation at the latest`;
  return event("LoadBalancerNodesWaiting", message);
}

/** Nodes that may have to wait until they are seen to serve: for their sake kube-proxies are read. */
export function newNodes({ nodes, pools }: Omit<NewMembersQuery, "serving">, now: number): readonly Node[] {
  const young = nodes.filter((node) => now < createdAt(node) + MOST);
  if (young.length === 0) return young;
  const members = memberAddresses(pools);
  return young.filter((node) => !isMember(node, members));
}

/**
 * Whether connections to a node port arrive: the Node is Ready, and so is its kube-proxy, where the cluster has any.
 * Another network plugin may do its work.
 */
export function serves(node: Node, proxies: readonly Pod[]): boolean {
  const isReady = node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  if (!isReady || proxies.length === 0) return isReady;
  return proxies.some(
    ({ spec, status, metadata }) =>
      spec.nodeName === node.metadata.name &&
      metadata.deletionTimestamp === undefined &&
      status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") === true,
  );
}

/** The addresses of all members. */
export function memberAddresses(pools: readonly ObservedPool[]): ReadonlySet<string> {
  return new Set(pools.flatMap(({ members }) => members.map(({ address }) => address)));
}

/** Whether one of the Node's addresses is among those. */
export function isMember(node: Node, members: ReadonlySet<string>): boolean {
  return (["IPv4", "IPv6"] as const).some((family) => members.has(nodeAddress(node, family) ?? ""));
}

/** A Node without a time of creation is not new. */
function createdAt({ metadata }: Node): number {
  const created = Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(created) ? -Infinity : created;
}
