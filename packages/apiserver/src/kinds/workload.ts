import { at, fields, record, same, type Json } from "../json.ts";
import { matchesLabels } from "../registry/selectors.ts";
import { invalidValue, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import { fillPodSpec, podSpecProblems } from "./pod.ts";
import type { Strategy } from "./resource.ts";

function replicaProblems({ replicas }: Json): FieldProblem[] {
  if (typeof replicas !== "number" || replicas >= 0) return [];
  return [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")];
}

function selectorProblems({ selector }: Json, was: Json): FieldProblem[] {
  return same(selector, was["selector"]) ? [] : [invalidValue("spec.selector", selector, "field is immutable")];
}

/** Deployments and their like: kept and checked; another process may run them. */
export const workloadStrategy: Strategy = {
  fill(draft) {
    const spec = record(draft["spec"]);
    draft["spec"] = spec;
    if (draft.kind !== "DaemonSet" && draft.kind !== "Job") spec["replicas"] ??= 1;
    if (draft.kind === "Deployment") {
      const strategy = record(spec["strategy"]);
      strategy["type"] ??= "RollingUpdate";
      if (strategy["type"] === "RollingUpdate")
        strategy["rollingUpdate"] ??= { maxSurge: "25%", maxUnavailable: "25%" };
      spec["strategy"] = strategy;
      spec["revisionHistoryLimit"] ??= 10;
      spec["progressDeadlineSeconds"] ??= 600;
    }
    const template = at(spec, "template", "spec");
    if (template) fillPodSpec(template as Json);
    draft["status"] ??= {};
  },
  validate(object, old, { subresource }) {
    if (subresource) return [];
    const spec = record(fields(object)["spec"]);
    const problems = podSpecProblems(record(at(spec, "template", "spec")), "spec.template.spec");
    if (object.kind === "Job") return problems;
    problems.push(...replicaProblems(spec));
    if (old && object.kind !== "StatefulSet") problems.push(...selectorProblems(spec, record(fields(old)["spec"])));
    if (!spec["selector"]) return [required("spec.selector"), ...problems];
    const labels = record(at(spec, "template", "metadata", "labels"));
    if (matchesLabels(spec["selector"], labels)) return problems;
    const why = "`selector` does not match template `labels`";
    return [invalidValue("spec.template.metadata.labels", labels, why), ...problems];
  },
};
