import { array, isRecord, record, records, same, text, type Json } from "../../json/json.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { duplicate, notNegative } from "../shared/checks.ts";
import { fragmentsOf, overlapOf } from "./job-indexes.ts";

/*
 * What the status of a job may say, and become. Most rules are about what a write changes: what was wrong before may
 * remain. Source: Kubernetes API reference, JobStatus; KEP-4368.
 */

/** A job as it is to be, and as it was. */
export interface JobChange {
  readonly spec: Json;
  readonly status: Json;
  readonly was: Json;
}

const FIELD = "status";
const CONDITIONS = `${FIELD}.conditions`;
const COUNTS = ["active", "succeeded", "failed", "ready", "terminating"];

const isTrue = (status: Json, type: string): boolean =>
  records(status["conditions"]).find((c) => c["type"] === type)?.["status"] === "True";
const isFinished = (status: Json): boolean => isTrue(status, "Complete") || isTrue(status, "Failed");
const count = (value: unknown): number => (typeof value === "number" ? value : 0);

/** A cause about the conditions as a whole, without a value. */
function condition(why: string): FieldProblem {
  return { field: CONDITIONS, message: `Invalid value: ${why}`, reason: "FieldValueInvalid" };
}

/** What is wrong with an update of a Job's status. */
export function jobStatusProblems(change: JobChange): FieldProblem[] {
  const { status } = change;
  return [
    ...COUNTS.flatMap((name) => notNegative(`${FIELD}.${name}`, status[name])),
    ...uncountedProblems(status),
    ...completeProblems(change),
    ...timeProblems(change),
    ...endProblems(change),
    ...indexProblems(change),
    ...readyProblems(change),
    ...successProblems(change),
    ...historyProblems(change),
  ];
}

