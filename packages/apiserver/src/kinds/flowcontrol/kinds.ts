import { mandatoryFlowObjects, GROUP, type FlowManifest } from "../../flow/bootstrap.ts";
import { at, fields, record, records, same, text, texts, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { SYSTEM } from "../../contract/user.ts";
import { danglingCondition } from "../../flow/dangling.ts";
import { define, STATUS } from "../../contract/define.ts";
import { FLOW_SCHEMA_COLUMNS, PRIORITY_LEVEL_COLUMNS } from "./columns.ts";
import type { Draft, Resource, Strategy } from "../../contract/resource.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const NOT_LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const HASH_BITS = 60;

/** FlowSchema and PriorityLevelConfiguration (flowcontrol.apiserver.k8s.io/v1). */
export function flowControlKinds(): Resource[] {
  const common = { group: GROUP, clusterScoped: true, generation: true, subresources: [STATUS] };
  return [
    define({
      ...common,
      kind: "FlowSchema",
      plural: "flowschemas",
      columns: FLOW_SCHEMA_COLUMNS,
      strategy: strategyOf(fillSchema, schemaProblems),
    }),
    define({
      ...common,
      kind: "PriorityLevelConfiguration",
      plural: "prioritylevelconfigurations",
      columns: PRIORITY_LEVEL_COLUMNS,
      strategy: strategyOf(fillLevel, levelProblems),
    }),
  ];
}

function strategyOf(defaults: (spec: Json) => void, problems: (name: string, spec: Json) => FieldProblem[]): Strategy {
  return {
    prepareCreate(draft, { user, cluster }) {
      // The server's own schemas are created with their levels: their existence need not be checked.
      const isOwn = user === SYSTEM && draft.kind === "FlowSchema";
      draft["status"] = isOwn ? { conditions: [danglingCondition(draft, true, cluster.clock.now())] } : {};
    },
    applyDefaults(draft: Draft) {
      defaults(record(draft["spec"]));
      draft["status"] ??= {};
    },
    validate(object, _old, { subresource }) {
      const status = conditionProblems(records(at(object, "status", "conditions")));
      if (subresource) return status;
      return [...problems(object.metadata.name, record(fields(object)["spec"])), ...status];
    },
  };
}

function fillSchema(spec: Json): void {
  spec["matchingPrecedence"] ||= 1000;
}

function fillLevel(spec: Json): void {
  const exempt = spec["exempt"] === undefined ? undefined : record(spec["exempt"]);
  const limited = spec["limited"] === undefined ? undefined : record(spec["limited"]);
  if (exempt) exempt["nominalConcurrencyShares"] ??= 0;
  if (limited) limited["nominalConcurrencyShares"] ??= 30;
  for (const kind of [exempt, limited]) if (kind) kind["lendablePercent"] ??= 0;
  const response = limited && record(limited["limitResponse"]);
  if (!response?.["queuing"]) return;
  const queuing = record(response["queuing"]);
  queuing["queues"] ||= 64;
  queuing["handSize"] ||= 8;
  queuing["queueLengthLimit"] ||= 50;
}

function mandatory(kind: FlowManifest["kind"], name: string): FlowManifest | undefined {
  return mandatoryFlowObjects().find((m) => m.kind === kind && m.metadata.name === name);
}

function schemaProblems(name: string, spec: Json): FieldProblem[] {
  const problems = [...precedenceProblems(name, spec["matchingPrecedence"])];
  const by = at(spec, "distinguisherMethod", "type");
  const methods = ["ByNamespace", "ByUser"];
  if (spec["distinguisherMethod"] && !methods.includes(text(by))) {
    problems.push(notSupported("spec.distinguisherMethod.type", { Type: by }, methods));
  }
  if (!text(at(spec, "priorityLevelConfiguration", "name"))) {
    problems.push(required("spec.priorityLevelConfiguration.name", "must reference a priority level"));
  }
  records(spec["rules"]).forEach((rule, i) => problems.push(...ruleProblems(rule, `spec.rules[${i}]`)));
  const fixed = mandatory("FlowSchema", name);
  if (fixed && !same(fixed.spec, spec)) {
    problems.push(invalidValue("spec", spec, `spec of '${name}' must equal the fixed value`));
  }
  return problems;
}

function precedenceProblems(name: string, precedence: unknown): FieldProblem[] {
  const field = "spec.matchingPrecedence";
  const value = typeof precedence === "number" ? precedence : 0;
  if (value <= 0) return [invalidValue(field, value, "must be a positive value")];
  if (value > 10_000) return [invalidValue(field, value, "must not be greater than 10000")];
  if (value > 1 || name === "exempt") return [];
  return [invalidValue(field, value, "only the schema named 'exempt' may have matchingPrecedence 1")];
}

function ruleProblems(rule: Json, path: string): FieldProblem[] {
  const subjects = records(rule["subjects"]);
  const problems = subjects.flatMap((s, i) => subjectProblems(s, `${path}.subjects[${i}]`));
  if (subjects.length === 0) problems.push(required(`${path}.subjects`, "subjects must contain at least one value"));
  const resources = records(rule["resourceRules"]);
  const others = records(rule["nonResourceRules"]);
  if (resources.length + others.length === 0) {
    problems.push(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  resources.forEach((r, i) => problems.push(...resourceRuleProblems(r, `${path}.resourceRules[${i}]`)));
  others.forEach((r, i) => problems.push(...pathRuleProblems(r, `${path}.nonResourceRules[${i}]`)));
  return problems;
}

const SUBJECTS = { ServiceAccount: "serviceAccount", User: "user", Group: "group" } as const;

function subjectProblems(subject: Json, path: string): FieldProblem[] {
  const kind = text(subject["kind"]);
  const own = SUBJECTS[kind as keyof typeof SUBJECTS];
  if (own === undefined) return [notSupported(`${path}.kind`, kind, Object.keys(SUBJECTS).toSorted())];
  const problems: FieldProblem[] = [];
  if (subject[own] === undefined)
    problems.push(required(`${path}.${own}`, `${own} is required when subject kind is '${kind}'`));
  else problems.push(...namedProblems(own, record(subject[own]), `${path}.${own}`));
  for (const [other, field] of Object.entries(SUBJECTS)) {
    if (field === own || subject[field] === undefined) continue;
    problems.push(forbiddenField(`${path}.${field}`, `${field} is forbidden when subject kind is not '${other}'`));
  }
  return problems;
}

function namedProblems(own: string, named: Json, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!text(named["name"])) problems.push(required(`${path}.name`));
  if (own !== "serviceAccount") return problems;
  const namespace = text(named["namespace"]);
  if (!namespace) problems.push(required(`${path}.namespace`, "must specify namespace for service account"));
  else if (!LABEL.test(namespace)) problems.push(invalidValue(`${path}.namespace`, namespace, NOT_LABEL));
  return problems;
}

/** A list that holds "*" holds nothing else. */
function alone(list: readonly string[], field: string, what: string): FieldProblem[] {
  if (list.length < 2 || !list.includes("*")) return [];
  return [invalidValue(field, list, `if '*' is present, must not specify other ${what}`)];
}

function verbProblems(rule: Json, path: string): FieldProblem[] {
  const verbs = texts(rule["verbs"]);
  const field = `${path}.verbs`;
  if (verbs.length === 0) return [required(field, "verbs must contain at least one value")];
  if (verbs.includes("*")) return alone(verbs, field, "verbs");
  return verbs.every((v) => VERBS.includes(v)) ? [] : [notSupported(field, verbs, VERBS)];
}

function resourceRuleProblems(rule: Json, path: string): FieldProblem[] {
  const problems = verbProblems(rule, path);
  const listed = [
    ["apiGroups", "resource rules must supply at least one api group", "api groups"],
    ["resources", "resource rules must supply at least one resource", "resources"],
  ] as const;
  for (const [name, why, others] of listed) {
    const list = texts(rule[name]);
    if (list.length === 0) problems.push(required(`${path}.${name}`, why));
    problems.push(...alone(list, `${path}.${name}`, others));
  }
  return [...problems, ...namespaceProblems(rule, `${path}.namespaces`)];
}

function namespaceProblems(rule: Json, field: string): FieldProblem[] {
  const namespaces = texts(rule["namespaces"]);
  if (namespaces.length === 0 && rule["clusterScope"] !== true) {
    return [required(field, "resource rules that are not cluster scoped must supply at least one namespace")];
  }
  if (namespaces.includes("*")) return alone(namespaces, field, "namespaces");
  return namespaces.flatMap((n, i) =>
    LABEL.test(n)
      ? []
      : [invalidValue(`${field}[${i}]`, n, `each member of this list must be '*' or a DNS-1123 label; ${NOT_LABEL}`)],
  );
}

function pathRuleProblems(rule: Json, path: string): FieldProblem[] {
  const problems = verbProblems(rule, path);
  const urls = texts(rule["nonResourceURLs"]);
  const field = `${path}.nonResourceURLs`;
  if (urls.length === 0) return [...problems, required(field, "nonResourceURLs must contain at least one value")];
  if (urls.includes("*")) return [...problems, ...alone(urls, field, "non-resource URLs")];
  urls.forEach((url, i) => {
    const why = urlProblem(url);
    if (why) problems.push(invalidValue(`${field}[${i}]`, url, why));
  });
  return problems;
}

function urlProblem(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const stars = url.split("*").length - 1;
  return stars === 0 || (stars === 1 && url.endsWith("/*")) ? undefined : "wildcard can only do suffix matching";
}

function levelProblems(name: string, spec: Json): FieldProblem[] {
  const type = text(spec["type"]);
  const problems: FieldProblem[] = [];
  if ((name === "exempt") !== (type === "Exempt")) {
    problems.push(invalidValue("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === "Exempt") problems.push(...exemptProblems(spec));
  else if (type === "Limited") problems.push(...limitedProblems(spec));
  else problems.push(notSupported("spec.type", type, ["Exempt", "Limited"]));
  return [...problems, ...fixedLevelProblems(name, spec)];
}

/** Of the exempt level only what it lends is its owner's to say. */
function fixedLevelProblems(name: string, spec: Json): FieldProblem[] {
  const fixed = mandatory("PriorityLevelConfiguration", name);
  if (!fixed) return [];
  const isExempt = name === "exempt";
  const has = isExempt ? { ...spec, exempt: fixed.spec["exempt"] } : spec;
  if (same(has, fixed.spec)) return [];
  const but = isExempt ? " except the 'spec.exempt' field" : "";
  return [invalidValue("spec", spec, `spec of '${name}'${but} must equal the fixed value`)];
}

function exemptProblems(spec: Json): FieldProblem[] {
  if (spec["limited"] !== undefined) return [forbiddenField("spec.limited", "must be nil if the type is not Limited")];
  return spec["exempt"] === undefined ? [] : shareProblems(record(spec["exempt"]), "spec.exempt");
}

function shareProblems(level: Json, path: string): FieldProblem[] {
  const { nominalConcurrencyShares: shares, lendablePercent: lendable } = level;
  const problems: FieldProblem[] = [];
  if (typeof shares === "number" && shares < 0) {
    problems.push(invalidValue(`${path}.nominalConcurrencyShares`, shares, "must be a non-negative integer"));
  }
  if (typeof lendable === "number" && (lendable < 0 || lendable > 100)) {
    problems.push(invalidValue(`${path}.lendablePercent`, lendable, "must be between 0 and 100, inclusive"));
  }
  return problems;
}

function limitedProblems(spec: Json): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (spec["exempt"] !== undefined) problems.push(forbiddenField("spec.exempt", "must be nil if the type is Limited"));
  if (spec["limited"] === undefined) {
    return [...problems, required("spec.limited", "must not be empty when type is Limited")];
  }
  const limited = record(spec["limited"]);
  const borrowing = limited["borrowingLimitPercent"];
  const [shares, lendable] = [
    shareProblems({ nominalConcurrencyShares: limited["nominalConcurrencyShares"] }, "spec.limited"),
    shareProblems({ lendablePercent: limited["lendablePercent"] }, "spec.limited"),
  ];
  problems.push(...shares, ...responseProblems(record(limited["limitResponse"])), ...lendable);
  if (typeof borrowing === "number" && borrowing < 0) {
    const why = "if specified, must be a non-negative integer";
    problems.push(invalidValue("spec.limited.borrowingLimitPercent", borrowing, why));
  }
  return problems;
}

function responseProblems(response: Json): FieldProblem[] {
  const path = "spec.limited.limitResponse";
  const type = text(response["type"]);
  const has = response["queuing"] !== undefined;
  if (type === "Reject") {
    const why = "must be nil if limited.limitResponse.type is not Limited";
    return has ? [forbiddenField(`${path}.queuing`, why)] : [];
  }
  if (type !== "Queue") return [notSupported(`${path}.type`, type, ["Queue", "Reject"])];
  if (has) return queuingProblems(record(response["queuing"]), `${path}.queuing`);
  return [required(`${path}.queuing`, "must not be empty if limited.limitResponse.type is Limited")];
}

function queuingProblems(queuing: Json, path: string): FieldProblem[] {
  const [queues, hand, length] = ["queues", "handSize", "queueLengthLimit"].map((n) => Number(queuing[n] ?? 0));
  const [deck = 0, size = 0, limit = 0] = [queues, hand, length];
  const problems: FieldProblem[] = [];
  if (limit <= 0) problems.push(invalidValue(`${path}.queueLengthLimit`, limit, "must be positive"));
  if (deck <= 0) problems.push(invalidValue(`${path}.queues`, deck, "must be positive"));
  else if (deck > 1e7) problems.push(invalidValue(`${path}.queues`, deck, "must not be greater than 10000000"));
  const why = handProblem(deck, size);
  return why ? [...problems, invalidValue(`${path}.handSize`, size, why)] : problems;
}

function handProblem(queues: number, hand: number): string | undefined {
  if (hand <= 0) return "must be positive";
  if (hand > queues) return `should not be greater than queues (${queues})`;
  if (Math.ceil(Math.log2(queues) * hand) <= HASH_BITS) return undefined;
  return `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${HASH_BITS}`;
}

function conditionProblems(conditions: readonly Json[]): FieldProblem[] {
  const seen = new Set<unknown>();
  return conditions.flatMap((condition, i) => {
    const field = `status.conditions[${i}].type`;
    const { type } = condition;
    const again = seen.has(type);
    seen.add(type);
    const twice = { field, message: `Duplicate value: ${JSON.stringify(type)}`, reason: "FieldValueDuplicate" };
    return [...(again ? [twice] : []), ...(text(type) ? [] : [required(field)])];
  });
}
