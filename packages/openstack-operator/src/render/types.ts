import type { Container, IntOrString, KubeObject, LabelSelector, Resource, ResourceType } from "@causeway/kubernetes";

/** Wire types that the operator writes, besides those of the kit. */

/** Volumes of a pod, and where its container has them. */
export interface Parts {
  readonly volumes: ({ name: string } & Record<string, unknown>)[];
  readonly mounts: Mount[];
}

export type Mount = NonNullable<Container["volumeMounts"]>[number] & { mountPropagation?: string };

export interface PolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string };
}

export interface PolicyPort {
  protocol: "TCP" | "UDP";
  port: number;
}

export interface NetworkPolicySpec {
  podSelector: LabelSelector;
  policyTypes: ("Ingress" | "Egress")[];
  ingress?: { from?: PolicyPeer[]; ports?: PolicyPort[] }[];
  egress?: { to?: PolicyPeer[]; ports?: PolicyPort[] }[];
}

export type NetworkPolicy = KubeObject & { spec: NetworkPolicySpec };

export const NetworkPolicy: ResourceType<NetworkPolicy> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

export type PodDisruptionBudget = Resource<
  { minAvailable?: IntOrString; maxUnavailable?: IntOrString; selector: LabelSelector },
  Record<string, unknown>
>;

export const PodDisruptionBudget: ResourceType<PodDisruptionBudget> = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};
