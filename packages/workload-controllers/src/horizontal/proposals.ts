import { selectorText, type LabelSelector } from "@causeway/kubernetes";
import { quantityText, thousandths } from "./amounts.ts";
import type { MetricIdentifier, MetricSpec, MetricTarget } from "./autoscaler.ts";
import type { MeasuredMetric, Observed, TargetScale, Usage } from "./observed.ts";
import { byAverage, byShare, byUtilization, byWhole, type Proposal } from "./replicas.ts";

/** What one metric says: how many replicas, and how status shows it; or why it says nothing. */
export type Said =
  | { readonly replicas: number; readonly name: string; readonly status: object }
  | { readonly reason: string; readonly why: string };

type Given = Pick<Observed, "pods" | "at"> & { readonly scale: TargetScale };

const REASONS: Readonly<Record<MetricSpec["type"], string>> = {
  Resource: "FailedGetResourceMetric",
  ContainerResource: "FailedGetContainerResourceMetric",
  Pods: "FailedGetPodsMetric",
  Object: "FailedGetObjectMetric",
  External: "FailedGetExternalMetric",
};

/** Source: computeReplicasForMetric of k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go. */
export function said({ spec, reading }: MeasuredMetric, given: Given): Said {
  const reason = REASONS[spec.type];
  const fail = (why: string): Said => ({ reason, why });
  if (reading.of === "nothing") return fail(reading.why);
  const found = reading.of === "pods" ? ofPods(spec, reading.usage, given) : ofWhole(spec, reading.value, given);
  if (typeof found === "string") return fail(found);
  // A target of 0 makes NaN or Infinity of a figure, and a size of NaN is written as 0. kube-apiserver rejects such a
  // target.
  return Number.isFinite(found.replicas) ? found : fail(`the target of ${found.name} is not a positive number`);
}

interface Answer {
  readonly replicas: number;
  readonly name: string;
  readonly status: object;
}

function ofPods(spec: MetricSpec, usage: ReadonlyMap<string, Usage>, { scale, pods, at }: Given): Answer | string {
  const asked = { current: scale.replicas, pods, usage, now: at };
  const { resource, containerResource } = spec;
  const source = resource ?? containerResource;
  if (source) {
    const container = containerResource?.container ?? "";
    const field = containerResource ? "containerResource" : "resource";
    const kind = containerResource ? "container resource" : "resource";
    const { averageUtilization, averageValue } = source.target;
    const isShare = averageUtilization !== undefined;
    const about = { ...asked, resource: source.name };
    const found = isShare
      ? byUtilization(about, averageUtilization, container)
      : byAverage(about, thousandths(averageValue));
    const what = isShare ? "utilization" : "usage";
    if (typeof found === "string") return `failed to get ${source.name} ${what}: ${found}`;
    const current = {
      ...(isShare ? { averageUtilization: found.utilization ?? 0 } : {}),
      averageValue: quantityText(found.value),
    };
    const named = { name: source.name, ...(containerResource ? { container } : {}), current };
    return {
      replicas: found.replicas,
      name: `${source.name} ${kind}${isShare ? " utilization (percentage of request)" : ""}`,
      status: { type: spec.type, [field]: named },
    };
  }
  const { metric, target } = spec.pods ?? missing;
  const found = byAverage({ ...asked, resource: "" }, thousandths(target.averageValue));
  if (typeof found === "string") return `failed to get pods metric value: ${found}`;
  return {
    replicas: found.replicas,
    name: `pods metric ${metric.name}`,
    status: { type: "Pods", pods: { metric: shown(metric), current: { averageValue: quantityText(found.value) } } },
  };
}

const missing: { readonly metric: MetricIdentifier; readonly target: MetricTarget } = {
  metric: { name: "" },
  target: { type: "Value" },
};

function ofWhole(spec: MetricSpec, value: number, { scale, pods }: Given): Answer | string {
  const { metric, target } = spec.object ?? spec.external ?? missing;
  const selector = selectorOf(metric.selector);
  const name = spec.object
    ? `${spec.object.describedObject.kind} metric ${metric.name}`
    : `external metric ${metric.name}(${selector})`;
  const goal = target.averageValue ?? target.value;
  if (goal === undefined) return `neither a value nor an average value target was set for metric ${metric.name}`;
  const isShare = target.averageValue !== undefined;
  const found: Proposal = isShare
    ? byShare(value, thousandths(goal), scale.statusReplicas)
    : byWhole(value, thousandths(goal), { current: scale.replicas, pods });
  const current = { [isShare ? "averageValue" : "value"]: quantityText(found.value) };
  const status = spec.object
    ? { object: { metric: shown(metric), current, describedObject: spec.object.describedObject } }
    : { external: { metric: shown(metric), current } };
  return { replicas: found.replicas, name, status: { type: spec.type, ...status } };
}

function shown({ name, selector }: MetricIdentifier): MetricIdentifier {
  return { name, ...(selector ? { selector } : {}) };
}

function selectorOf(selector: LabelSelector | undefined): string {
  return selector ? `&LabelSelector{${selectorText(selector)}}` : "nil";
}
