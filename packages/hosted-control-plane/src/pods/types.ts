import {
  ConfigMap,
  Deployment,
  Secret,
  Service,
  StatefulSet,
  type KubeObject,
  type LabelSelector,
  type Resource,
  type ResourceType,
} from "@causeway/kubernetes";

/** networking.k8s.io/v1, with the fields that are written here. */
export interface NetworkPolicySpec {
  podSelector: LabelSelector;
  policyTypes: ("Ingress" | "Egress")[];
  ingress?: { from?: NetworkPeer[]; ports?: NetworkPort[] }[];
  egress?: { to?: NetworkPeer[]; ports?: NetworkPort[] }[];
}

/** Pods, namespaces or networks; selectors of both kinds have to match. */
export interface NetworkPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

/** A number, or the name of a container's port. */
export interface NetworkPort {
  port?: number | string;
  protocol?: "TCP" | "UDP";
}

/** What pods may connect to, and who may connect to them. */
export type NetworkPolicy = Resource<NetworkPolicySpec, unknown>;
/** For informers and the client. */
export const NetworkPolicy: ResourceType<NetworkPolicy> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

/** policy/v1, with the fields that are written here. */
export type PodDisruptionBudget = Resource<{ maxUnavailable?: number; selector: LabelSelector }, unknown>;
/** For informers and the client. */
export const PodDisruptionBudget: ResourceType<PodDisruptionBudget> = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};

/** Kinds of the objects in a tenant's namespace that this runtime writes. */
export const tenantTypes = [
  Secret,
  ConfigMap,
  Service,
  StatefulSet,
  Deployment,
  NetworkPolicy,
  PodDisruptionBudget,
] as readonly ResourceType<KubeObject>[];

/** @throws Error for a kind that is not in `tenantTypes` */
export function typeOf({ kind }: KubeObject): ResourceType<KubeObject> {
  const found = tenantTypes.find((type) => type.kind === kind);
  if (found === undefined) throw new Error(`kind ${kind} is not one that the pods runtime writes`);
  return found;
}
