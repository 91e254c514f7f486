import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import type { LabelSelector } from "./spec.ts";

/** Kinds whose pods are spread over nodes and zones, with what selects their pods. */

/** What the scheduler reads of a StatefulSet or ReplicaSet. */
export interface SelectorOwner extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
}

/** Its selector is a plain map of labels. */
export interface ReplicationController extends KubeObject {
  readonly spec?: { readonly selector?: Readonly<Record<string, string>> };
}

/** For the informer of the scheduler, which reads only the selector. */
export const ReplicaSet: ResourceType<SelectorOwner> = apps("ReplicaSet", "replicasets");
/** As ReplicaSet. */
export const StatefulSet: ResourceType<SelectorOwner> = apps("StatefulSet", "statefulsets");
/** Of the core group, where the others are in `apps`. */
export const ReplicationController: ResourceType<ReplicationController> = {
  group: "",
  version: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  namespaced: true,
};

function apps(kind: string, plural: string): ResourceType<SelectorOwner> {
  return { group: "apps", version: "v1", kind, plural, namespaced: true };
}
