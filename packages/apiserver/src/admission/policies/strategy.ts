import type { KubeObject } from "@causeway/kubernetes";
import { array, fields, record, records, same, text, type Json } from "../../json/json.ts";
import type { Strategy } from "../../contract/resource.ts";
import { qualifiedNameFaults } from "../../syntax/names.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { Expressions, type Scope } from "../cel/expressions.ts";
import { choice, conditionProblems, duplicate, expressionFault, FAILURE_POLICIES } from "../problems.ts";
import { matchResourcesProblems, fillMatchResources, paramKindProblems } from "./match-resources.ts";
import { paramKindPermission } from "./permission.ts";
import { scopeOf } from "./read.ts";

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const ANNOTATIONS_LIMIT = 20;
const LONGEST_ANNOTATION_EXPRESSION = 5 * 1024;
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const EITHER = "validations or auditAnnotations must contain at least one item";

/** ValidatingAdmissionPolicies: filled in, and their expressions compiled, when they are written. */
export const policyStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = record(draft["spec"]);
    draft["spec"] = spec;
    spec["failurePolicy"] ??= "Fail";
    fillMatchResources(record(spec["matchConstraints"]));
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") draft["spec"] = structuredClone(fields(old)["spec"]);
  },
  validate(object, old, context) {
    if (context.subresource === "status") return [];
    const spec = specOf(object);
    const before = old && specOf(old);
    const unchanged = before !== undefined && same(spec["matchConditions"], before["matchConditions"]);
    const problems = specProblems(
      spec,
      object.metadata.name,
      unchanged && same(spec["paramKind"], before["paramKind"]),
    );
    return problems.length > 0 ? problems : paramKindPermission(object, old, context);
  },
};

function specOf(object: KubeObject): Json {
  return record(fields(object)["spec"]);
}

interface Checked {
  readonly expressions: Expressions;
  readonly scope: Omit<Scope, "types">;
}

function specProblems(spec: Json, name: string, keepsConditions: boolean): FieldProblem[] {
  const expressions = new Expressions();
  const scope = scopeOf(spec);
  const checked = { expressions, scope };
  const conditionScope = { params: scope.params === true, types: ["bool"] };
  const conditionFault = (text: string): string | undefined => expressions.compile(text, conditionScope).fault;
  const constraints = spec["matchConstraints"];
  return [
    ...choice("spec.failurePolicy", spec["failurePolicy"], FAILURE_POLICIES),
    ...(spec["paramKind"] ? paramKindProblems(record(spec["paramKind"]), "spec.paramKind") : []),
    ...(constraints ? constraintProblems(record(constraints)) : [required("spec.matchConstraints")]),
    ...(keepsConditions ? [] : conditionProblems(spec["matchConditions"], "spec.matchConditions", conditionFault)),
    ...records(spec["variables"]).flatMap((v, i) => variableProblems(v, `spec.variables[${i}]`, checked)),
    ...ruleProblems(spec, name, checked),
  ];
}

function constraintProblems(constraints: Json): FieldProblem[] {
  const problems = matchResourcesProblems(constraints, "spec.matchConstraints");
  if (array(constraints["resourceRules"]).length > 0) return problems;
  return [...problems, required("spec.matchConstraints.resourceRules")];
}

function variableProblems(variable: Json, path: string, { expressions, scope }: Checked): FieldProblem[] {
  const [name, expression] = [text(variable["name"]), text(variable["expression"])];
  const problems: FieldProblem[] = [];
  if (name.trim() === "") problems.push(required(`${path}.name`, "name is not specified"));
  else if (!IDENTIFIER.test(name)) problems.push(invalidValue(`${path}.name`, name, "must be a valid CEL identifier"));
  if (expression.trim() === "") problems.push(required(`${path}.expression`, "expression is not specified"));
  else {
    const fault = (it: string): string | undefined => expressions.compile(it, { ...scope, types: ["any"] }).fault;
    problems.push(...expressionFault(`${path}.expression`, expression, fault));
  }
  return problems;
}

function ruleProblems(spec: Json, name: string, checked: Checked): FieldProblem[] {
  const [validations, annotations] = [records(spec["validations"]), records(spec["auditAnnotations"])];
  if (validations.length === 0 && annotations.length === 0) {
    return [required("spec.validations", EITHER), required("spec.auditAnnotations", EITHER)];
  }
  const problems = validations.flatMap((v, i) => validationProblems(v, `spec.validations[${i}]`, checked));
  if (annotations.length > ANNOTATIONS_LIMIT) {
    const why = `must not have more than ${ANNOTATIONS_LIMIT} auditAnnotations`;
    problems.push(invalidValue("spec.auditAnnotations", annotations, why));
  }
  const seen = new Set<string>();
  annotations.forEach((annotation, i) => {
    const path = `spec.auditAnnotations[${i}]`;
    const key = text(annotation["key"]);
    problems.push(
      ...qualifiedNameFaults(`${name}/${key}`).map((why) => invalidValue(`${path}.key`, `${name}/${key}`, why)),
      ...annotationProblems(text(annotation["valueExpression"]).trim(), `${path}.valueExpression`, checked),
    );
    if (seen.has(key)) problems.push(duplicate(`${path}.key`, key));
    seen.add(key);
  });
  return problems;
}

function annotationProblems(expression: string, field: string, { expressions, scope }: Checked): FieldProblem[] {
  if (expression === "") return [required(field, "valueExpression is not specified")];
  if (Buffer.byteLength(expression) > LONGEST_ANNOTATION_EXPRESSION) {
    return [required(field, `must not exceed ${LONGEST_ANNOTATION_EXPRESSION} bytes in length`)];
  }
  const types = ["string", "null"];
  return expressionFault(field, expression, (it) => expressions.compile(it, { ...scope, types }).fault);
}

function validationProblems(validation: Json, path: string, { expressions, scope }: Checked): FieldProblem[] {
  const [expression, message] = [text(validation["expression"]), text(validation["message"])];
  const messageExpression = text(validation["messageExpression"]);
  const problems: FieldProblem[] = [];
  const check = (field: string, it: string, more: Pick<Scope, "types" | "authorizer">): void => {
    problems.push(...expressionFault(field, it, (e) => expressions.compile(e, { ...scope, ...more }).fault));
  };
  if (expression.trim() === "") problems.push(required(`${path}.expression`, "expression is not specified"));
  else check(`${path}.expression`, expression, { types: ["bool"] });
  if (messageExpression !== "" && messageExpression.trim() === "") {
    problems.push(invalidValue(`${path}.messageExpression`, messageExpression, "must be non-empty if specified"));
  } else if (messageExpression !== "") {
    check(`${path}.messageExpression`, messageExpression, { types: ["string"], authorizer: false });
  }
  if (message !== "" && message.trim() === "") {
    problems.push(invalidValue(`${path}.message`, message, "must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    problems.push(invalidValue(`${path}.message`, message, "must not contain line breaks"));
  }
  return [...problems, ...choice(`${path}.reason`, validation["reason"], REASONS)];
}
