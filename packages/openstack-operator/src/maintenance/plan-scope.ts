import type { OpenStackDeployment } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import type { PodDisruptionBudget } from "../render/types.ts";
import { guardKey, nodeLabel } from "./guards.ts";
import { isOurs, type ComputeNode, type ComputeService, type Limits } from "./model.ts";

/** What decides which parts of Nova concern the maintenance of a deployment. */
export interface ScopeFrom {
  /** Its compute nodes. */
  readonly nodes: readonly ComputeNode[];
  /** Names of all nodes of the cluster. */
  readonly names: ReadonlySet<string>;
  /** Names of those that have guards now. */
  readonly guarded: ReadonlySet<string>;
  /** Budgets of its guards. */
  readonly budgets: readonly PodDisruptionBudget[];
  /** Nova was read, and no compute is disabled by us. */
  readonly isClear: boolean;
}

const keyOf = ({ metadata }: PodDisruptionBudget): string => metadata.labels?.[nodeLabel] ?? "";

/** Budgets of guards whose node does not exist any more. */
export function leftBudgets({ names, budgets }: ScopeFrom): readonly PodDisruptionBudget[] {
  const keys = new Set([...names].map(guardKey));
  return budgets.filter((budget) => !keys.has(keyOf(budget)));
}

/** Budgets on nodes that need no guard any more: they have other roles now, or the services no clusters. */
function strayBudgets({ names, guarded, budgets }: ScopeFrom): readonly PodDisruptionBudget[] {
  const exist = new Set([...names].map(guardKey));
  const needed = new Set([...guarded].map(guardKey));
  return budgets.filter((budget) => exist.has(keyOf(budget)) && !needed.has(keyOf(budget)));
}

/** Nova is read where a node or a budget gives a reason, and until it is known that no compute is disabled by us. */
export function readsNova(from: ScopeFrom): boolean {
  const concerns = ({ cordoned, lostAt, fenced }: ComputeNode): boolean => cordoned || fenced || lostAt !== undefined;
  return !from.isClear || from.nodes.some(concerns) || unneeded(from).length > 0;
}

/**
 * Hosts of Nova that were nodes and are none any more: we disabled their compute, or their budget is left. A compute
 * that never was a node is no concern of ours.
 */
export function removedHosts(from: ScopeFrom, services: readonly ComputeService[]): readonly string[] {
  const left = new Set(leftBudgets(from).map(keyOf));
  return services
    .filter((service) => !from.names.has(service.host) && (isOurs(service) || left.has(guardKey(service.host))))
    .map(({ host }) => host);
}

const unneeded = (from: ScopeFrom) => [...leftBudgets(from), ...strayBudgets(from)];

/** Budgets, by name, of hosts that Nova does not know and that are no nodes any more, or need no guard. */
export function orphanedBudgets(from: ScopeFrom, services: readonly ComputeService[]): readonly string[] {
  const known = new Set(services.map(({ host }) => guardKey(host)));
  return unneeded(from)
    .filter((budget) => !known.has(keyOf(budget)))
    .map(({ metadata }) => metadata.name);
}

/** Nodes, of those that are cordoned, that are held without need, as Nova has their compute. */
export function strayNodes(
  from: ScopeFrom,
  cordoned: readonly string[],
  services: readonly ComputeService[],
): readonly string[] {
  const held = new Set(strayBudgets(from).map(keyOf));
  const known = new Set(services.map(({ host }) => host));
  return cordoned.filter((name) => known.has(name) && held.has(guardKey(name)));
}

/** Hosts whose servers are read: those that may have to be left, and those that are gone. */
export function hostsToRead(nodes: readonly ComputeNode[], removed: readonly string[]): readonly string[] {
  return [...nodes.filter(({ cordoned, ready }) => cordoned || !ready).map(({ name }) => name), ...removed];
}

/** Limits of `spec.maintenance`, with their defaults. */
export function limitsOf({ spec }: OpenStackDeployment): Limits {
  const { nodesAtOnce = 1, movesAtOnce = 2, lostAfterSeconds = 300 } = spec.maintenance ?? {};
  return { nodes: nodesAtOnce, moves: movesAtOnce, flap: lostAfterSeconds * 1000 };
}

const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

/** A node whose kubelet has reported nothing yet is no lost one. */
export function computeNodeOf({ metadata, spec, status }: Node): ComputeNode {
  const condition = status?.conditions?.find(({ type }) => type === "Ready");
  const ready = condition === undefined || condition.status === "True";
  const since = Date.parse(String(condition?.lastTransitionTime ?? ""));
  return {
    name: metadata.name,
    cordoned: spec?.unschedulable === true,
    ready,
    lostAt: ready ? undefined : Number.isFinite(since) ? since : 0,
    fenced: spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true,
  };
}
