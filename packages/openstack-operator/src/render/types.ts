import type { Container, IntOrString, KubeObject, LabelSelector, Resource, ResourceType } from "@causeway/kubernetes";

/** Wire types that the operator writes, in addition to those of the kit. */

/** Volumes of a pod, and where its container has them. */
export interface Parts {
  readonly volumes: ({ name: string } & Record<string, unknown>)[];
  readonly mounts: Mount[];
}

/** A mount; the kit's type lacks `mountPropagation`. */
export type Mount = NonNullable<Container["volumeMounts"]>[number] & { mountPropagation?: string };

/** Whom a network policy admits. */
export interface PolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string };
}

/** A port that a network policy admits. */
export interface PolicyPort {
  protocol: "TCP" | "UDP";
  port: number;
}

/** A policy of networking.k8s.io/v1. */
export interface NetworkPolicySpec {
  podSelector: LabelSelector;
  policyTypes: ("Ingress" | "Egress")[];
  ingress?: { from?: PolicyPeer[]; ports?: PolicyPort[] }[];
  egress?: { to?: PolicyPeer[]; ports?: PolicyPort[] }[];
}

/** A network policy. */
export type NetworkPolicy = KubeObject & { spec: NetworkPolicySpec };

/** How clients reach network policies. */
export const NetworkPolicy: ResourceType<NetworkPolicy> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

/** A budget of policy/v1. */
export type PodDisruptionBudget = Resource<
  { minAvailable?: IntOrString; maxUnavailable?: IntOrString; selector: LabelSelector },
  Record<string, unknown>
>;

/** How clients reach budgets. */
export const PodDisruptionBudget: ResourceType<PodDisruptionBudget> = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};