/** Pods that are not counted yet, each once. */
function uncountedProblems({ uncountedTerminatedPods: uncounted }: Json): FieldProblem[] {
  const seen = new Set<unknown>();
  return ["succeeded", "failed"].flatMap((name) =>
    array(record(uncounted)[name]).flatMap((uid, i) => {
      const field = `${FIELD}.uncountedTerminatedPods.${name}[${i}]`;
      if (uid === "") return [invalidValue(field, uid, "must not be empty")];
      if (seen.has(uid)) return [duplicate(field, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

function changed({ status, was }: JobChange, ...names: readonly string[]): boolean {
  return names.some((name) => !same(status[name], was[name]));
}

/** Whether a condition holds now and did not, or the other way round. */
function turned({ status, was }: JobChange, ...types: readonly string[]): boolean {
  return types.some((type) => isTrue(status, type) !== isTrue(was, type));
}

function completeProblems(change: JobChange): FieldProblem[] {
  const { status } = change;
  const [complete, failed] = [isTrue(status, "Complete"), isTrue(status, "Failed")];
  const faults: [boolean, string][] = [
    [turned(change, "Complete", "Failed") && complete && failed, "cannot set Complete=True and Failed=true conditions"],
    [
      turned(change, "Complete", "FailureTarget") && complete && isTrue(status, "FailureTarget"),
      "cannot set Complete=True and FailureTarget=true conditions",
    ],
    [
      (turned(change, "Failed") || changed(change, "failedIndexes")) && failed && !isTrue(status, "FailureTarget"),
      "cannot set Failed=True condition without the FailureTarget=true condition",
    ],
    [
      turned(change, "Complete", "SuccessCriteriaMet") && complete && !isTrue(status, "SuccessCriteriaMet"),
      "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    ],
  ];
  return problemsOf(faults);
}

function problemsOf(faults: readonly (readonly [boolean, string])[]): FieldProblem[] {
  return faults.filter(([isSo]) => isSo).map(([, why]) => condition(why));
}

function timeProblems(change: JobChange): FieldProblem[] {
  const { status } = change;
  const { startTime, completionTime } = status;
  const field = `${FIELD}.completionTime`;
  const complete = isTrue(status, "Complete");
  const problems: FieldProblem[] = [];
  if (turned(change, "Complete") || changed(change, "completionTime")) {
    if (completionTime !== undefined && !complete) {
      const why = "cannot set completionTime when there is no Complete=True condition";
      problems.push(invalidValue(field, completionTime, why));
    }
    if (completionTime === undefined && complete) {
      problems.push(required(field, "completionTime is required for Complete jobs"));
    }
  }
  const isMoved = changed(change, "startTime", "completionTime");
  if (isMoved && startTime !== undefined && completionTime !== undefined && text(completionTime) < text(startTime)) {
    problems.push(invalidValue(field, completionTime, "must be equal to or after `startTime`"));
  }
  return problems;
}

/** A job that has ended has no pods left. */
function endProblems(change: JobChange): FieldProblem[] {
  const { spec, status, was } = change;
  if (!isFinished(status)) return [];
  const { active, terminating, uncountedTerminatedPods: uncounted } = status;
  const ended = !isFinished(was);
  const problems: FieldProblem[] = [];
  if ((ended || changed(change, "active")) && count(active) > 0) {
    problems.push(invalidValue(`${FIELD}.active`, active, "active>0 is invalid for finished job"));
  }
  const isEmpty = spec["suspend"] === true && spec["completions"] === 0;
  if ((ended || changed(change, "startTime")) && !isEmpty && status["startTime"] === undefined) {
    problems.push(required(`${FIELD}.startTime`, "startTime is required for finished job"));
  }
  const { succeeded, failed } = record(uncounted);
  const isLeft = array(succeeded).length + array(failed).length > 0;
  if ((ended || changed(change, "uncountedTerminatedPods")) && isLeft) {
    const shown = { Succeeded: succeeded ?? null, Failed: failed ?? null };
    problems.push(invalidValue(`${FIELD}.uncountedTerminatedPods`, shown, "must be empty for finished job"));
  }
  if ((ended || changed(change, "terminating")) && count(terminating) > 0) {
    problems.push(invalidValue(`${FIELD}.terminating`, terminating, "terminating>0 is invalid for finished job"));
  }
  return problems;
}

function indexProblems(change: JobChange): FieldProblem[] {
  const { spec, status } = change;
  const { completions, backoffLimitPerIndex: perIndex } = spec;
  const { completedIndexes = "", failedIndexes } = status;
  const [completedField, failedField] = [`${FIELD}.completedIndexes`, `${FIELD}.failedIndexes`];
  const problems: FieldProblem[] = [];
  const malformed = (field: string, value: unknown): FieldProblem[] => {
    const fault = typeof completions === "number" ? fragmentsOf(text(value), completions).fault : undefined;
    const name = field.slice(FIELD.length + 1);
    return fault === undefined ? [] : [invalidValue(field, value, `error parsing ${name}: ${fault}`)];
  };
  if (changed(change, "completedIndexes")) problems.push(...malformed(completedField, completedIndexes));
  if (changed(change, "failedIndexes") && perIndex !== undefined && failedIndexes !== undefined) {
    problems.push(...malformed(failedField, failedIndexes));
  }
  if (changed(change, "completedIndexes") && completedIndexes !== "" && spec["completionMode"] !== "Indexed") {
    const why = "cannot set non-empty completedIndexes when non-indexed completion mode";
    problems.push(invalidValue(completedField, completedIndexes, why));
  }
  if (changed(change, "failedIndexes") && failedIndexes !== undefined && perIndex === undefined) {
    const why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    problems.push(invalidValue(failedField, failedIndexes, why));
  }
  const isBoth = changed(change, "failedIndexes", "completedIndexes") && typeof completions === "number";
  const overlap = isBoth ? overlapOf(text(completedIndexes), text(failedIndexes), completions) : undefined;
  if (overlap === undefined) return problems;
  const why = `failedIndexes and completedIndexes overlap at index: ${overlap}`;
  return [...problems, invalidValue(failedField, failedIndexes, why)];
}

function readyProblems(change: JobChange): FieldProblem[] {
  const { ready, active } = change.status;
  if (!changed(change, "ready", "active") || typeof ready !== "number" || ready <= count(active)) return [];
  return [invalidValue(`${FIELD}.ready`, ready, "cannot set more ready pods than active")];
}

function successProblems({ spec, status }: JobChange): FieldProblem[] {
  const isMet = isTrue(status, "SuccessCriteriaMet");
  return problemsOf([
    [isMet && isTrue(status, "Failed"), "cannot set SuccessCriteriaMet=True and Failed=true conditions"],
    [isMet && isTrue(status, "FailureTarget"), "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"],
    [
      isRecord(spec["successPolicy"]) && !isMet && isTrue(status, "Complete"),
      "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
    ],
  ]);
}

const TERMINAL = ["Failed", "Complete", "FailureTarget"];

/** What has happened remains so. */
function historyProblems(change: JobChange): FieldProblem[] {
  const { spec, status, was } = change;
  const problems = TERMINAL.filter((type) => isTrue(was, type) && !isTrue(status, type)).map((type) =>
    condition(`cannot disable the terminal ${type}=True condition`),
  );
  // Indexed jobs that can be made smaller may have fewer that succeeded.
  const mayShrink = spec["completionMode"] === "Indexed" && spec["completions"] === spec["parallelism"];
  for (const name of ["failed", ...(mayShrink ? [] : ["succeeded"])]) {
    if (count(status[name]) >= count(was[name])) continue;
    problems.push(invalidValue(`${FIELD}.${name}`, count(status[name]), `cannot decrease the ${name} counter`));
  }
  const { startTime, completionTime } = status;
  const isEndMoved = completionTime !== undefined && was["completionTime"] !== undefined;
  if (isEndMoved && completionTime !== was["completionTime"]) {
    problems.push(invalidValue(`${FIELD}.completionTime`, completionTime, "field is immutable"));
  }
  const isStartMoved = was["startTime"] !== undefined && startTime !== was["startTime"];
  if (isStartMoved && spec["suspend"] !== true && !isResuming(change)) {
    problems.push(required(`${FIELD}.startTime`, "startTime cannot be removed for unsuspended job"));
  }
  const [wasMet, isMet] = [isTrue(was, "SuccessCriteriaMet"), isTrue(status, "SuccessCriteriaMet")];
  const late = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
  return [
    ...problems,
    ...problemsOf([
      [wasMet && !isMet, "cannot disable the SuccessCriteriaMet=True condition"],
      [isTrue(was, "Complete") && !wasMet && isMet, late],
    ]),
  ];
}

function isResuming({ status, was }: JobChange): boolean {
  const now = records(status["conditions"]).find((c) => c["type"] === "Suspended");
  return isTrue(was, "Suspended") && now?.["status"] === "False";
}
