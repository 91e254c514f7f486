import { isRecord, record, records, scalar, text, texts, array, type Json } from "../../json/json.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { nanosOf } from "../../syntax/quantity.ts";
import { labelName } from "../shared/checks.ts";

/*
 * ResourceQuotas. Source: Kubernetes, "Resource Quotas"; API reference, ResourceQuotaSpec.
 */

const COMPUTE = ["cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage"];
const LIMITS = ["requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage"];
const OBJECTS = [
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const STANDARD = new Set([...COMPUTE, ...LIMITS, ...OBJECTS]);
/** Of what BestEffort and the like count. */
const OF_PODS = new Set(["pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);
const SCOPES = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];
const PRESENCE_ONLY = SCOPES.filter((scope) => scope !== "PriorityClass" && scope !== "VolumeAttributesClass");
const ONE = 1_000_000_000n;

/** What is wrong with the spec of a ResourceQuota. */
export function quotaProblems(spec: Json): FieldProblem[] {
  const problems = Object.entries(record(spec["hard"])).flatMap(([name, amount]) => {
    const field = `spec.hard[${name}]`;
    return [...quotaNameProblems(field, name), ...amountProblems(field, name, amount)];
  });
  return [...problems, ...scopeProblems(spec), ...selectorProblems(spec)];
}

function quotaNameProblems(field: string, name: string): FieldProblem[] {
  const faults = labelName(field, name);
  if (name.includes("/")) return faults;
  const isKnown = STANDARD.has(name) || name.startsWith("hugepages-") || name.startsWith("requests.hugepages-");
  if (isKnown) return faults;
  return [
    ...faults,
    invalidValue(field, name, "must be a standard resource type or fully qualified"),
    invalidValue(field, name, "must be a standard resource for quota"),
  ];
}

function amountProblems(field: string, name: string, amount: unknown): FieldProblem[] {
  const nanos = nanosOf(amount) ?? 0n;
  if (nanos < 0n) return [invalidValue(field, scalar(amount), "must be greater than or equal to 0")];
  const isCounted = OBJECTS.includes(name) || name.startsWith("count/");
  return isCounted && nanos % ONE !== 0n ? [invalidValue(field, scalar(amount), "must be an integer")] : [];
}

const OPPOSITES = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];

/** Whether a scope can count this. */
function fits(scope: string, name: string): boolean {
  if (scope === "BestEffort") return name === "pods";
  if (scope === "VolumeAttributesClass") return name === "persistentvolumeclaims" || name === "requests.storage";
  return OF_PODS.has(name);
}

/** In Go's words, which print a selector as it is in memory. */
function shown(selector: Json): Json {
  const MatchExpressions = records(selector["matchExpressions"]).map((term) => ({
    ScopeName: term["scopeName"],
    Operator: term["operator"],
    Values: term["values"] ?? null,
  }));
  return { MatchExpressions };
}

function scopeProblems(spec: Json): FieldProblem[] {
  const field = "spec.scopes";
  const scopes = texts(spec["scopes"]);
  const hard = Object.keys(record(spec["hard"]));
  const problems = scopes.flatMap((scope) => {
    if (!SCOPES.includes(scope)) return [invalidValue(field, scopes, "unsupported scope")];
    const strange = hard.filter((name) => STANDARD.has(name) && !fits(scope, name));
    return strange.map(() => invalidValue(field, scopes, "unsupported scope applied to resource"));
  });
  const isTorn = OPPOSITES.some((pair) => pair.every((scope) => scopes.includes(scope)));
  return isTorn ? [...problems, invalidValue(field, scopes, "conflicting scopes")] : problems;
}

function selectorProblems({ scopeSelector: selector, hard }: Json): FieldProblem[] {
  if (!isRecord(selector)) return [];
  const standard = Object.keys(record(hard)).filter((name) => STANDARD.has(name));
  const field = "spec.scopeSelector.matchExpressions";
  return records(selector["matchExpressions"]).flatMap((term) => {
    const scope = text(term["scopeName"]);
    const operator = text(term["operator"]);
    const values = array(term["values"]);
    const problems: FieldProblem[] = [];
    if (!SCOPES.includes(scope)) problems.push(invalidValue(`${field}.scopeName`, scope, "unsupported scope"));
    else {
      const strange = standard.filter((name) => !fits(scope, name));
      const why = "unsupported scope applied to resource";
      problems.push(...strange.map(() => invalidValue(field, shown(selector), why)));
    }
    if (PRESENCE_ONLY.includes(scope) && operator !== "Exists") {
      const names = PRESENCE_ONLY.map((name) => `ResourceQuotaScope${name}`);
      const why = `must be 'Exists' when scope is any of ${names.slice(0, -1).join(", ")} or ${names.at(-1) ?? ""}`;
      return [...problems, invalidValue(`${field}.operator`, operator, why)];
    }
    const isList = operator === "In" || operator === "NotIn";
    if (isList && values.length === 0) {
      const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      problems.push(required(`${field}.values`, why));
    }
    if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
      const why = "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector";
      problems.push(invalidValue(`${field}.values`, values, why));
    }
    if (!isList && operator !== "Exists" && operator !== "DoesNotExist") {
      problems.push(invalidValue(`${field}.operator`, operator, "not a valid selector operator"));
    }
    return problems;
  });
}
