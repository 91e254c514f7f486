import {
  ReplicaSet,
  ReplicationController,
  type KubeObject,
  type LabelSelector,
  type PodTemplateSpec,
  type ReplicaSetStatus,
  type ResourceType,
} from "@causeway/kubernetes";

/** A ReplicaSet or a ReplicationController, as the planner sees it. */
export interface ReplicaOwner {
  readonly object: KubeObject & { status?: ReplicaSetStatus };
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly selector: LabelSelector | undefined;
  readonly template: PodTemplateSpec | undefined;
}

/** One of the two kinds that keep a number of pods. */
export interface Variant<T extends KubeObject> {
  readonly name: string;
  readonly type: ResourceType<T>;
  ownerOf(object: T): ReplicaOwner;
}

/** Its selector is required, and has expressions too. */
export const replicaSets: Variant<ReplicaSet> = {
  name: "replicaset",
  type: ReplicaSet,
  ownerOf: (object) => ({
    object,
    replicas: object.spec.replicas ?? 1,
    minReadySeconds: object.spec.minReadySeconds ?? 0,
    selector: object.spec.selector,
    template: object.spec.template,
  }),
};

/** Its selector is a plain map of labels. */
export const replicationControllers: Variant<ReplicationController> = {
  name: "replicationcontroller",
  type: ReplicationController,
  ownerOf: (object) => ({
    object,
    replicas: object.spec.replicas ?? 1,
    minReadySeconds: object.spec.minReadySeconds ?? 0,
    selector: object.spec.selector && { matchLabels: object.spec.selector },
    template: object.spec.template,
  }),
};
