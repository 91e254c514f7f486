import { record, text, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { labelName, labelValue, selectorProblems } from "../shared/checks.ts";
import { amountProblems, nameProblems } from "../core/pods/resources.ts";
import { tolerationProblems } from "../core/pods/scheduling.ts";

/*
 * PodDisruptionBudgets, PriorityClasses, RuntimeClasses. Source: Kubernetes API reference.
 */

/** What is wrong with the spec of a PodDisruptionBudget beyond single fields. */
export function budgetProblems(spec: Json): FieldProblem[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  const problems = selectorProblems("spec.selector", selector);
  if (minAvailable === undefined || maxUnavailable === undefined) return problems;
  const shown = {
    MinAvailable: minAvailable,
    Selector: selector ?? null,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
  };
  return [invalidValue("spec", shown, "minAvailable and maxUnavailable cannot be both set"), ...problems];
}

const HIGHEST = 1_000_000_000;
const OWN: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};

/** What is wrong with a PriorityClass: names and priorities that are reserved for the system. */
export function priorityProblems(object: Json): FieldProblem[] {
  const name = text(record(object["metadata"])["name"]);
  const { value } = object;
  if (name.startsWith("system-")) {
    if (OWN[name] !== undefined) return [];
    const why = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
    return [forbiddenField("metadata.name", why)];
  }
  if (typeof value !== "number" || value <= HIGHEST) return [];
  return [forbiddenField("value", `maximum allowed value of a user defined priority is ${HIGHEST}`)];
}

/** What is wrong with a RuntimeClass's overhead and scheduling. */
export function runtimeClassProblems(object: Json): FieldProblem[] {
  const { nodeSelector, tolerations } = record(object["scheduling"]);
  const overhead = Object.entries(record(record(object["overhead"])["podFixed"])).flatMap(([name, amount]) => {
    const field = `overhead.limits[${name}]`;
    return [...nameProblems(field, name), ...amountProblems(field, name, amount)];
  });
  const labels = Object.entries(record(nodeSelector)).flatMap(([key, value]) => [
    ...labelName("scheduling.nodeSelector", key),
    ...labelValue("scheduling.nodeSelector", text(value)),
  ]);
  return [...overhead, ...labels, ...tolerationProblems(tolerations, "scheduling.tolerations.tolerations")];
}
