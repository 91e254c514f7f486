import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, isRecord, record, same, type Json } from "../../json/json.ts";
import { matchesLabels } from "../../contract/selectors.ts";
import { fillJobLabels } from "../../wire/defaults/workloads.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { jobSpecProblems } from "./job-rules.ts";
import { jobStatusProblems } from "./job-status.ts";
import type { Draft, Strategy } from "../../contract/resource.ts";
import { asGiven, warnOfTemplate } from "../shared/template.ts";

const UID = "batch.kubernetes.io/controller-uid";
const NAME = "batch.kubernetes.io/job-name";

/** A job finds its pods by its own uid, unless its writer chose the selector. */
function selectOwn(draft: Draft): void {
  const spec = record(draft["spec"]);
  if (spec["manualSelector"] === true) return;
  const template = record(spec["template"]);
  const metadata = record(template["metadata"]);
  const { uid = "", name } = draft.metadata;
  const own = { [UID]: uid, [NAME]: name, "controller-uid": uid, "job-name": name };
  const given = record(metadata["labels"]);
  // A job without labels of its own has those of its pods.
  const isBare = same(draft.metadata.labels ?? {}, given);
  // The rules check labels that are given already.
  metadata["labels"] = { ...own, ...given };
  template["metadata"] = metadata;
  spec["template"] = template;
  if (isBare) draft.metadata.labels = { ...own, ...given } as Record<string, string>;
  const selector = record(spec["selector"]);
  const matchLabels = record(selector["matchLabels"]);
  spec["selector"] = { ...selector, matchLabels: { ...matchLabels, [UID]: matchLabels[UID] ?? uid } };
}

/** What is wrong with a selector and labels that a job did not get from the server as they are. */
function generatedProblems({ metadata }: KubeObject, spec: Json): FieldProblem[] {
  if (spec["manualSelector"] === true || !isRecord(spec["selector"])) return [];
  const own = { [UID]: metadata.uid ?? "", [NAME]: metadata.name, "controller-uid": metadata.uid ?? "" };
  const expected: Readonly<Record<string, string>> = { ...own, "job-name": metadata.name };
  const labels = record(at(spec, "template", "metadata", "labels"));
  const problems = Object.entries(expected).flatMap(([key, value]) => {
    const field = `spec.template.metadata.labels[${key}]`;
    const why = `must be '${value}'`;
    if (labels[key] === undefined) return [required(field, why)];
    return labels[key] === value ? [] : [invalidValue(field, labels, why)];
  });
  if (matchesLabels(spec["selector"], expected)) return problems;
  return [...problems, invalidValue("spec.selector", spec["selector"], "`selector` not auto-generated")];
}

const FIXED = ["selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];

function changeProblems(spec: Json, was: Json, isStarted: boolean): FieldProblem[] {
  // The scheduling of pods may change while a job is suspended and has not started.
  const template = (s: Json): unknown =>
    was["suspend"] === true && !isStarted ? unscheduled(record(s["template"])) : s["template"];
  const changed = FIXED.filter((name) => !same(spec[name], was[name]));
  if (!same(template(spec), template(was))) changed.push("template");
  const fixed = changed.map((name) => invalidValue(`spec.${name}`, spec[name], "field is immutable"));
  const { completions } = spec;
  if (same(completions, was["completions"])) return fixed;
  if (spec["completionMode"] !== "Indexed")
    return [...fixed, invalidValue("spec.completions", completions, "field is immutable")];
  if (completions === undefined || completions === spec["parallelism"]) return fixed;
  const why = "can only be modified in tandem with spec.parallelism";
  return [...fixed, invalidValue("spec.completions", completions, why)];
}

/** A template without what says where its pods run. */
function unscheduled(template: Json): Json {
  const { labels: _labels, annotations: _annotations, ...metadata } = record(template["metadata"]);
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    ...spec
  } = record(template["spec"]);
  const { nodeAffinity: _affinity, ...affinity } = record(spec["affinity"]);
  return { ...template, metadata, spec: { ...spec, affinity } };
}

/** Jobs: kept and checked; another process runs them. */
export const jobStrategy: Strategy = {
  // Without labels of its own it is stored without them first.
  settlesLate: (job) => same(job.metadata.labels, at(job, "spec", "template", "metadata", "labels")),
  prepareCreate: selectOwn,
  prepareUpdate(draft, _old, { subresource }) {
    if (subresource === "status") fillJobLabels(draft);
  },
  admit: warnOfTemplate,
  validate(object, old, context) {
    const spec = record(fields(object)["spec"]);
    if (context.subresource === "status" && old) {
      return jobStatusProblems({ spec, status: record(fields(object)["status"]), was: record(fields(old)["status"]) });
    }
    if (context.subresource) return [];
    const problems = [...generatedProblems(object, spec), ...jobSpecProblems(asGiven(spec, context), "spec", true)];
    if (!old) return problems;
    const isStarted = at(old, "status", "startTime") !== undefined;
    return [...problems, ...changeProblems(spec, record(fields(old)["spec"]), isStarted)];
  },
};
