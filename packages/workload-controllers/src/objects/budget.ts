import type { IntOrString, KubeObject, LabelSelector, ResourceType, WorkloadCondition } from "@causeway/kubernetes";

/** policy/v1 PodDisruptionBudget, with the fields that controllers here read or write. */
export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly minAvailable?: IntOrString;
    readonly maxUnavailable?: IntOrString;
  };
  readonly status?: BudgetStatus;
}

/** `disruptionsAllowed` is what an eviction takes one from. */
export interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly disruptionsAllowed?: number;
  /** When evictions were accepted, by name of the pod. */
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly (WorkloadCondition & { readonly observedGeneration?: number })[];
}

/** For informers and the client. */
export const PodDisruptionBudget: ResourceType<PodDisruptionBudget> = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};
