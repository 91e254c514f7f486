import type { Condition, KubeObject, LabelSelector, ResourceType } from "@causeway/kubernetes";

/** autoscaling/v2 HorizontalPodAutoscaler, with the fields that the controller here reads or writes. */
export interface Autoscaler extends KubeObject {
  readonly spec: {
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly MetricSpec[];
    readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules };
  };
  readonly status?: AutoscalerStatus;
}

/** What a metric is compared with; amounts are quantities such as `"500m"`, the utilization percent of requests. */
export interface MetricTarget {
  readonly type: "Utilization" | "Value" | "AverageValue";
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

/** A metric of the custom or external metrics API, by name and labels. */
export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelector;
}

/** One metric to scale by: the field of the same name as `type` is set, and no other. */
export interface MetricSpec {
  readonly type: "Resource" | "ContainerResource" | "Pods" | "Object" | "External";
  readonly resource?: { readonly name: string; readonly target: MetricTarget };
  readonly containerResource?: { readonly name: string; readonly container: string; readonly target: MetricTarget };
  readonly pods?: { readonly metric: MetricIdentifier; readonly target: MetricTarget };
  readonly object?: {
    readonly describedObject: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    readonly metric: MetricIdentifier;
    readonly target: MetricTarget;
  };
  readonly external?: { readonly metric: MetricIdentifier; readonly target: MetricTarget };
}

/** How fast a target may change in one direction, `behavior.scaleUp` or `behavior.scaleDown`. */
export interface ScalingRules {
  readonly stabilizationWindowSeconds?: number;
  readonly selectPolicy?: "Max" | "Min" | "Disabled";
  readonly policies?: readonly ScalingPolicy[];
}

/** At most `value` pods, or percent of the pods, in each period. */
export interface ScalingPolicy {
  readonly type: "Pods" | "Percent";
  readonly value: number;
  readonly periodSeconds: number;
}

/** What the controller publishes; `kubectl get hpa` prints the metrics of it. */
export interface AutoscalerStatus {
  readonly observedGeneration?: number;
  readonly lastScaleTime?: string;
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly currentMetrics?: readonly object[] | null;
  readonly conditions?: readonly Condition[];
}

/** For informers and the client: autoscaling/v2 HorizontalPodAutoscaler. */
export const Autoscaler: ResourceType<Autoscaler> = {
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
};
