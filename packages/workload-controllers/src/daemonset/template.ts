import type { DaemonSet, Pod, PodSpec } from "@causeway/kubernetes";
import { podFromTemplate } from "../objects/pod-template.ts";
import type { NodeSelectorTerm, SchedulingSpec, Toleration } from "../model/spec.ts";

/** What kube-controller-manager adds to the pods of a DaemonSet. */

/** Of pods: the ControllerRevision of the template that they were created from. */
export const hashLabel = "controller-revision-hash";
const generationLabel = "pod-template-generation";
const generationAnnotation = "deprecated.daemonset.template.generation";

/** They remain on nodes that are not ready, under pressure or cordoned. */
const always: readonly Toleration[] = [
  ...["not-ready", "unreachable"].map((key) => toleration(key, "NoExecute")),
  ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map((key) => toleration(key, "NoSchedule")),
];
const onHostNetwork = toleration("network-unavailable", "NoSchedule");

function toleration(key: string, effect: string): Toleration {
  return { key: `node.kubernetes.io/${key}`, operator: "Exists", effect };
}

/** The template's tolerations with those that every DaemonSet's pod has; the template's duplicates of these go. */
export function tolerationsOf(spec: PodSpec): Toleration[] {
  const given = (spec.tolerations ?? []) as readonly Toleration[];
  const added = spec.hostNetwork ? [...always, onHostNetwork] : always;
  const isAdded = ({ key, operator, effect, value = "" }: Toleration) =>
    value === "" && added.some((one) => one.key === key && one.operator === operator && one.effect === effect);
  return [...given.filter((one) => !isAdded(one)), ...added];
}

/** A pod for one node. */
export function podFor(set: DaemonSet, node: string, hash: string): Pod {
  const pod = podFromTemplate(set, set.spec.template);
  const generation = generationOf(set);
  const labels = {
    ...pod.metadata.labels,
    [hashLabel]: hash,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
  };
  const affinity = affinityFor(pod.spec as unknown as SchedulingSpec, node);
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...pod.spec, affinity, tolerations: [...tolerationsOf(pod.spec)] as Record<string, unknown>[] },
  };
}

/** A node's name takes the place of the template's required node affinity, which the node fits already. */
function affinityFor({ affinity = {} }: SchedulingSpec, node: string): SchedulingSpec["affinity"] {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...affinity, nodeAffinity: { ...affinity.nodeAffinity, ...required } };
}

/** The node that a pod is on or made for. */
export function nodeOf(pod: Pod): string | undefined {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  const { affinity } = pod.spec as unknown as SchedulingSpec;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.map(namedBy).find((name) => name !== undefined);
}

function namedBy({ matchFields = [] }: NodeSelectorTerm): string | undefined {
  const field = matchFields.find(({ key, operator }) => key === "metadata.name" && operator === "In");
  return field?.values?.length === 1 ? field.values[0] : undefined;
}

/** Made of the present template. */
export function isUpdated(set: DaemonSet, pod: Pod, hash: string): boolean {
  const labels = pod.metadata.labels ?? {};
  const generation = generationOf(set);
  return labels[hashLabel] === hash || (generation !== undefined && labels[generationLabel] === generation);
}

function generationOf({ metadata }: DaemonSet): string | undefined {
  return metadata.annotations?.[generationAnnotation];
}
