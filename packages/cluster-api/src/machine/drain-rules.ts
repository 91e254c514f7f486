import { annotations, type Cluster, type Machine, type MachineDrainRule, type MachineSetSpec } from "@causeway/api";
import { controllerOf, type Pod, isEmptySelector } from "@causeway/kubernetes";
import { matches } from "../objects/selector.ts";

type Labels = Readonly<Record<string, string>> | undefined;
type Selector = NonNullable<MachineSetSpec["selector"]>;

/** How a pod is treated while its Node is drained. Pods of a lower order go first. */
export interface DrainBehavior {
  readonly behavior: "Drain" | "Skip" | "WaitCompleted";
  readonly order: number;
}

/** What the rules are matched against, in addition to the pod. */
export interface DrainContext {
  readonly machine: Machine;
  readonly cluster: Cluster | undefined;
  /** Those of the Machine's namespace. */
  readonly rules: readonly MachineDrainRule[];
  /** Labels of the workload cluster's namespaces. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

const mirror = "kubernetes.io/config.mirror";
const drainLabel = "cluster.x-k8s.io/drain";
const skip: DrainBehavior = { behavior: "Skip", order: 0 };

/**
 * Whether a Machine's Node is drained before it goes: while the Machine is deleted, until a drain has been completed,
 * and not where its annotation excludes it.
 */
export function mayDrain({ metadata, status }: Machine): boolean {
  // A drain that has been completed is not begun again.
  if (status?.deletion?.waitForNodeVolumeDetachStartTime !== undefined) return false;
  return (
    metadata.deletionTimestamp !== undefined && metadata.annotations?.[annotations.excludeNodeDraining] === undefined
  );
}

/** Whether volumes are waited for before a deleted Machine's host goes. */
export function mayAwaitVolumes({ metadata }: Machine): boolean {
  return (
    metadata.deletionTimestamp !== undefined && metadata.annotations?.[annotations.excludeVolumeDetach] === undefined
  );
}

/**
 * The behavior of a pod: skipped if it has finished, is of a DaemonSet or a mirror of a static pod; else by its own
 * label; else by the first rule, by name, that matches the Machine and the pod; else it is drained.
 */
export function drainBehaviorOf(pod: Pod, context: DrainContext): DrainBehavior {
  const { labels, annotations: noted } = pod.metadata;
  const finished = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  if (finished || controllerOf(pod)?.kind === "DaemonSet" || noted?.[mirror] !== undefined) return skip;
  const wanted = labels?.[drainLabel]?.toLowerCase();
  if (wanted === "skip") return skip;
  if (wanted === "wait-completed") return { behavior: "WaitCompleted", order: 0 };
  const rule = applicableRules(context).find((one) => isForPod(one, pod, context));
  const { behavior = "Drain", order = 0 } = rule?.spec.drain ?? {};
  return { behavior, order };
}

/** A pod that a drain has to wait for. */
export interface DrainedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly deletingSince: number | undefined;
  /** Not evicted: it is waited for until it has completed. */
  readonly completes: boolean;
  /** Pods of a lower order are drained first. */
  readonly order: number;
}

/** The pods that are not left alone by a drain. */
export function podsToDrain(pods: readonly Pod[], context: DrainContext): DrainedPod[] {
  return pods.flatMap((pod) => {
    const { namespace = "", name, uid = "", deletionTimestamp } = pod.metadata;
    const { behavior, order } = drainBehaviorOf(pod, context);
    if (behavior === "Skip") return [];
    const deletingSince = deletionTimestamp ? Date.parse(deletionTimestamp) : undefined;
    return { namespace, name, uid, deletingSince, completes: behavior === "WaitCompleted", order };
  });
}

/** The rules for this Machine, in the order in which they are tried. */
export function applicableRules({
  machine,
  cluster,
  rules,
}: Pick<DrainContext, "machine" | "cluster" | "rules">): MachineDrainRule[] {
  const applies = ({ spec }: MachineDrainRule) =>
    (spec.machines ?? []).length === 0 ||
    (spec.machines ?? []).some(
      ({ selector, clusterSelector }) =>
        selects(selector, machine.metadata.labels) && selects(clusterSelector, cluster?.metadata.labels),
    );
  return rules.filter(applies).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function isForPod({ spec }: MachineDrainRule, { metadata }: Pod, { namespaces }: DrainContext): boolean {
  const pods = spec.pods ?? [];
  if (pods.length === 0) return true;
  const ofNamespace = namespaces.get(metadata.namespace ?? "");
  return pods.some(
    ({ selector, namespaceSelector }) => selects(selector, metadata.labels) && selects(namespaceSelector, ofNamespace),
  );
}

/** A selector that is missing or empty selects everything. */
function selects(selector: Selector | undefined, labels: Labels): boolean {
  return selector === undefined || isEmptySelector(selector) || matches(selector, labels ?? {});
}
