import { isRecord, record, records, text, texts, type Json } from "../json/json.ts";
import { invalidValue, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

/** What is wrong with what an access review asks about. */
export function attributesProblems(spec: Json): FieldProblem[] {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  const problems: FieldProblem[] = [];
  if (resource && path) {
    const why = "cannot be specified in combination with resourceAttributes";
    problems.push(invalidValue("spec.nonResourceAttributes", path, why));
  }
  if (!resource && !path) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    problems.push(invalidValue("spec.resourceAttributes", null, why));
  }
  const { fieldSelector, labelSelector } = record(resource);
  return [
    ...problems,
    ...selectorProblems(fieldSelector, "spec.resourceAttributes.fieldSelector"),
    ...selectorProblems(labelSelector, "spec.resourceAttributes.labelSelector"),
  ];
}

function selectorProblems(selector: unknown, path: string): FieldProblem[] {
  if (!isRecord(selector)) return [];
  const raw = text(selector["rawSelector"]);
  const requirements = records(selector["requirements"]);
  if (raw && requirements.length > 0) {
    return [invalidValue(`${path}.rawSelector`, raw, "may not specified at the same time as requirements")];
  }
  if (!raw && requirements.length === 0) {
    return [required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`)];
  }
  return requirements.flatMap((r, i) => requirementProblems(r, `${path}.requirements[${i}]`));
}

function requirementProblems({ key, operator, values }: Json, path: string): FieldProblem[] {
  const problems = text(key) ? [] : [required(`${path}.key`, "must be specified")];
  const given = texts(values);
  if ((operator === "In" || operator === "NotIn") && given.length === 0) {
    problems.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && given.length > 0) {
    const message = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    problems.push({ field: `${path}.values`, message, reason: "FieldValueForbidden" });
  }
  return problems;
}

/** What is wrong with the subject of an access review: it names a user or a group. */
export function subjectProblems(spec: Json): FieldProblem[] {
  if (text(spec["user"]) || texts(spec["groups"]).length > 0) return [];
  return [invalidValue("spec.user", "", "at least one of user or group must be specified")];
}

/** Questions have no identity. */
export function metadataProblems(review: Json, why = "must be empty"): FieldProblem[] {
  const { managedFields: _owners, creationTimestamp, ...metadata } = record(review["metadata"]);
  const rest = why === "must be empty" ? metadata : { ...metadata, namespace: undefined };
  const isEmpty = !creationTimestamp && Object.values(rest).every((v) => v === undefined || v === "" || v === null);
  return isEmpty ? [] : [invalidValue("metadata", metadata, why)];
}
