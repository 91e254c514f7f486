import { at, isRecord, record, records, same, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { tolerationProblems } from "./scheduling.ts";

/*
 * What may be changed of a pod that is there. Source: Kubernetes, "Pod update and replacement"; "Pod Scheduling
 * Readiness".
 */

const GROUPS = ["containers", "initContainers"];

/** Faults of the change from a pod's old spec to the new one; faults of the new spec itself are reported elsewhere. */
export function updateProblems(spec: Json, was: Json): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const group of GROUPS) {
    if (records(spec[group]).length !== records(was[group]).length)
      return [...problems, forbiddenField(`spec.${group}`, "pod updates may not add or remove containers")];
    problems.push(...records(spec[group]).flatMap((c, i) => imageNeeded(c, `spec.${group}[${i}].image`)));
  }
  const late = deadlineProblems(spec["activeDeadlineSeconds"], was["activeDeadlineSeconds"]);
  problems.push(...late);
  // A deadline that is none ends the check of the rest.
  if (late.length > 0 && spec["activeDeadlineSeconds"] !== undefined) return problems;
  problems.push(...addedTolerations(spec, was), ...removedGates(spec, was));
  const isGated = records(was["schedulingGates"]).length > 0;
  if (isGated) problems.push(...selectorProblems(spec, was), ...affinityProblems(spec, was));
  return same(fixed(spec, was, isGated), fixed(was, was, isGated)) ? problems : [...problems, OTHERS];
}

const OTHERS = forbiddenField(
  "spec",
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
);

function imageNeeded({ image }: Json, field: string): FieldProblem[] {
  return text(image) === "" ? [required(field)] : [];
}

const LONGEST = 2_147_483_647;

/** Seconds, which may only become fewer. */
function deadlineProblems(now: unknown, was: unknown): FieldProblem[] {
  const field = "spec.activeDeadlineSeconds";
  if (typeof now !== "number")
    return typeof was === "number"
      ? [invalidValue(field, null, "must not update from a positive integer to nil value")]
      : [];
  if (now < 0 || now > LONGEST) return [invalidValue(field, now, `must be between 0 and ${LONGEST}, inclusive`)];
  const isMore = typeof was === "number" && was < now;
  return isMore ? [invalidValue(field, now, "must be less than or equal to previous value")] : [];
}

function addedTolerations(spec: Json, was: Json): FieldProblem[] {
  const untimed = ({ tolerationSeconds: _seconds, ...rest }: Json): Json => rest;
  const now = records(spec["tolerations"]);
  const isKept = (old: Json): boolean => now.some((toleration) => same(untimed(toleration), untimed(old)));
  if (records(was["tolerations"]).every(isKept)) return tolerationProblems(now, "spec.tolerations");
  return [forbiddenField("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

function removedGates(spec: Json, was: Json): FieldProblem[] {
  const known = new Set(records(was["schedulingGates"]).map((gate) => gate["name"]));
  return records(spec["schedulingGates"]).flatMap(({ name }, i) => {
    const why = `only deletion is allowed, but found new scheduling gate '${text(name)}'`;
    return known.has(name) ? [] : [forbiddenField(`spec.schedulingGates[${i}].name`, why)];
  });
}

function selectorProblems(spec: Json, was: Json): FieldProblem[] {
  const now = record(spec["nodeSelector"]);
  if (Object.entries(record(was["nodeSelector"])).every(([key, value]) => now[key] === value)) return [];
  const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
  return [invalidValue("spec.nodeSelector", spec["nodeSelector"] ?? null, why)];
}

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";

/** The terms that a node has to meet may ask for more, not for less. */
function affinityProblems(spec: Json, was: Json): FieldProblem[] {
  const terms = (s: Json): readonly Json[] => records(at(s, "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"));
  const [now, before] = [terms(spec), terms(was)];
  const field = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
  if (before.length === 0) return [];
  if (before.length !== now.length) {
    const why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    return [invalidValue(field, goTerms(now), why)];
  }
  return before.flatMap((term, i) => {
    const why = "only additions are allowed (no mutations or deletions)";
    return asksMore(record(now[i]), term) ? [] : [invalidValue(`${field}[${i}]`, goTerms(now)?.[i], why)];
  });
}

function asksMore(now: Json, was: Json): boolean {
  const lists = ["matchExpressions", "matchFields"];
  if (lists.every((list) => records(was[list]).length === 0)) return same(now, was);
  return lists.every((list) => records(was[list]).every((one, i) => same(one, records(now[list])[i])));
}

/** As messages show them. */
function goTerms(terms: readonly Json[]): Json[] | undefined {
  if (terms.length === 0) return undefined;
  const shown = (list: unknown): Json[] | null =>
    list === undefined
      ? null
      : records(list).map(({ key, operator, values }) => ({ Key: key, Operator: operator, Values: values ?? null }));
  return terms.map((term) => ({
    MatchExpressions: shown(term["matchExpressions"]),
    MatchFields: shown(term["matchFields"]),
  }));
}

/** A spec without what may be changed. */
function fixed(spec: Json, was: Json, isGated: boolean): Json {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, schedulingGates: _gates, ...rest } = spec;
  for (const group of GROUPS) {
    if (rest[group] !== undefined)
      rest[group] = records(rest[group]).map(({ image: _image, ...container }) => container);
  }
  const { terminationGracePeriodSeconds: before } = was;
  const isMended = typeof before === "number" && before < 0 && rest["terminationGracePeriodSeconds"] === 1;
  if (isMended) rest["terminationGracePeriodSeconds"] = before;
  return isGated ? unplaced(rest) : rest;
}

/** Without what says on which nodes a pod that waits may run. */
function unplaced({ nodeSelector: _selector, affinity, ...spec }: Json): Json {
  if (!isRecord(affinity)) return spec;
  const { nodeAffinity: _node, ...others } = affinity;
  return Object.keys(others).length === 0 ? spec : { ...spec, affinity: others };
}
