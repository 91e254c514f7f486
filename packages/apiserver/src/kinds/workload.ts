import { at, fields, record, same, type Json } from "../json.ts";
import { matchesLabels } from "../registry/selectors.ts";
import { forbiddenField, invalidValue, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import { podSpecProblems } from "./pod.ts";
import { TEMPLATE_GENERATION } from "../wire/defaults/workloads.ts";
import type { Draft, Strategy } from "./resource.ts";

function replicaProblems({ replicas }: Json): FieldProblem[] {
  if (typeof replicas !== "number" || replicas >= 0) return [];
  return [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")];
}

function strategyProblems({ strategy }: Json): FieldProblem[] {
  const { type, rollingUpdate } = record(strategy);
  const { maxSurge, maxUnavailable } = record(rollingUpdate);
  const isStuck = [maxSurge, maxUnavailable].every((count) => count === 0 || count === "0%");
  if (rollingUpdate !== undefined && isStuck) {
    const why = "may not be 0 when `maxSurge` is 0";
    return [invalidValue("spec.strategy.rollingUpdate.maxUnavailable", maxUnavailable, why)];
  }
  if (type !== "Recreate" || rollingUpdate === undefined) return [];
  return [forbiddenField("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")];
}

function selectorProblems({ selector }: Json, was: Json): FieldProblem[] {
  return same(selector, was["selector"]) ? [] : [invalidValue("spec.selector", selector, "field is immutable")];
}

/** Deployments and their like: kept and checked; another process may run them. */
export const workloadStrategy: Strategy = {
  validate(object, old, { subresource }) {
    if (subresource) return [];
    const spec = record(fields(object)["spec"]);
    const problems = podSpecProblems(record(at(spec, "template", "spec")), "spec.template.spec");
    problems.push(...replicaProblems(spec), ...strategyProblems(spec));
    if (old && object.kind !== "StatefulSet") problems.push(...selectorProblems(spec, record(fields(old)["spec"])));
    if (!spec["selector"]) return [required("spec.selector"), ...problems];
    if (object.kind === "Deployment" && Object.keys(record(spec["selector"])).length === 0) {
      problems.unshift(invalidValue("spec.selector", {}, "empty selector is invalid for deployment"));
    }
    const labels = record(at(spec, "template", "metadata", "labels"));
    if (matchesLabels(spec["selector"], labels)) return problems;
    const why = "`selector` does not match template `labels`";
    return [invalidValue("spec.template.metadata.labels", labels, why), ...problems];
  },
};

/** A DaemonSet counts the changes of its template in an annotation. */
export const daemonSetStrategy: Strategy = {
  ...workloadStrategy,
  prepareCreate(draft) {
    countTemplate(draft, 1);
  },
  prepareUpdate(draft, old) {
    const was = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const isChanged = !same(at(draft, "spec", "template"), at(old, "spec", "template"));
    countTemplate(draft, isChanged ? was + 1 : was);
  },
};

function countTemplate(draft: Draft, count: number): void {
  draft.metadata.annotations = { ...draft.metadata.annotations, [TEMPLATE_GENERATION]: String(count) };
}
