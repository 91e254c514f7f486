import type { KubeObject, ObjectMeta, Resource, ResourceType } from "./meta.ts";

/** Wire types of core/v1, with the fields that controllers here read or write; unknown fields are kept. */

/** v1 Namespace. */
export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: "Active" | "Terminating" };
}

/** Values of `data` are base64. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

/** v1 ConfigMap. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

/** v1 ServiceAccount. */
export interface ServiceAccount extends KubeObject {
  secrets?: ObjectReference[];
  imagePullSecrets?: { name: string }[];
  automountServiceAccountToken?: boolean;
}

/** Another object, by kind and name. */
export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

/** core/v1 Event. */
export interface Event extends KubeObject {
  involvedObject: ObjectReference;
  type?: string;
  reason?: string;
  message?: string;
  source?: { component?: string; host?: string };
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  count?: number;
  reportingComponent?: string;
  reportingInstance?: string;
  action?: string;
  related?: ObjectReference;
}

/** Keeps pods without a toleration away from a Node. */
export interface Taint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  timeAdded?: string;
}

/** An address or name of a Node, by its type. */
export interface NodeAddress {
  type: "Hostname" | "InternalIP" | "ExternalIP" | "InternalDNS" | "ExternalDNS";
  address: string;
}

/** A condition of a Node, such as Ready. */
export interface NodeCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastHeartbeatTime?: string;
  lastTransitionTime?: string;
}

/** What a Node is for the cluster: providerID, taints, networks of its pods. */
export interface NodeSpec {
  providerID?: string;
  podCIDR?: string;
  podCIDRs?: string[];
  unschedulable?: boolean;
  taints?: Taint[];
}

/** What a kubelet reports of its Node. */
export interface NodeStatus {
  addresses?: NodeAddress[];
  conditions?: NodeCondition[];
  capacity?: Record<string, string>;
  allocatable?: Record<string, string>;
  nodeInfo?: Record<string, string>;
  daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
}

/**
 * The annotation by which a cloud controller says of a Node whether it may be a member of load balancers: "in", or
 * "out" once it is excluded and a member of none. Without it no controller says so.
 */
export const nodeBalancers = { annotation: "causeway.dev/load-balancers", in: "in", out: "out" } as const;

/** v1 Node. */
export type Node = Resource<NodeSpec, NodeStatus>;

/** A container of a pod. */
export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: Record<string, unknown> }[];
  ports?: { name?: string; containerPort: number; hostPort?: number; protocol?: string }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean; subPath?: string }[];
  [field: string]: unknown;
}

/** Containers, volumes and scheduling of a pod. */
export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  nodeName?: string;
  serviceAccountName?: string;
  hostNetwork?: boolean;
  nodeSelector?: Record<string, string>;
  volumes?: ({ name: string } & Record<string, unknown>)[];
  tolerations?: Record<string, unknown>[];
  terminationGracePeriodSeconds?: number;
  [field: string]: unknown;
}

/** Phase, addresses and containers of a pod. */
export interface PodStatus {
  phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  conditions?: {
    type: string;
    status: "True" | "False" | "Unknown";
    reason?: string;
    message?: string;
    lastTransitionTime?: string;
  }[];
  reason?: string;
  message?: string;
  startTime?: string;
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
}

/** What a kubelet reports of a container. */
export interface ContainerStatus {
  name: string;
  ready?: boolean;
  restartCount?: number;
  state?: { waiting?: object; running?: object; terminated?: { exitCode: number; finishedAt?: string } };
  [field: string]: unknown;
}

/** v1 Pod. */
export type Pod = Resource<PodSpec, PodStatus>;

/** The pods that a controller creates. */
export interface PodTemplateSpec {
  metadata?: Partial<ObjectMeta>;
  spec: PodSpec;
}

/** The resource v1, namespaces, as clients and informers name it. */
export const Namespace: ResourceType<Namespace> = core("Namespace", "namespaces", false);
/** The resource v1, secrets. */
export const Secret: ResourceType<Secret> = core("Secret", "secrets");
/** The resource v1, configmaps. */
export const ConfigMap: ResourceType<ConfigMap> = core("ConfigMap", "configmaps");
/** The resource v1, serviceaccounts. */
export const ServiceAccount: ResourceType<ServiceAccount> = core("ServiceAccount", "serviceaccounts");
/** The resource v1, events: those of the core group. */
export const Event: ResourceType<Event> = core("Event", "events");
/** The resource v1, nodes. */
export const Node: ResourceType<Node> = core("Node", "nodes", false);
/** The resource v1, pods. */
export const Pod: ResourceType<Pod> = core("Pod", "pods");

function core<T extends KubeObject>(kind: string, plural: string, namespaced = true): ResourceType<T> {
  return { group: "", version: "v1", kind, plural, namespaced };
}
