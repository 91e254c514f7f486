import type { Pod } from "@causeway/kubernetes";
import type { Usage } from "./observed.ts";
import { groupPods, readyCount, requestOf } from "./pods.ts";

/*
 * How many pods a metric asks for. Source: k8s.io/kubernetes/pkg/controller/podautoscaler/replica_calculator.go, and
 * https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details.
 */

/** A ratio this near to 1 changes nothing. */
const TOLERANCE = 0.1;

/** The size that one metric asks for, with the figures for the status. */
export interface Proposal {
  readonly replicas: number;
  /** The average over the pods, or the whole, in thousandths. */
  readonly value: number;
  /** Percent of what is requested. */
  readonly utilization?: number;
}

/** What the size for a metric of pods is calculated from; `usage` is by name of the pod. */
export interface UsageOfPods {
  readonly current: number;
  readonly pods: readonly Pod[];
  readonly usage: ReadonlyMap<string, Usage>;
  /** "" for metrics that are no resource. */
  readonly resource: string;
  readonly now: number;
}

/** By percent of what the pods request. A text says why there is no answer. */
export function byUtilization(asked: UsageOfPods, target: number, container: string): Proposal | string {
  const requests = new Map<string, number>();
  return counted(asked, (usage) => {
    for (const pod of asked.pods) {
      const request = requestOf(pod, asked.resource, container);
      if (typeof request === "string") return request;
      requests.set(pod.metadata.name, request);
    }
    const ratioOf = (figures: ReadonlyMap<string, number>): Measured | string => {
      const named = [...figures].filter(([name]) => requests.has(name));
      const used = sum(named.map(([, value]) => value));
      const requested = sum(named.map(([name]) => requests.get(name) ?? 0));
      if (requested === 0) return "no metrics returned matched known pods";
      const utilization = Math.trunc((used * 100) / requested);
      return { ratio: utilization / target, utilization, value: Math.trunc(used / named.length) };
    };
    const assumed = (name: string) => ((requests.get(name) ?? 0) * Math.max(100, target)) / 100;
    return { measured: ratioOf(usage), ratioOf, assumed };
  });
}

/** By an average of thousandths for each pod. */
export function byAverage(asked: UsageOfPods, target: number): Proposal | string {
  return counted(asked, (usage) => {
    const ratioOf = (figures: ReadonlyMap<string, number>): Measured => {
      const value = Math.trunc(sum([...figures.values()]) / figures.size);
      return { ratio: value / target, value };
    };
    return { measured: ratioOf(usage), ratioOf, assumed: () => target };
  });
}

interface Measured {
  readonly ratio: number;
  readonly value: number;
  readonly utilization?: number;
}

interface Scales {
  readonly measured: Measured | string;
  ratioOf(figures: ReadonlyMap<string, number>): Measured | string;
  /** What a pod without a figure is assumed to use when less is needed. */
  assumed(name: string): number;
}

function counted(
  { current, pods, usage, resource, now }: UsageOfPods,
  scalesOf: (usage: ReadonlyMap<string, number>) => Scales | string,
): Proposal | string {
  if (pods.length === 0) return "no pods returned by selector while calculating replica count";
  const { ready, unready, missing, ignored } = groupPods(pods, usage, { resource, now });
  const figures = new Map(
    [...usage].filter(([name]) => !ignored.has(name) && !unready.has(name)).map(([name, { value }]) => [name, value]),
  );
  if (figures.size === 0) return "did not receive metrics for targeted pods (pods might be unready)";
  const scales = scalesOf(figures);
  if (typeof scales === "string") return scales;
  const { measured } = scales;
  if (typeof measured === "string") return measured;
  const { ratio } = measured;
  const { ratio: _, ...shown } = measured;
  const countsUnready = unready.size > 0 && ratio > 1;
  if (!countsUnready && missing.size === 0) {
    return { ...shown, replicas: isNear(ratio) ? current : Math.ceil(ratio * ready) };
  }
  // Pods without a figure are treated as idle where more pods are requested, and for busy where fewer are.
  if (ratio < 1) for (const name of missing) figures.set(name, scales.assumed(name));
  if (ratio > 1) for (const name of missing) figures.set(name, 0);
  if (countsUnready) for (const name of unready) figures.set(name, 0);
  const careful = scales.ratioOf(figures);
  if (typeof careful === "string") return careful;
  return { ...shown, replicas: carefully(ratio, careful.ratio, { current, counted: figures.size }) };
}

/** The size by the ratio with assumed figures, which never turns the direction that the measured ones give. */
function carefully(
  measured: number,
  ratio: number,
  { current, counted: pods }: { readonly current: number; readonly counted: number },
): number {
  const isOther = (measured < 1 && ratio > 1) || (measured > 1 && ratio < 1);
  if (isNear(ratio) || isOther) return current;
  const replicas = Math.ceil(ratio * pods);
  const isBackwards = (ratio < 1 && replicas > current) || (ratio > 1 && replicas < current);
  return isBackwards ? current : replicas;
}

/** By one number of an object or of something outside, compared with `target`; both in thousandths. */
export function byWhole(
  value: number,
  target: number,
  { current, pods }: Pick<UsageOfPods, "current" | "pods">,
): Proposal {
  const ratio = value / target;
  if (current === 0) return { value, replicas: Math.ceil(ratio) };
  return { value, replicas: isNear(ratio) ? current : Math.ceil(ratio * readyCount(pods)) };
}

/** By one number, shared by the pods that there are. */
export function byShare(value: number, target: number, statusReplicas: number): Proposal {
  const ratio = statusReplicas === 0 ? Infinity : value / (target * statusReplicas);
  const replicas = isNear(ratio) ? statusReplicas : Math.ceil(value / target);
  return { value: statusReplicas === 0 ? value : Math.ceil(value / statusReplicas), replicas };
}

function isNear(ratio: number): boolean {
  return Math.abs(1 - ratio) <= TOLERANCE + 1e-12;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}
