import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, same, type Json } from "../json.ts";
import { invalidValue } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import { jobSpecProblems } from "./job-rules.ts";
import type { Draft, Strategy } from "./resource.ts";
import { strayProblems } from "./template.ts";

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
  // Of labels that are given already the rules tell whether they are right.
  metadata["labels"] = { ...own, ...given };
  template["metadata"] = metadata;
  spec["template"] = template;
  if (isBare) draft.metadata.labels = { ...own, ...given } as Record<string, string>;
  const selector = record(spec["selector"]);
  spec["selector"] = { ...selector, matchLabels: { ...record(selector["matchLabels"]), [UID]: uid } };
}

/** A selector is the one that was made, or said to be the writer's own; so are the labels that it finds. */
function ownProblems({ metadata }: KubeObject, spec: Json): FieldProblem[] {
  if (spec["manualSelector"] === true) return [];
  const { uid = "", name } = metadata;
  const labels = record(at(spec, "template", "metadata", "labels"));
  const expected = { "controller-uid": uid, [UID]: uid, "job-name": name, [NAME]: name };
  const wrong = Object.entries(expected).flatMap(([label, value]) => {
    const field = `spec.template.metadata.labels[${label}]`;
    return labels[label] === value ? [] : [invalidValue(field, labels, `must be '${value}'`)];
  });
  const isOwn = same(spec["selector"], { matchLabels: { [UID]: uid } });
  const chosen = isOwn ? [] : [invalidValue("spec.selector", spec["selector"], "`selector` not auto-generated")];
  return [...wrong, ...chosen, ...strayProblems(spec, "spec")];
}

const FIXED = ["completions", "selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex"];

/** Jobs: kept and checked; another process runs them. */
export const jobStrategy: Strategy = {
  settlesLate: true,
  prepareCreate: selectOwn,
  validate(object, old, { subresource }) {
    if (subresource) return [];
    const spec = record(fields(object)["spec"]);
    const problems = jobSpecProblems(spec, "spec", true);
    if (!old) return [...ownProblems(object, spec), ...problems];
    const was = record(fields(old)["spec"]);
    const changed = [...FIXED, "template"].filter((name) => !same(spec[name], was[name]));
    return [...problems, ...changed.map((name) => invalidValue(`spec.${name}`, spec[name], "field is immutable"))];
  },
};
