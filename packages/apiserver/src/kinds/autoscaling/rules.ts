import { array, isRecord, record, text, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { pathFaults } from "../../syntax/names.ts";
import { nanosOf } from "../../syntax/quantity.ts";
import { each, given, supported } from "../shared/checks.ts";

/*
 * HorizontalPodAutoscalers. Source: Kubernetes API reference, HorizontalPodAutoscaler v2; the words are
 * kube-apiserver's.
 */

const TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const TARGETS = ["Utilization", "Value", "AverageValue"];
const LONGEST_WINDOW = 3600;
const LONGEST_PERIOD = 1800;

/** What is wrong with the spec of a HorizontalPodAutoscaler, in the form of autoscaling/v2. */
export function autoscalerProblems(spec: Json): FieldProblem[] {
  const { minReplicas: least, maxReplicas: most = 0 } = spec;
  const problems: FieldProblem[] = [];
  const isZero = least === 0;
  if (typeof least === "number" && least < 1) {
    problems.push(invalidValue("spec.minReplicas", least, "must be greater than or equal to 1"));
  }
  if (typeof most === "number" && most < 1) {
    problems.push(invalidValue("spec.maxReplicas", most, "must be greater than 0"));
  }
  if (typeof least === "number" && typeof most === "number" && most < least) {
    problems.push(invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"));
  }
  problems.push(...targetProblems(record(spec["scaleTargetRef"]), "spec.scaleTargetRef"));
  problems.push(...each("spec.metrics", spec["metrics"], metricProblems));
  if (isZero && !hasOutside(spec)) {
    const why = "must specify at least one Object or External metric to support scaling to zero replicas";
    problems.push(forbiddenField("spec.metrics", why));
  }
  return [...problems, ...behaviorProblems(record(spec["behavior"]))];
}

function hasOutside({ metrics }: Json): boolean {
  return array(metrics).some((m) => ["Object", "External"].includes(text(record(m)["type"])));
}

function targetProblems(target: Json, field: string): FieldProblem[] {
  const problems = namedProblems(target, field);
  const isCore = !text(target["apiVersion"]).includes("/") && target["kind"] !== "ReplicationController";
  if (!isCore) return problems;
  const why = "apiVersion must specify API group";
  return [...problems, invalidValue(`${field}.apiVersion`, text(target["apiVersion"]), why)];
}

function namedProblems(reference: Json, field: string): FieldProblem[] {
  return ["kind", "name"].flatMap((name) => segmentProblems(reference[name], `${field}.${name}`));
}

/** The controller builds URLs from the value. */
function segmentProblems(value: unknown, field: string, missing?: string): FieldProblem[] {
  const name = text(value);
  return name === "" ? [required(field, missing)] : pathFaults(name).map((why) => invalidValue(field, name, why));
}

const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

function metricProblems(metric: Json, field: string): FieldProblem[] {
  const type = text(metric["type"]);
  if (type === "") return [required(`${field}.type`, "must specify a metric source type")];
  const source = SOURCES[type];
  // kube-apiserver says it twice.
  if (source === undefined) return [1, 2].map(() => notSupported(`${field}.type`, type, TYPES));
  const at = `${field}.${source}`;
  const problems = Object.values(SOURCES)
    .filter((other) => other !== source && given(metric, other))
    .map((other) => forbiddenField(`${field}.${other}`, "must populate the given metric source only"));
  const held = metric[source];
  if (!isRecord(held)) return [...problems, required(at, "must populate information for the given metric source")];
  return [...problems, ...sourceProblems(held, at, source)];
}

function sourceProblems(held: Json, at: string, source: string): FieldProblem[] {
  const target = record(held["target"]);
  const problems: FieldProblem[] = [];
  const isResource = source === "resource" || source === "containerResource";
  if (isResource && text(held["name"]) === "") problems.push(required(`${at}.name`, "must specify a resource name"));
  if (source === "containerResource" && text(held["container"]) === "") {
    problems.push(required(`${at}.container`, "must specify a container"));
  }
  if (source === "object") problems.push(...namedProblems(record(held["describedObject"]), `${at}.describedObject`));
  if (!isResource) {
    problems.push(
      ...segmentProblems(record(held["metric"])["name"], `${at}.metric.name`, "must specify a metric name"),
    );
  }
  problems.push(...metricTargetProblems(target, `${at}.target`));
  const hasUse = target["averageUtilization"] !== undefined;
  const hasValue = target["averageValue"] !== undefined;
  if (source === "pods" && !hasValue) {
    problems.push(required(`${at}.target.averageValue`, "must specify a positive target averageValue"));
  }
  if (source === "object" || source === "external") problems.push(...wholeProblems(target, `${at}.target`, source));
  if (!isResource) return problems;
  if (!hasUse && !hasValue) {
    const why = "must set either a target raw value or a target utilization";
    problems.push(required(`${at}.target.averageUtilization`, why));
  }
  if (hasUse && hasValue) {
    const why = "may not set both a target raw value and a target utilization";
    problems.push(forbiddenField(`${at}.target.averageValue`, why));
  }
  return problems;
}

/** Of metrics that are one number. */
function wholeProblems(target: Json, field: string, source: "object" | "external"): FieldProblem[] {
  const [hasValue, hasAverage] = [given(target, "value"), given(target, "averageValue")];
  if (!hasValue && !hasAverage) {
    const goal = source === "object" ? "or averageValue" : "for metric or a per-pod target";
    return [required(`${field}.averageValue`, `must set either a target value ${goal}`)];
  }
  if (source === "object" || !hasValue || !hasAverage) return [];
  return [forbiddenField(`${field}.value`, "may not set both a target value for metric and a per-pod target")];
}

function metricTargetProblems(target: Json, field: string): FieldProblem[] {
  const { type, averageUtilization: use } = target;
  const problems: FieldProblem[] = [];
  if (text(type) === "") problems.push(required(`${field}.type`, "must specify a metric target type"));
  else if (!TARGETS.includes(text(type))) {
    problems.push(invalidValue(`${field}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const name of ["value", "averageValue"]) {
    const amount = given(target, name) ? nanosOf(target[name]) : undefined;
    if (amount !== undefined && amount <= 0n) {
      problems.push(invalidValue(`${field}.${name}`, target[name], "must be positive"));
    }
  }
  if (typeof use === "number" && use < 1) {
    problems.push(invalidValue(`${field}.averageUtilization`, use, "must be greater than 0"));
  }
  return problems;
}

function behaviorProblems(behavior: Json): FieldProblem[] {
  return ["scaleUp", "scaleDown"].flatMap((name) => {
    const rules = behavior[name];
    if (!isRecord(rules)) return [];
    const field = `spec.behavior.${name}`;
    const { stabilizationWindowSeconds: window } = rules;
    const problems: FieldProblem[] = [];
    const at = `${field}.stabilizationWindowSeconds`;
    if (typeof window === "number" && window < 0) {
      problems.push(invalidValue(at, window, "must be greater than or equal to zero"));
    }
    if (typeof window === "number" && window > LONGEST_WINDOW) {
      problems.push(invalidValue(at, window, `must be less than or equal to ${LONGEST_WINDOW}`));
    }
    problems.push(...supported(`${field}.selectPolicy`, rules["selectPolicy"], ["Disabled", "Max", "Min"]));
    if (array(rules["policies"]).length === 0) {
      problems.push(required(`${field}.policies`, "must specify at least one Policy"));
    }
    return [...problems, ...each(`${field}.policies`, rules["policies"], stepProblems)];
  });
}

function stepProblems(policy: Json, field: string): FieldProblem[] {
  const { value, periodSeconds: period } = policy;
  const few = "must be greater than zero";
  const problems = supported(`${field}.type`, policy["type"] ?? "", ["Percent", "Pods"]);
  if (typeof value !== "number" || value <= 0) problems.push(invalidValue(`${field}.value`, value ?? 0, few));
  if (typeof period !== "number" || period <= 0)
    problems.push(invalidValue(`${field}.periodSeconds`, period ?? 0, few));
  if (typeof period === "number" && period > LONGEST_PERIOD) {
    const why = `must be less than or equal to ${LONGEST_PERIOD}`;
    problems.push(invalidValue(`${field}.periodSeconds`, period, why));
  }
  return problems;
}
