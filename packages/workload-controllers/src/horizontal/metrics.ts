import { messageOf } from "@causeway/foundation";
import { selectorText, type KubernetesClient, type LabelSelector } from "@causeway/kubernetes";
import { thousandths } from "./amounts.ts";
import type { MetricSpec } from "./autoscaler.ts";
import type { MetricValue, Usage } from "./observed.ts";
import { pluralOf } from "./scale-target.ts";

/*
 * The metrics of autoscalers by the three APIs that serve them. Each is one request of a list, however many pods there
 * are. Source: k8s.io/metrics: metrics.k8s.io/v1beta1, custom.metrics.k8s.io/v1beta2, external.metrics.k8s.io/v1beta1.
 */

/** Where the metrics of an autoscaler are read. */
export interface Place {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** The selector of the target's pods, as a text. */
  readonly selector: string;
  readonly signal: AbortSignal;
}

/** Where no window is given: as long as metrics-server measures. */
const WINDOW = 60_000;

/**
 * What one metric says; what cannot be read is said in words, as kube-controller-manager's. `list`: what the target's
 * pods use.
 */
export async function readMetric(place: Place, spec: MetricSpec, list: PodList): Promise<MetricValue> {
  const nothing = (what: string, why: string): MetricValue => ({ of: "nothing", why: `${what}: ${why}` });
  switch (spec.type) {
    case "Resource":
    case "ContainerResource": {
      const source = spec.containerResource ?? spec.resource;
      const resource = source?.name ?? "";
      const what = source?.target.averageUtilization === undefined ? "usage" : "utilization";
      const prefix = `failed to get ${resource} ${what}`;
      if (typeof list === "string") {
        return nothing(
          prefix,
          `unable to get metrics for resource ${resource}: unable to fetch metrics from resource metrics API: ${list}`,
        );
      }
      const usage = usageOf(list, resource, spec.containerResource?.container);
      if (usage.size === 0) {
        return nothing(
          prefix,
          `unable to get metrics for resource ${resource}: no metrics returned from resource metrics API`,
        );
      }
      return { of: "pods", usage };
    }
    case "Pods":
      return tried("unable to get metric " + (spec.pods?.metric.name ?? ""), place, () => ofPods(place, spec));
    case "Object":
      return tried("failed to get object metric value", place, () => ofObject(place, spec));
    case "External":
      return tried("failed to get external metric", place, () => ofOutside(place, spec));
  }
}

async function tried(what: string, { signal }: Place, read: () => Promise<MetricValue>): Promise<MetricValue> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted) throw error;
    return { of: "nothing", why: `${what}: ${messageOf(error)}` };
  }
}

interface PodMetrics {
  readonly metadata: { readonly name: string };
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, unknown>> }[];
}

/** The items of PodMetricsList, or why there is none. */
export type PodList = readonly PodMetrics[] | string;

