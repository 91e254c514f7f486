import { array, isRecord, record, records, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import {
  dnsLabel,
  dnsName,
  duplicate,
  each,
  labelName,
  labelValue,
  selectorProblems,
  supported,
} from "../../shared/checks.ts";

/*
 * On which nodes a pod may run. Source: Kubernetes, "Assigning Pods to Nodes", "Taints and Tolerations", "Pod Topology
 * Spread Constraints".
 */

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const LISTS = ["In", "NotIn"];
const PRESENCE = ["Exists", "DoesNotExist"];
const ORDERS = ["Gt", "Lt"];

/** A requirement that is only wished for may name values that no label has. */
function wishProblems(term: Json, field: string): FieldProblem[] {
  return expressionProblems(
    { ...term, values: array(term["values"]).map((value) => (isLabel(value) ? value : "x")) },
    field,
  );
}

function isLabel(value: unknown): boolean {
  return labelValue("", text(value)).length === 0;
}

function expressionProblems(term: Json, field: string): FieldProblem[] {
  const operator = text(term["operator"]);
  const values = array(term["values"]);
  const problems: FieldProblem[] = [];
  const at = `${field}.values`;
  if (LISTS.includes(operator)) {
    if (values.length === 0) problems.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (PRESENCE.includes(operator)) {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) problems.push(forbiddenField(at, why));
  } else if (ORDERS.includes(operator)) {
    const why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
    if (values.length !== 1) problems.push(required(at, why));
  } else problems.push(invalidValue(`${field}.operator`, operator, "not a valid selector operator"));
  problems.push(...labelName(`${field}.key`, text(term["key"])));
  return [...problems, ...values.flatMap((value, i) => labelValue(`${at}[${i}]`, text(value)))];
}

function fieldTermProblems(term: Json, field: string): FieldProblem[] {
  const operator = text(term["operator"]);
  const values = array(term["values"]);
  const problems: FieldProblem[] = [];
  if (!LISTS.includes(operator)) {
    problems.push(invalidValue(`${field}.operator`, operator, "not a valid selector operator"));
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    problems.push(required(`${field}.values`, why));
  }
  if (term["key"] !== "metadata.name") {
    return [...problems, invalidValue(`${field}.key`, text(term["key"]), "not a valid field selector key")];
  }
  return [...problems, ...values.flatMap((value, i) => dnsName(`${field}.values[${i}]`, text(value)))];
}

/** A term of a node selector. */
export function nodeTermProblems(term: Json, field: string): FieldProblem[] {
  return [
    ...each(`${field}.matchExpressions`, term["matchExpressions"], expressionProblems),
    ...each(`${field}.matchFields`, term["matchFields"], fieldTermProblems),
  ];
}

function preferenceProblems(term: Json, field: string): FieldProblem[] {
  return [
    ...each(`${field}.matchExpressions`, term["matchExpressions"], wishProblems),
    ...each(`${field}.matchFields`, term["matchFields"], fieldTermProblems),
  ];
}

/** A NodeSelector, of pods and of volumes. */
export function nodeSelectorProblems(selector: unknown, field: string): FieldProblem[] {
  const terms = records(record(selector)["nodeSelectorTerms"]);
  const at = `${field}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, "must have at least one node selector term")];
  return each(at, terms, nodeTermProblems);
}

function weightProblems(field: string, weight: unknown): FieldProblem[] {
  const isOut = typeof weight !== "number" || weight < 1 || weight > 100;
  return isOut ? [invalidValue(`${field}.weight`, weight ?? 0, "must be in the range 1-100")] : [];
}

function podTermProblems(term: Json, field: string): FieldProblem[] {
  const key = text(term["topologyKey"]);
  const selector = term["labelSelector"];
  return [
    ...selectorProblems(`${field}.labelSelector`, selector),
    ...selectorProblems(`${field}.namespaceSelector`, term["namespaceSelector"]),
    ...array(term["namespaces"]).flatMap((name) => dnsLabel(`${field}.namespace`, text(name))),
    ...labelKeyProblems(term, field),
    ...(key === "" ? [required(`${field}.topologyKey`, "can not be empty")] : []),
    ...labelName(`${field}.topologyKey`, key),
  ];
}

function labelKeyProblems(term: Json, field: string): FieldProblem[] {
  const hasSelector = isRecord(term["labelSelector"]);
  return ["matchLabelKeys", "mismatchLabelKeys"].flatMap((name) => {
    if (array(term[name]).length === 0) return [];
    if (!hasSelector)
      return [forbiddenField(`${field}.${name}`, "must not be specified when labelSelector is not set")];
    return array(term[name]).flatMap((key, i) => labelName(`${field}.${name}[${i}]`, text(key)));
  });
}

/** What is wrong with affinity to nodes and pods, and with anti-affinity. */
export function affinityProblems(affinity: unknown, field: string): FieldProblem[] {
  if (!isRecord(affinity)) return [];
  const problems: FieldProblem[] = [];
  const { nodeAffinity: node } = affinity;
  if (isRecord(node)) {
    const at = `${field}.nodeAffinity`;
    if (isRecord(node[REQUIRED])) problems.push(...nodeSelectorProblems(node[REQUIRED], `${at}.${REQUIRED}`));
    const preferred = each(`${at}.${PREFERRED}`, node[PREFERRED], (one, place) => [
      ...weightProblems(place, one["weight"]),
      ...preferenceProblems(record(one["preference"]), `${place}.preference`),
    ]);
    problems.push(...preferred);
  }
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    const pods = record(affinity[name]);
    problems.push(
      ...each(`${field}.${name}.${REQUIRED}`, pods[REQUIRED], podTermProblems),
      ...each(`${field}.${name}.${PREFERRED}`, pods[PREFERRED], (one, place) => [
        ...weightProblems(place, one["weight"]),
        ...podTermProblems(record(one["podAffinityTerm"]), `${place}.podAffinityTerm`),
      ]),
    );
  }
  return problems;
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const ALL_TAINTS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

/** What is wrong with a list of tolerations. */
export function tolerationProblems(tolerations: unknown, field: string): FieldProblem[] {
  return each(field, tolerations, (toleration, at) => {
    const key = text(toleration["key"]);
    const operator = text(toleration["operator"]);
    const value = text(toleration["value"]);
    const effect = text(toleration["effect"]);
    const problems = key === "" ? [] : labelName(`${at}.key`, key);
    if (key === "" && operator !== "Exists") problems.push(invalidValue(`${at}.operator`, operator, ALL_TAINTS));
    if (typeof toleration["tolerationSeconds"] === "number" && effect !== "NoExecute") {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      problems.push(invalidValue(`${at}.effect`, effect, why));
    }
    if (operator === "" || operator === "Equal") problems.push(...labelValue(`${at}.operator`, value));
    else if (operator !== "Exists") problems.push(...supported(`${at}.operator`, operator, ["Equal", "Exists"]));
    else if (value !== "") {
      problems.push(invalidValue(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    }
    return effect === "" ? problems : [...problems, ...supported(`${at}.effect`, effect, EFFECTS)];
  });
}

const ACTIONS = ["DoNotSchedule", "ScheduleAnyway"];
const INCLUSIONS = ["Honor", "Ignore"];

/** What is wrong with topologySpreadConstraints. */
export function spreadProblems(constraints: unknown, field: string): FieldProblem[] {
  const all = records(constraints);
  return each(field, all, (one, at, index) => {
    const { maxSkew, minDomains } = one;
    const key = text(one["topologyKey"]);
    const action = text(one["whenUnsatisfiable"]);
    const problems: FieldProblem[] = [];
    const few = "must be greater than zero";
    if (typeof maxSkew !== "number" || maxSkew <= 0) problems.push(invalidValue(`${at}.maxSkew`, maxSkew ?? 0, few));
    if (key === "") problems.push(required(`${at}.topologyKey`, "can not be empty"));
    else problems.push(...labelName(`${at}.topologyKey`, key));
    problems.push(...supported(`${at}.whenUnsatisfiable`, action, ACTIONS));
    const isTwice = all.slice(index + 1).some((o) => o["topologyKey"] === key && o["whenUnsatisfiable"] === action);
    if (isTwice) problems.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`));
    if (typeof minDomains === "number" && minDomains <= 0) {
      problems.push(invalidValue(`${at}.minDomains`, minDomains, few));
    }
    if (typeof minDomains === "number" && action !== "DoNotSchedule") {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
      problems.push(invalidValue(`${at}.minDomains`, minDomains, why));
    }
    return [
      ...problems,
      ...supported(`${at}.nodeAffinityPolicy`, one["nodeAffinityPolicy"], INCLUSIONS),
      ...supported(`${at}.nodeTaintsPolicy`, one["nodeTaintsPolicy"], INCLUSIONS),
      ...labelKeyProblems({ ...one, mismatchLabelKeys: [] }, at),
      ...selectorProblems(`${at}.labelSelector`, one["labelSelector"]),
    ];
  });
}

/** What is wrong with a pod's readiness gates and scheduling gates. */
export function gateProblems(spec: Json, path: string): FieldProblem[] {
  const seen = new Set<string>();
  return [
    ...each(`${path}.readinessGates`, spec["readinessGates"], (gate, at) =>
      labelName(`${at}.conditionType`, text(gate["conditionType"])),
    ),
    ...each(`${path}.schedulingGates`, spec["schedulingGates"], (gate, at) => {
      const name = text(gate["name"]);
      const problems = labelName(at, name);
      if (seen.has(name)) problems.push(duplicate(at, name));
      seen.add(name);
      return problems;
    }),
  ];
}
