import { array, isRecord, record, text, type Json } from "../../json/json.ts";
import { invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { each, notNegative, supported } from "../shared/checks.ts";
import { templateLabelProblems, templateProblems } from "../shared/template.ts";

/*
 * Jobs, and the templates of CronJobs. Source: Kubernetes API reference, JobSpec; "Jobs".
 */

const COUNTS = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
const MODES = ["NonIndexed", "Indexed"];
const REPLACEMENTS = ["Failed", "TerminatingOrFailed"];
const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];

/** A JobSpec at `path`; `selects` is false in a template, which has no selector yet. */
export function jobSpecProblems(spec: Json, path: string, selects: boolean): FieldProblem[] {
  const template = record(spec["template"]);
  return [
    ...(selects ? selectorProblems(spec, path) : []),
    ...COUNTS.flatMap((name) => notNegative(`${path}.${name}`, spec[name])),
    ...indexProblems(spec, path),
    ...supported(`${path}.completionMode`, spec["completionMode"], MODES),
    ...supported(`${path}.podReplacementPolicy`, spec["podReplacementPolicy"], REPLACEMENTS),
    ...managerProblems(spec, path),
    ...failureProblems(spec, path),
    ...successProblems(spec, path),
    ...templateProblems(template, `${path}.template`),
    ...restartProblems(spec, template, `${path}.template.spec.restartPolicy`),
  ];
}

function selectorProblems(spec: Json, path: string): FieldProblem[] {
  const missing = isRecord(spec["selector"]) ? [] : [required(`${path}.selector`)];
  return [...missing, ...templateLabelProblems(spec, path)];
}

function indexProblems(spec: Json, path: string): FieldProblem[] {
  const { completions, backoffLimitPerIndex: perIndex, maxFailedIndexes: failed } = spec;
  const isIndexed = spec["completionMode"] === "Indexed";
  const problems: FieldProblem[] = [];
  if (isIndexed && completions === undefined) {
    problems.push(required(`${path}.completions`, "when completion mode is Indexed"));
  }
  problems.push(...notNegative(`${path}.backoffLimitPerIndex`, perIndex));
  if (perIndex !== undefined && !isIndexed) {
    problems.push(invalidValue(`${path}.backoffLimitPerIndex`, perIndex, "requires indexed completion mode"));
  }
  problems.push(...notNegative(`${path}.maxFailedIndexes`, failed));
  if (failed === undefined) return problems;
  if (perIndex === undefined) {
    problems.push(required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  if (typeof completions === "number" && typeof failed === "number" && failed > completions) {
    const why = "must be less than or equal to completions";
    problems.push(invalidValue(`${path}.maxFailedIndexes`, failed, why));
  }
  return problems;
}

function managerProblems({ managedBy }: Json, path: string): FieldProblem[] {
  if (managedBy === undefined || /^[a-z0-9.-]+\/[A-Za-z0-9/._-]+$/.test(text(managedBy))) return [];
  const why = 'must be a domain-prefixed path (such as "acme.io/foo")';
  return [invalidValue(`${path}.managedBy`, managedBy, why)];
}

function failureProblems({ podFailurePolicy: policy }: Json, path: string): FieldProblem[] {
  if (!isRecord(policy)) return [];
  return each(`${path}.podFailurePolicy.rules`, policy["rules"], (rule, at) => {
    const codes = rule["onExitCodes"];
    const conditions = array(rule["onPodConditions"]);
    const action = text(rule["action"]);
    const problems = action === "" ? [required(`${at}.action`)] : supported(`${at}.action`, action, ACTIONS);
    if (isRecord(codes)) problems.push(...exitProblems(codes, `${at}.onExitCodes`));
    const omitted = (why: string): FieldProblem => ({
      field: at,
      message: `Invalid value: ${why}`,
      reason: "FieldValueInvalid",
    });
    if (isRecord(codes) && conditions.length > 0) {
      problems.push(omitted("specifying both OnExitCodes and OnPodConditions is not supported"));
    }
    if (!isRecord(codes) && conditions.length === 0) {
      problems.push(omitted("specifying one of OnExitCodes and OnPodConditions is required"));
    }
    return problems;
  });
}

function exitProblems(codes: Json, field: string): FieldProblem[] {
  const operator = text(codes["operator"]);
  const values = array(codes["values"]);
  const problems = supported(`${field}.operator`, operator, ["In", "NotIn"]);
  if (values.length === 0) problems.push(invalidValue(`${field}.values`, [], "at least one value is required"));
  const zeros = values.flatMap((value, i) =>
    operator === "In" && value === 0
      ? [invalidValue(`${field}.values[${i}]`, 0, "must not be 0 for the In operator")]
      : [],
  );
  return [...problems, ...zeros];
}

function successProblems({ successPolicy: policy, completionMode }: Json, path: string): FieldProblem[] {
  if (!isRecord(policy) || completionMode === "Indexed") return [];
  const shown = { Rules: array(policy["rules"]) };
  return [invalidValue(`${path}.successPolicy`, shown, "requires indexed completion mode")];
}

function restartProblems(spec: Json, template: Json, field: string): FieldProblem[] {
  const policy = text(record(template["spec"])["restartPolicy"]);
  if (policy === "" || policy === "Always") {
    const problem = required(field, 'valid values: "OnFailure", "Never"');
    return policy === "" ? [] : [problem];
  }
  if (policy !== "OnFailure" && policy !== "Never") return [notSupported(field, policy, ["OnFailure", "Never"])];
  if (policy === "Never" || !isRecord(spec["podFailurePolicy"])) return [];
  return [invalidValue(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}
