import type { NodeSelectorTerm, PodAffinityRules, PodAffinityTerm, SchedulingSpec } from "./spec.ts";

/** Each of them is compared with every other pod, for every pod that is scheduled. */
const MOST_ABOUT_PODS = 100;
/** Each of them is compared with every node. */
const MOST_ABOUT_NODES = 1_000;

/**
 * Why a pod has more rules of scheduling than are read, if it has: otherwise one pod of three megabytes keeps the
 * process that schedules all clusters of a worker busy for seconds. Kubernetes itself has no limit.
 */
export function tooManyRules(spec: SchedulingSpec): string | undefined {
  const aboutPods = podRules(spec);
  if (aboutPods > MOST_ABOUT_PODS) {
    const what = "terms of pod affinity, their requirements and topology spread constraints";
    return `the pod has ${aboutPods} ${what}, of which the scheduler reads at most ${MOST_ABOUT_PODS}`;
  }
  const aboutNodes = nodeRules(spec);
  if (aboutNodes <= MOST_ABOUT_NODES) return undefined;
  const what = "node labels, terms of node affinity, their requirements and tolerations";
  return `the pod has ${aboutNodes} ${what}, of which the scheduler reads at most ${MOST_ABOUT_NODES}`;
}

function podRules({ affinity, topologySpreadConstraints: spread = [] }: SchedulingSpec): number {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap(affinityTerms);
  const requirements = [...terms, ...spread].map(({ labelSelector }) => labelSelector?.matchExpressions?.length ?? 0);
  const ofNamespaces = terms.map(({ namespaceSelector }) => namespaceSelector?.matchExpressions?.length ?? 0);
  return terms.length + spread.length + sum(requirements) + sum(ofNamespaces);
}

function affinityTerms(rules: PodAffinityRules | undefined): readonly PodAffinityTerm[] {
  const preferred = rules?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...preferred.map(({ podAffinityTerm }) => podAffinityTerm),
  ];
}

function nodeRules({ affinity, nodeSelector = {}, tolerations = [] }: SchedulingSpec): number {
  const rules = affinity?.nodeAffinity;
  const required = rules?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = rules?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const terms = [...required, ...preferred.map(({ preference }) => preference)];
  return Object.keys(nodeSelector).length + tolerations.length + sum(terms.map(sizeOfTerm));
}

function sizeOfTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): number {
  return 1 + matchExpressions.length + matchFields.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
