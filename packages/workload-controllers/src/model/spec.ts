import type { Node, ObjectMeta, Pod } from "@causeway/kubernetes";

/** The parts of a pod's and a node's wire form that scheduling reads. */

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly Requirement[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

export interface NodeSelector {
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector | null;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector | null;
  readonly topologyKey: string;
}

export interface PodAffinityRules {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector | null;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
  readonly matchLabelKeys?: readonly string[];
}

export interface SchedulingContainer {
  readonly image?: string;
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly hostPort?: number; readonly hostIP?: string; readonly protocol?: string }[];
  readonly resources?: { readonly requests?: Readonly<Record<string, unknown>> };
}

export interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: object;
}

export interface SchedulingSpec {
  readonly containers: readonly SchedulingContainer[];
  readonly initContainers?: readonly SchedulingContainer[];
  readonly resources?: { readonly requests?: Readonly<Record<string, unknown>> };
  readonly overhead?: Readonly<Record<string, unknown>>;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
      readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
        readonly weight: number;
        readonly preference: NodeSelectorTerm;
      }[];
    };
    readonly podAffinity?: PodAffinityRules;
    readonly podAntiAffinity?: PodAffinityRules;
  };
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly unknown[];
  readonly volumes?: readonly PodVolume[];
}

export interface SchedulingStatus {
  readonly phase?: string;
  readonly nominatedNodeName?: string;
  readonly startTime?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

export function specOf(pod: Pick<Pod, "spec">): SchedulingSpec {
  return pod.spec as unknown as SchedulingSpec;
}

export function statusOf(pod: Pick<Pod, "status">): SchedulingStatus {
  return (pod.status ?? {}) as unknown as SchedulingStatus;
}

export interface NodeImage {
  readonly names?: readonly string[] | null;
  readonly sizeBytes?: number;
}

export function imagesOf(node: Node): readonly NodeImage[] {
  return (node.status as { images?: readonly NodeImage[] } | undefined)?.images ?? [];
}

export function keyText({ namespace, name }: Pick<ObjectMeta, "name" | "namespace">): string {
  return `${namespace ?? ""}/${name}`;
}
