import type { Pod } from "@causeway/kubernetes";
import type { Amounts } from "./quantity.ts";
import { podRequests, scoredRequests } from "./requests.ts";
import { tooManyRules } from "./rules.ts";
import { labelTest, nodeSelectorTest, type Labels, type LabelTest, type NodeSelectorTest } from "./selector.ts";
import {
  keyText,
  specOf,
  statusOf,
  type PodAffinityRules,
  type PodAffinityTerm,
  type SchedulingSpec,
  type Toleration,
} from "./spec.ts";

/** A port that the pod takes of its node; the ip "0.0.0.0" conflicts with every other of the same port and protocol. */
export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A term of pod affinity, ready to be tested against other pods. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly weight: number;
  matches(pod: PodInfo, namespaceLabels: (namespace: string) => Labels): boolean;
}

/** What scheduling needs to know of a pod, read once. */
export interface PodInfo {
  readonly pod: Pod;
  /** "namespace/name" */
  readonly key: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly spec: SchedulingSpec;
  readonly priority: number;
  readonly requests: Amounts;
  readonly scored: Amounts;
  readonly hostPorts: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  /** nodeSelector and required node affinity. */
  readonly selectsNode: NodeSelectorTest;
  readonly restrictsNodes: boolean;
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
  /** Why none of its rules is read, if they are too many: then it selects no node, and its affinity is empty. */
  readonly tooManyRules: string | undefined;
  readonly isTerminating: boolean;
  /** Milliseconds; when it was started, or created. */
  readonly startTime: number;
}

/** Reads a pod once for all filters. With too many rules its rules are left out, and it selects no node. */
export function podInfo(pod: Pod): PodInfo {
  const whole = specOf(pod);
  const excess = tooManyRules(whole);
  const spec = excess === undefined ? whole : withoutRules(whole);
  const { namespace = "", labels = {}, deletionTimestamp, creationTimestamp } = pod.metadata;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const selectsByAffinity = nodeSelectorTest(required);
  const selectsByLabels = labelTest({ matchLabels: spec.nodeSelector ?? {} });
  return {
    pod,
    key: keyText(pod.metadata),
    namespace,
    labels,
    spec,
    priority: spec.priority ?? 0,
    requests: podRequests(spec),
    scored: scoredRequests(spec),
    hostPorts: hostPortsOf(spec),
    tolerations: spec.tolerations ?? [],
    selectsNode: (node) =>
      excess === undefined && selectsByLabels(node.metadata.labels ?? {}) && selectsByAffinity(node),
    restrictsNodes: excess !== undefined || required !== undefined || Object.keys(spec.nodeSelector ?? {}).length > 0,
    ...affinityOf(spec, namespace),
    tooManyRules: excess,
    isTerminating: deletionTimestamp !== undefined,
    startTime: Date.parse(statusOf(pod).startTime ?? creationTimestamp ?? "") || 0,
  };
}

function withoutRules(spec: SchedulingSpec): SchedulingSpec {
  return { ...spec, affinity: {}, nodeSelector: {}, tolerations: [], topologySpreadConstraints: [] };
}

function affinityOf(spec: SchedulingSpec, namespace: string) {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return {
    affinity: requiredTerms(podAffinity, namespace),
    antiAffinity: requiredTerms(podAntiAffinity, namespace),
    preferredAffinity: preferredTerms(podAffinity, namespace),
    preferredAntiAffinity: preferredTerms(podAntiAffinity, namespace),
  };
}

function requiredTerms(rules: PodAffinityRules | undefined, namespace: string): AffinityTerm[] {
  return (rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => affinityTerm(term, namespace, 1));
}

function preferredTerms(rules: PodAffinityRules | undefined, namespace: string): AffinityTerm[] {
  const preferred = rules?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.map(({ podAffinityTerm, weight }) => affinityTerm(podAffinityTerm, namespace, weight));
}

function affinityTerm(term: PodAffinityTerm, own: string, weight: number): AffinityTerm {
  const selects: LabelTest = labelTest(term.labelSelector);
  const listed = term.namespaces ?? [];
  const names = new Set(listed.length === 0 && !term.namespaceSelector ? [own] : listed);
  const selectsNamespace = labelTest(term.namespaceSelector);
  return {
    topologyKey: term.topologyKey,
    weight,
    matches: (pod, namespaceLabels) =>
      selects(pod.labels) && (names.has(pod.namespace) || selectsNamespace(namespaceLabels(pod.namespace))),
  };
}

function hostPortsOf(spec: SchedulingSpec): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...spec.containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort ? [{ ip: hostIP || "0.0.0.0", protocol: protocol ?? "TCP", port: hostPort }] : [],
    ),
  );
}
