import { fields, isRecord, record, same } from "../json.ts";
import { invalidValue } from "../server/problems.ts";
import { jobSpecProblems } from "./job-rules.ts";
import type { Draft, Strategy } from "./resource.ts";

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
  metadata["labels"] = { ...given, ...own };
  template["metadata"] = metadata;
  spec["template"] = template;
  if (isBare) draft.metadata.labels = { ...given, ...own } as Record<string, string>;
  if (!isRecord(spec["selector"])) spec["selector"] = { matchLabels: { [UID]: uid } };
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
    if (!old) return problems;
    const was = record(fields(old)["spec"]);
    const changed = [...FIXED, "template"].filter((name) => !same(spec[name], was[name]));
    return [...problems, ...changed.map((name) => invalidValue(`spec.${name}`, spec[name], "field is immutable"))];
  },
};
