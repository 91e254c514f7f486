import type { PlannedEvent, Pod } from "@causeway/kubernetes";
import { isActive, isAvailable, isReady, isTerminal } from "../objects/pods.ts";
import type { Facts } from "./facts.ts";
import { allowsSurge, type NodePods } from "./nodes.ts";
import { isUpdated } from "./template.ts";

/** Pods to create and to delete in one round, with the events about them. */
export interface Changes {
  /** Nodes that get a pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
  /** Old pods whose replacement does not count, since they are not available. */
  readonly unavailable: readonly Pod[];
  readonly failedOn: readonly string[];
  readonly events: readonly PlannedEvent[];
  /** When a failed pod that is left alone now is deleted. */
  readonly until: number | undefined;
}

/** No change: what other changes are spread over. */
export const none: Changes = { create: [], remove: [], unavailable: [], failedOn: [], events: [], until: undefined };

/** One pod on each node that is eligible, and none elsewhere. */
export function manage(facts: Facts): Changes {
  const { placement } = facts;
  const all = placement.nodes.map((node) => manageNode(facts, node));
  const moments = all.flatMap(({ until }) => until ?? []);
  const lost = placement.lost.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return {
    create: all.flatMap(({ create }) => create),
    remove: [...all.flatMap(({ remove }) => remove), ...lost],
    unavailable: [],
    failedOn: all.flatMap(({ failedOn }) => failedOn),
    events: all.flatMap(({ events }) => events),
    until: moments.length === 0 ? undefined : Math.min(...moments),
  };
}

function manageNode(facts: Facts, node: NodePods): Changes {
  const pods = node.pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (!node.stay) return { ...none, remove: pods };
  if (node.pods.length === 0) return node.run ? { ...none, create: [node.name] } : none;
  const ended = pods.filter(isTerminal).map((pod) => endedPod(facts, node.name, pod));
  const excess = excessPods(facts, pods.filter(isActive));
  return {
    create: [],
    unavailable: [],
    remove: [...ended.flatMap(({ remove }) => remove), ...excess],
    failedOn: ended.flatMap(({ failedOn }) => failedOn),
    events: ended.flatMap(({ events }) => events),
    until: ended.find(({ until }) => until !== undefined)?.until,
  };
}

/** A pod that ended makes room for the next one; one that failed again and again, later. */
function endedPod({ observed, now }: Facts, node: string, pod: Pod): Changes {
  const { namespace, name } = pod.metadata;
  const which = `pod ${namespace}/${name} on node ${node}, will try to`;
  if (pod.status?.phase === "Succeeded") {
    const message = `Found succeeded daemon ${which} delete it`;
    return { ...none, remove: [pod], events: [{ type: "Normal", reason: "SucceededDaemonPod", message }] };
  }
  const until = observed.failureHolds.get(node);
  if (until !== undefined && until > now) return { ...none, until };
  const message = `Found failed daemon ${which} kill it`;
  return {
    ...none,
    remove: [pod],
    failedOn: [node],
    events: [{ type: "Warning", reason: "FailedDaemonPod", message }],
  };
}

/** All but the oldest; with maxSurge a ready old pod remains until the new one is available. */
function excessPods({ observed: { set }, hash, now }: Facts, pods: readonly Pod[]): readonly Pod[] {
  if (pods.length <= 1) return [];
  if (!allowsSurge(set)) return pods.slice(1);
  const next = pods.find((pod) => isUpdated(set, pod, hash));
  const old = pods.find((pod) => !isUpdated(set, pod, hash));
  const others = pods.filter((pod) => pod !== next && pod !== old);
  if (!next || !old) return others;
  const isReplaced = !isReady(old) || isAvailable(next, set.spec.minReadySeconds, now);
  return isReplaced ? [...others, old] : others;
}
