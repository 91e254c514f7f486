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

export interface NetworkPolicySpec {
  podSelector: LabelSelector;
  policyTypes: ("Ingress" | "Egress")[];
  ingress?: { from?: NetworkPeer[]; ports?: NetworkPort[] }[];
  egress?: { to?: NetworkPeer[]; ports?: NetworkPort[] }[];
}

export interface NetworkPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface NetworkPort {
  port?: number | string;
  protocol?: "TCP" | "UDP";
}

export type NetworkPolicy = Resource<NetworkPolicySpec, unknown>;
export const NetworkPolicy: ResourceType<NetworkPolicy> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

export type PodDisruptionBudget = Resource<{ maxUnavailable?: number; selector: LabelSelector }, unknown>;
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

export function typeOf({ kind }: KubeObject): ResourceType<KubeObject> {
  const found = tenantTypes.find((type) => type.kind === kind);
  if (found === undefined) throw new Error(`kind ${kind} is not one that the pods runtime writes`);
  return found;
}
