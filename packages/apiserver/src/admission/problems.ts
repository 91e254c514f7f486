import { array, isRecord, record, records, text, texts, type Json } from "../json/json.ts";
import { qualifiedNameFaults } from "../syntax/names.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

/**
 * What is wrong with the parts that webhook configurations and policies share, in the words of admissionregistration.
 */

/** What becomes of a request when a webhook or a policy fails. */
export const FAILURE_POLICIES = ["Fail", "Ignore"];
/** Whether rules are also about other versions of the kinds that they name. */
export const MATCH_POLICIES = ["Equivalent", "Exact"];
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const CONDITIONS_LIMIT = 64;

/** A value that is given and not one of those that are allowed. */
export function choice(field: string, value: unknown, allowed: readonly string[]): FieldProblem[] {
  return value === undefined || allowed.includes(text(value)) ? [] : [notSupported(field, value, allowed)];
}

/** A name that a list of unique items has twice. */
export function duplicate(field: string, value: unknown): FieldProblem {
  return { field, message: `Duplicate value: ${JSON.stringify(value)}`, reason: "FieldValueDuplicate" };
}

/** RuleWithOperations. */
export function ruleProblems(rule: Json, path: string): FieldProblem[] {
  const operations = texts(rule["operations"]);
  const unknown = operations.flatMap((o, i) => choice(`${path}.operations[${i}]`, o, OPERATIONS));
  const versions = texts(rule["apiVersions"]);
  return [
    ...listProblems(`${path}.operations`, operations, "operations"),
    ...unknown,
    ...listProblems(`${path}.apiGroups`, texts(rule["apiGroups"]), "API groups"),
    ...listProblems(`${path}.apiVersions`, versions, "API versions"),
    ...versions.flatMap((v, i) => (v === "" ? [required(`${path}.apiVersions[${i}]`)] : [])),
    ...resourceProblems(texts(rule["resources"]), `${path}.resources`),
    ...choice(`${path}.scope`, rule["scope"], SCOPES),
  ];
}

function listProblems(field: string, values: readonly string[], what: string): FieldProblem[] {
  if (values.length === 0) return [required(field)];
  if (values.length === 1 || !values.includes("*")) return [];
  return [invalidValue(field, values, `if '*' is present, must not specify other ${what}`)];
}

function resourceProblems(resources: readonly string[], field: string): FieldProblem[] {
  if (resources.length === 0) return [required(field)];
  const problems: FieldProblem[] = [];
  const wholes = new Set<string>();
  const everywhere = new Set<string>();
  let plain = false;
  resources.forEach((entry, i) => {
    if (entry === "") return problems.push(required(`${field}[${i}]`));
    const slash = entry.indexOf("/");
    if (slash < 0) return (plain = entry !== "*");
    const [resource, sub] = [entry.slice(0, slash), entry.slice(slash + 1)];
    const clash = (pattern: string): FieldProblem =>
      invalidValue(`${field}[${i}]`, entry, `if '${pattern}' is present, must not specify ${entry}`);
    if (wholes.has(resource)) problems.push(clash(`${resource}/*`));
    if (everywhere.has(sub)) problems.push(clash(`*/${sub}`));
    if (sub === "*") wholes.add(resource);
    if (resource === "*") everywhere.add(sub);
    return undefined;
  });
  if (resources.length > 1 && resources.includes("*/*")) {
    problems.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (plain && resources.includes("*")) {
    const why = "if '*' is present, must not specify other resources without subresources";
    problems.push(invalidValue(field, resources, why));
  }
  return problems;
}

/** metav1.LabelSelector. */
export function selectorProblems(selector: unknown, path: string): FieldProblem[] {
  const labels = Object.keys(record(record(selector)["matchLabels"]));
  const keys = labels.flatMap((key) =>
    qualifiedNameFaults(key).map((why) => invalidValue(`${path}.matchLabels`, key, why)),
  );
  const expressions = records(record(selector)["matchExpressions"]).flatMap((e, i) =>
    expressionProblems(e, `${path}.matchExpressions[${i}]`),
  );
  return [...keys, ...expressions];
}

function expressionProblems(expression: Json, path: string): FieldProblem[] {
  const key = text(expression["key"]);
  const count = array(expression["values"]).length;
  const faults = qualifiedNameFaults(key).map((why) => invalidValue(`${path}.key`, key, why));
  switch (expression["operator"]) {
    case "In":
    case "NotIn":
      if (count > 0) return faults;
      return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"), ...faults];
    case "Exists":
    case "DoesNotExist":
      if (count === 0) return faults;
      return [
        forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        ...faults,
      ];
    default:
      return [
        invalidValue(`${path}.operator`, expression["operator"] ?? "", "not a valid selector operator"),
        ...faults,
      ];
  }
}

/** matchConditions; `check` returns the faults of an expression. */
export function conditionProblems(
  conditions: unknown,
  path: string,
  check: (expression: string) => string | undefined,
): FieldProblem[] {
  const all = array(conditions).filter(isRecord);
  const seen = new Set<string>();
  const problems: FieldProblem[] = [];
  if (all.length > CONDITIONS_LIMIT) {
    const message = `Too many: ${all.length}: must have at most ${CONDITIONS_LIMIT} items`;
    problems.push({ field: path, message, reason: "FieldValueTooMany" });
  }
  all.forEach((condition, i) => {
    const name = text(condition["name"]);
    const expression = text(condition["expression"]).trim();
    const field = `${path}[${i}]`;
    if (expression === "") problems.push(required(`${field}.expression`));
    else problems.push(...expressionFault(`${field}.expression`, expression, check));
    if (name === "") problems.push(required(`${field}.name`));
    else if (seen.has(name)) problems.push(duplicate(`${field}.name`, name));
    else problems.push(...qualifiedNameFaults(name).map((why) => invalidValue(`${field}.name`, name, why)));
    seen.add(name);
  });
  return problems;
}

/** What `check` says of an expression, as a problem of its field. */
export function expressionFault(
  field: string,
  expression: string,
  check: (expression: string) => string | undefined,
): FieldProblem[] {
  const fault = check(expression);
  return fault === undefined ? [] : [invalidValue(field, expression, fault)];
}
