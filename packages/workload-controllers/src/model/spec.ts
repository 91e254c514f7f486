import type { Node, ObjectMeta, Pod } from "@causeway/kubernetes";

/** The parts of a pod's and a node's wire form that scheduling reads. */

/** One expression of a selector; `operator` is In, NotIn, Exists or DoesNotExist, and for nodes Gt or Lt. */
export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** All of its labels and expressions have to match. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly Requirement[];
}

/** Expressions about labels and, of the fields, `metadata.name`; all have to match. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

/** One of its terms has to match. */
export interface NodeSelector {
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[];
}

/** Pods that count, and the node label whose values are the domains. */
export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector | null;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector | null;
  readonly topologyKey: string;
}

/** `affinity.podAffinity` or `affinity.podAntiAffinity` of a pod. */
export interface PodAffinityRules {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
}

/** Without a key it tolerates all taints, without an effect all effects. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** How evenly pods are spread over the domains of a node label. */
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

/** A container, or an init container: a sidecar if its `restartPolicy` is "Always". */
export interface SchedulingContainer {
  readonly image?: string;
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly hostPort?: number; readonly hostIP?: string; readonly protocol?: string }[];
  readonly resources?: { readonly requests?: Readonly<Record<string, unknown>> };
}

/** A volume of a pod that is a claim, or an ephemeral one with a claim of its own. */
export interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: object;
}

/** The fields of a pod's spec that scheduling reads. */
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

/** The fields of a pod's status that scheduling reads. */
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

/** The spec as scheduling reads it; the API server has validated it. */
export function specOf(pod: Pick<Pod, "spec">): SchedulingSpec {
  return pod.spec as unknown as SchedulingSpec;
}

/** The status as scheduling reads it; empty if there is none. */
export function statusOf(pod: Pick<Pod, "status">): SchedulingStatus {
  return (pod.status ?? {}) as unknown as SchedulingStatus;
}

/** An image on a node, by all of its names, with its size. */
export interface NodeImage {
  readonly names?: readonly string[] | null;
  readonly sizeBytes?: number;
}

/** Empty until the kubelet has reported images. */
export function imagesOf(node: Node): readonly NodeImage[] {
  return (node.status as { images?: readonly NodeImage[] } | undefined)?.images ?? [];
}

/** `default/web`; `/node-1` for an object without a namespace. */
export function keyText({ namespace, name }: Pick<ObjectMeta, "name" | "namespace">): string {
  return `${namespace ?? ""}/${name}`;
}
