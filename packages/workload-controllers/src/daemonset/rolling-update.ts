import type { Pod } from "@causeway/kubernetes";
import { isAvailable } from "../objects/pods.ts";
import type { Facts } from "./facts.ts";
import { none, type Changes } from "./manage.ts";
import { limitsOf, type Limits, type NodePods } from "./nodes.ts";
import { isUpdated } from "./template.ts";

/** Replaces pods of an old revision, on so many nodes at a time. */
export function rollingUpdate(facts: Facts): Changes {
  const { set } = facts.observed;
  const desired = facts.placement.nodes.filter(({ run }) => run).length;
  const limits = limitsOf(set, desired);
  const nodes = facts.placement.nodes
    .filter(({ run, pods }) => run || pods.length > 0)
    .map((node) => ({ node, ...versions(facts, node.pods) }));
  return limits.surge > 0 ? surging(facts, nodes, limits) : replacing(facts, nodes, limits);
}

interface Versions {
  readonly node: NodePods;
  readonly next: Pod | undefined;
  readonly old: Pod | undefined;
  /** More than one of either: `manage` removes what is too many first. */
  readonly crowded: boolean;
}

function versions({ observed: { set }, hash }: Facts, held: readonly Pod[]): Omit<Versions, "node"> {
  const pods = held.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const next = pods.filter((pod) => isUpdated(set, pod, hash));
  const old = pods.filter((pod) => !isUpdated(set, pod, hash));
  return { next: next[0], old: old[0], crowded: next.length > 1 || old.length > 1 };
}

/** Old pods are deleted: those that are not available at once, others while no more than maxUnavailable are missing. */
function replacing(facts: Facts, nodes: readonly Versions[], { unavailable }: Limits): Changes {
  const isUp = available(facts);
  const unavailableOld = nodes.flatMap(({ crowded, next, old }) =>
    !crowded && !next && old && !isUp(old) ? [old] : [],
  );
  const candidates = nodes.flatMap(({ crowded, next, old }) => (!crowded && !next && old && isUp(old) ? [old] : []));
  const missing = nodes.filter(({ crowded, next, old }) => {
    if (crowded || Boolean(next) === Boolean(old)) return true;
    return next ? !isUp(next) : old !== undefined && !isUp(old);
  }).length;
  return {
    ...none,
    unavailable: unavailableOld,
    remove: [...unavailableOld, ...candidates.slice(0, Math.max(0, unavailable - missing))],
  };
}

/** A second pod is created next to the old one, which is deleted once the new one is available. */
function surging(facts: Facts, nodes: readonly Versions[], { surge }: Limits): Changes {
  const isUp = available(facts);
  const alone = nodes.filter(({ node, crowded, next, old }) => node.run && !crowded && !next && old);
  const [up, down] = [alone.filter(({ old }) => old && isUp(old)), alone.filter(({ old }) => old && !isUp(old))];
  const both = nodes.filter(({ crowded, next, old }) => !crowded && next && old);
  const done = both.filter(({ next }) => next && isUp(next));
  const surging = nodes.filter(({ crowded }) => crowded).length + both.length - done.length;
  const create = [...down, ...up.slice(0, Math.max(0, surge - surging))].map(({ node }) => node.name);
  const unavailable = down.flatMap(({ old }) => old ?? []);
  return { ...none, create, unavailable, remove: done.flatMap(({ old }) => old ?? []) };
}

function available({ observed: { set }, now }: Facts): (pod: Pod) => boolean {
  return (pod) => isAvailable(pod, set.spec.minReadySeconds, now);
}
