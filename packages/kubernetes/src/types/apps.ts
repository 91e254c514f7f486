import type { KubeObject, ObjectMeta, Resource, ResourceType } from "./meta.ts";
import type { PodTemplateSpec } from "./core.ts";

/** Wire types of apps/v1, and of core/v1 ReplicationController; unknown fields are kept. */

/** An absolute number, or a percentage such as "25%". */
export type IntOrString = number | string;

/** One expression of a label selector. */
export interface LabelSelectorRequirement {
  key: string;
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  values?: string[];
}

/** metav1.LabelSelector. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

/** A condition of a workload: `reason` and times may be absent. */
export interface WorkloadCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
  lastProbeTime?: string;
}

/** The pods of a ReplicaSet, and how many. */
export interface ReplicaSetSpec {
  replicas?: number;
  minReadySeconds?: number;
  selector: LabelSelector;
  template: PodTemplateSpec;
}

/** How many pods there are, by their readiness. */
export interface ReplicaSetStatus {
  replicas: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  observedGeneration?: number;
  conditions?: WorkloadCondition[];
}

/** apps/v1 ReplicaSet. */
export type ReplicaSet = Resource<ReplicaSetSpec, ReplicaSetStatus>;

/** The pods of a ReplicationController, and how many. */
export interface ReplicationControllerSpec {
  replicas?: number;
  minReadySeconds?: number;
  selector?: Record<string, string>;
  template?: PodTemplateSpec;
}

/** v1 ReplicationController. */
export type ReplicationController = Resource<ReplicationControllerSpec, ReplicaSetStatus>;

/** The pods of a Deployment, and how a change is rolled out. */
export interface DeploymentSpec {
  replicas?: number;
  selector: LabelSelector;
  template: PodTemplateSpec;
  strategy?: {
    type?: "Recreate" | "RollingUpdate";
    rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString };
  };
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  paused?: boolean;
  progressDeadlineSeconds?: number;
}

/** How many pods there are, by their readiness and template. */
export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  collisionCount?: number;
  conditions?: WorkloadCondition[];
}

/** apps/v1 Deployment. */
export type Deployment = Resource<DeploymentSpec, DeploymentStatus>;

/** apps/v1 ControllerRevision. */
export interface ControllerRevision extends KubeObject {
  revision: number;
  data?: unknown;
}

/** The claim that each pod of a StatefulSet has. */
export interface VolumeClaimTemplate {
  apiVersion?: string;
  kind?: string;
  metadata: Partial<ObjectMeta> & { name: string };
  spec: Record<string, unknown>;
}

/** The pods and claims of a StatefulSet, and how they are updated. */
export interface StatefulSetSpec {
  replicas?: number;
  selector: LabelSelector;
  template: PodTemplateSpec;
  serviceName?: string;
  volumeClaimTemplates?: VolumeClaimTemplate[];
  podManagementPolicy?: "OrderedReady" | "Parallel";
  updateStrategy?: {
    type?: "RollingUpdate" | "OnDelete";
    rollingUpdate?: { partition?: number; maxUnavailable?: IntOrString };
  };
  revisionHistoryLimit?: number;
  minReadySeconds?: number;
  persistentVolumeClaimRetentionPolicy?: { whenDeleted?: "Retain" | "Delete"; whenScaled?: "Retain" | "Delete" };
  ordinals?: { start?: number };
}

/** How many pods there are, by their readiness and revision. */
export interface StatefulSetStatus {
  observedGeneration?: number;
  replicas: number;
  readyReplicas?: number;
  currentReplicas?: number;
  updatedReplicas?: number;
  availableReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  collisionCount?: number;
  conditions?: WorkloadCondition[];
}

/** apps/v1 StatefulSet. */
export type StatefulSet = Resource<StatefulSetSpec, StatefulSetStatus>;

/** The pods of a DaemonSet, and how they are updated. */
export interface DaemonSetSpec {
  selector: LabelSelector;
  template: PodTemplateSpec;
  updateStrategy?: {
    type?: "RollingUpdate" | "OnDelete";
    rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString };
  };
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
}

/** On how many Nodes pods should run, and on how many they do. */
export interface DaemonSetStatus {
  currentNumberScheduled: number;
  numberMisscheduled: number;
  desiredNumberScheduled: number;
  numberReady: number;
  observedGeneration?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
  numberUnavailable?: number;
  collisionCount?: number;
  conditions?: WorkloadCondition[];
}

/** apps/v1 DaemonSet. */
export type DaemonSet = Resource<DaemonSetSpec, DaemonSetStatus>;

/** The resource v1, replicationcontrollers, as clients and informers name it. */
export const ReplicationController: ResourceType<ReplicationController> = {
  group: "",
  version: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  namespaced: true,
};

/** The resource apps/v1, replicasets. */
export const ReplicaSet: ResourceType<ReplicaSet> = apps("ReplicaSet", "replicasets");
/** The resource apps/v1, deployments. */
export const Deployment: ResourceType<Deployment> = apps("Deployment", "deployments");
/** The resource apps/v1, statefulsets. */
export const StatefulSet: ResourceType<StatefulSet> = apps("StatefulSet", "statefulsets");
/** The resource apps/v1, daemonsets. */
export const DaemonSet: ResourceType<DaemonSet> = apps("DaemonSet", "daemonsets");
/** The resource apps/v1, controllerrevisions. */
export const ControllerRevision: ResourceType<ControllerRevision> = apps("ControllerRevision", "controllerrevisions");

function apps<T extends KubeObject>(kind: string, plural: string): ResourceType<T> {
  return { group: "apps", version: "v1", kind, plural, namespaced: true };
}
