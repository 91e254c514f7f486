import type { KubeObject } from "@causeway/kubernetes";
import { array, at, fields, isRecord, record, records, type Json } from "../../json/json.ts";
import { autoscalerColumns } from "./columns.ts";
import { autoscalerProblems } from "./rules.ts";
import { checked } from "../shared/rules.ts";
import { define, STATUS } from "../../contract/define.ts";
import type { Draft, Resource } from "../../contract/resource.ts";

/*
 * autoscaling/v2 is what is stored; autoscaling/v1 knows the processor's use alone, and carries the rest in
 * annotations. Source: Kubernetes API reference, HorizontalPodAutoscaler v1 and v2.
 */

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR = `${PREFIX}behavior`;
const CONDITIONS = `${PREFIX}conditions`;

/** HorizontalPodAutoscalers in both their versions. */
export function autoscalers(): Resource {
  const resource = define({
    group: "autoscaling",
    version: "v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    shortNames: ["hpa"],
    categories: ["all"],
    subresources: [STATUS],
    columns: autoscalerColumns((o) => o),
    strategy: checked([], ({ spec }) => autoscalerProblems(record(spec))),
  });
  const [second] = resource.versions;
  const first = {
    ...second,
    name: "v1",
    columns: autoscalerColumns(asStored),
    toStored: toSecond,
    fromStored: toFirst,
  };
  return { ...resource, versions: second ? [second, first] : [] };
}

function asStored(object: Json): Json {
  return toSecond(structuredClone(object) as Draft);
}

function isProcessorUse(metric: Json): boolean {
  const target = record(at(metric, "resource", "target"));
  return at(metric, "resource", "name") === "cpu" && target["averageUtilization"] !== undefined;
}

function toFirst(stored: KubeObject): KubeObject {
  const { spec, status, metadata, ...rest } = structuredClone(fields(stored));
  const { metrics, behavior, ...kept } = record(spec);
  const { currentMetrics, conditions, ...known } = record(status);
  const cpu = records(metrics).find(isProcessorUse);
  const current = records(currentMetrics).find((m) => at(m, "resource", "name") === "cpu");
  const others = records(metrics).filter((m) => !isProcessorUse(m));
  const notes: Json = { ...record(record(metadata)["annotations"]) };
  if (others.length > 0) notes[METRICS] = JSON.stringify(others.map(metricToFirst));
  if (isRecord(behavior)) notes[BEHAVIOR] = JSON.stringify(capitalised(behavior, true));
  if (array(conditions).length > 0) notes[CONDITIONS] = JSON.stringify(conditions);
  const use = at(cpu, "resource", "target", "averageUtilization");
  const now = at(current, "resource", "current", "averageUtilization");
  return {
    ...rest,
    apiVersion: "autoscaling/v1",
    metadata: { ...record(metadata), ...(Object.keys(notes).length > 0 ? { annotations: notes } : {}) },
    spec: { ...kept, ...(use === undefined ? {} : { targetCPUUtilizationPercentage: use }) },
    status: {
      currentReplicas: 0,
      desiredReplicas: 0,
      ...known,
      ...(now === undefined ? {} : { currentCPUUtilizationPercentage: now }),
    },
  } as unknown as KubeObject;
}

const STANDARD_USE = 80;

function toSecond(object: Draft): Draft {
  const metadata = record(object["metadata"]);
  const { targetCPUUtilizationPercentage: use, ...spec } = record(object["spec"]);
  const { currentCPUUtilizationPercentage: now, ...status } = record(object["status"]);
  const notes = { ...record(metadata["annotations"]) };
  const others = parsed(notes[METRICS]);
  const behavior = parsed(notes[BEHAVIOR]);
  const conditions = parsed(notes[CONDITIONS]);
  for (const name of [METRICS, BEHAVIOR, CONDITIONS]) delete notes[name];
  if (Object.keys(notes).length > 0) metadata["annotations"] = notes;
  else delete metadata["annotations"];
  const metrics = records(others).map(metricToSecond);
  if (use !== undefined || metrics.length === 0) metrics.push(cpuMetric(use ?? STANDARD_USE));
  const current = { type: "Resource", resource: { name: "cpu", current: { averageUtilization: now } } };
  return {
    ...object,
    apiVersion: "autoscaling/v2",
    spec: { ...spec, metrics, ...(isRecord(behavior) ? { behavior: capitalised(behavior, false) } : {}) },
    status: {
      currentMetrics: now === undefined ? null : [current],
      ...status,
      ...(array(conditions).length > 0 ? { conditions } : {}),
    },
  } as Draft;
}