/** What the target's pods use of processor and memory: one list for all metrics of an autoscaler. */
export async function readPodMetrics({ client, namespace, selector, signal }: Place): Promise<PodList> {
  try {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`;
    const query = { labelSelector: selector };
    const { items } = (await client.request("GET", path, { query, signal })) as { items?: unknown };
    return Array.isArray(items) ? items.filter(isPodMetrics) : "the answer is not a list";
  } catch (error) {
    if (signal.aborted) throw error;
    return messageOf(error);
  }
}

/** Another program serves the metrics: what has no name or no containers is left out. */
function isPodMetrics(item: unknown): item is PodMetrics {
  const { metadata, containers = [] } = (item ?? {}) as { metadata?: { name?: unknown }; containers?: unknown };
  const areContainers =
    Array.isArray(containers) && containers.every((each) => typeof each === "object" && each !== null);
  return typeof metadata?.name === "string" && areContainers;
}

/** Pods of which a container has no figure are left out. */
function usageOf(list: readonly PodMetrics[], resource: string, container?: string): ReadonlyMap<string, Usage> {
  const found = new Map<string, Usage>();
  for (const { metadata, timestamp, window, containers = [] } of list) {
    const counted = container === undefined ? containers : containers.filter(({ name }) => name === container);
    const values = counted.map(({ usage }) => usage?.[resource]);
    if (values.length === 0 || values.some((value) => value === undefined)) continue;
    const value = values.reduce<number>((sum, each) => sum + thousandths(each), 0);
    found.set(metadata.name, { value, time: Date.parse(timestamp ?? ""), window: seconds(window) });
  }
  return found;
}

/** "15s", "1m0s" */
function seconds(window: string | undefined): number {
  const [, minutes = "0", rest = "0"] = /^(?:(\d{1,4})m)?(?:(\d{1,6})(?:\.\d+)?s)?$/.exec(window ?? "") ?? [];
  return (Number(minutes) * 60 + Number(rest)) * 1000 || WINDOW;
}

interface CustomValues {
  readonly items?: readonly {
    readonly describedObject?: { readonly name?: string };
    readonly value?: unknown;
    readonly timestamp?: string;
    readonly windowSeconds?: number;
  }[];
}

const CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2/namespaces";

async function ofPods(place: Place, { pods }: MetricSpec): Promise<MetricValue> {
  const { client, namespace, selector, signal } = place;
  const name = pods?.metric.name ?? "";
  const query = { labelSelector: selector, ...metricQuery(pods?.metric.selector) };
  const answer = (await client.request("GET", `${CUSTOM}/${namespace}/pods/*/${name}`, {
    query,
    signal,
  })) as CustomValues;
  const usage = new Map<string, Usage>();
  for (const { describedObject, value, timestamp, windowSeconds } of answer.items ?? []) {
    const window = windowSeconds === undefined ? WINDOW : windowSeconds * 1000;
    usage.set(describedObject?.name ?? "", { value: thousandths(value), time: Date.parse(timestamp ?? ""), window });
  }
  if (usage.size === 0) throw new Error("no metrics returned from custom metrics API");
  return { of: "pods", usage };
}

async function ofObject(place: Place, { object }: MetricSpec): Promise<MetricValue> {
  if (!object) throw new Error("no object is named");
  const { client, namespace, signal } = place;
  const { apiVersion = "v1", kind, name } = object.describedObject;
  const plural = await pluralOf(client, { apiVersion, kind }, signal);
  if (plural === undefined) throw new Error(`no matches for kind ${JSON.stringify(kind)}`);
  const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0] ?? ""}` : "";
  const path =
    kind === "Namespace"
      ? `${namespace}/metrics/${object.metric.name}`
      : `${namespace}/${plural}${group}/${name}/${object.metric.name}`;
  const query = metricQuery(object.metric.selector);
  const answer = (await client.request("GET", `${CUSTOM}/${path}`, { query, signal })) as CustomValues;
  const [first] = answer.items ?? [];
  if (!first) throw new Error(`no metrics returned from custom metrics API for ${plural}${group} ${name}`);
  return { of: "whole", value: thousandths(first.value) };
}

async function ofOutside(place: Place, { external }: MetricSpec): Promise<MetricValue> {
  const { client, namespace, signal } = place;
  const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${external?.metric.name ?? ""}`;
  const labelSelector = selectorText(external?.metric.selector);
  const query: Record<string, string> = labelSelector === "" ? {} : { labelSelector };
  const answer = (await client.request("GET", path, { query, signal })) as CustomValues;
  if (!answer.items || answer.items.length === 0) throw new Error("no metrics returned from external metrics API");
  return { of: "whole", value: answer.items.reduce((sum, { value }) => sum + thousandths(value), 0) };
}

function metricQuery(selector: LabelSelector | undefined): Record<string, string> {
  const metricLabelSelector = selectorText(selector);
  return metricLabelSelector === "" ? {} : { metricLabelSelector };
}
