import type { Pod } from "@causeway/kubernetes";
import type { Autoscaler, AutoscalerStatus, MetricSpec } from "./autoscaler.ts";

/** The scale of the target as its server shows it. */
export interface TargetScale {
  /** Below the server, to read and write it. */
  readonly path: string;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly replicas: number;
  readonly statusReplicas: number;
  /** The target's selector as a text; "" if it has none. */
  readonly selector: string;
}

/** What one container or pod uses: thousandths of the unit of the metric. */
export interface Usage {
  readonly value: number;
  /** Milliseconds since the epoch: the end of the window that was measured, and its length. */
  readonly time: number;
  readonly window: number;
}

/** What was read for one metric of the autoscaler; a text says why there is nothing. */
export type MetricValue =
  /** Resource, ContainerResource and Pods: by name of the pod. */
  | { readonly of: "pods"; readonly usage: ReadonlyMap<string, Usage> }
  /** Object and External: one number, in thousandths. */
  | { readonly of: "whole"; readonly value: number }
  | { readonly of: "nothing"; readonly why: string };

/** A metric of the spec with what was read for it. */
export interface MeasuredMetric {
  readonly spec: MetricSpec;
  readonly reading: MetricValue;
}

/** A change of the target's size by this controller. */
export interface ScaleEvent {
  readonly at: number;
  /** Pods added or removed; positive. */
  readonly change: number;
}

/** The size that the metrics requested at a moment (milliseconds since the epoch), before any limit. */
export interface Recommendation {
  readonly at: number;
  readonly replicas: number;
}

/** What the controller remembers of an autoscaler, as kube-controller-manager does: a restart forgets it. */
export interface Memory {
  readonly recommendations: readonly Recommendation[];
  readonly added: readonly ScaleEvent[];
  readonly removed: readonly ScaleEvent[];
}

/** An autoscaler with its target's scale, its metrics and what is remembered of before. */
export interface Observed {
  readonly autoscaler: Autoscaler;
  /** When the scale and the metrics were read. */
  readonly at: number;
  /** A text says why the scale could not be read. */
  readonly scale: TargetScale | string;
  /** Pods of the namespace that the target's selector selects. */
  readonly pods: readonly Pod[];
  /** Other autoscalers of the namespace that select some of the same pods. */
  readonly rivals: readonly string[];
  readonly readings: readonly MeasuredMetric[];
  readonly memory: Memory;
  /** The size that the target was given after the readings. */
  readonly scaledTo?: number;
  /** Nothing changed since this status was published. */
  readonly settled?: AutoscalerStatus;
}