function cpuMetric(use: unknown): Json {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: use } } };
}

function parsed(note: unknown): unknown {
  if (typeof note !== "string") return undefined;
  try {
    return JSON.parse(note) as unknown;
  } catch {
    return undefined;
  }
}

/** The behaviour's annotation has the fields by the names that the server's own code gives them. */
function capitalised(value: unknown, up: boolean): unknown {
  if (Array.isArray(value)) return value.map((v) => capitalised(v, up));
  if (!isRecord(value)) return value;
  const first = (name: string): string => (up ? name.charAt(0).toUpperCase() : name.charAt(0).toLowerCase());
  const entries = Object.entries(value).filter(([, v]) => v !== null);
  return Object.fromEntries(entries.map(([name, v]) => [`${first(name)}${name.slice(1)}`, capitalised(v, up)]));
}

/** [field of the metric, its names in v1 as [place in v2, name]] */
const NAMED: Readonly<Record<string, readonly (readonly [path: string, name: string])[]>> = {
  resource: [
    ["target.averageUtilization", "targetAverageUtilization"],
    ["target.averageValue", "targetAverageValue"],
  ],
  containerResource: [
    ["target.averageUtilization", "targetAverageUtilization"],
    ["target.averageValue", "targetAverageValue"],
  ],
  pods: [
    ["metric.name", "metricName"],
    ["metric.selector", "selector"],
    ["target.averageValue", "targetAverageValue"],
  ],
  object: [
    ["describedObject", "target"],
    ["metric.name", "metricName"],
    ["metric.selector", "selector"],
    ["target.value", "targetValue"],
    ["target.averageValue", "averageValue"],
  ],
  external: [
    ["metric.name", "metricName"],
    ["metric.selector", "metricSelector"],
    ["target.value", "targetValue"],
    ["target.averageValue", "targetAverageValue"],
  ],
};
const SAME = ["name", "container"];

type Names = (typeof NAMED)[string];

/** A metric as v1's annotations have it. */
function metricToFirst(metric: Json): Json {
  return convertedMetric(metric, (source, target, names) => {
    for (const [path, name] of names) {
      const value = at(source, ...path.split("."));
      if (value !== undefined) target[name] = value;
    }
  });
}

/** A metric of v1's annotations as v2 has it. */
function metricToSecond(metric: Json): Json {
  return convertedMetric(metric, (source, target, names) => {
    for (const [path, name] of names) if (source[name] !== undefined) place(target, path.split("."), source[name]);
    const goal = record(target["target"]);
    const use = goal["averageUtilization"] !== undefined;
    target["target"] = { type: use ? "Utilization" : goal["value"] === undefined ? "AverageValue" : "Value", ...goal };
  });
}

/**
 * The metric with each of its sources rewritten by `rename`, which adds the fields that the versions name differently.
 */
function convertedMetric(metric: Json, rename: (source: Json, target: Json, names: Names) => void): Json {
  const out: Json = { type: metric["type"] };
  for (const [field, names] of Object.entries(NAMED)) {
    const source = metric[field];
    if (!isRecord(source)) continue;
    const target: Json = {};
    for (const name of SAME) if (source[name] !== undefined) target[name] = source[name];
    rename(source, target, names);
    out[field] = target;
  }
  return out;
}

function place(object: Json, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    object[name] = value;
    return;
  }
  const inner = record(object[name]);
  object[name] = inner;
  place(inner, rest, value);
}
