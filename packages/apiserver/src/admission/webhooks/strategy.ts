import type { KubeObject } from "@causeway/kubernetes";
import { fields, record, records, text, texts, type Json } from "../../json/json.ts";
import type { Strategy } from "../../contract/resource.ts";
import { invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { Expressions } from "../cel/expressions.ts";
import {
  choice,
  conditionProblems,
  duplicate,
  FAILURE_POLICIES,
  MATCH_POLICIES,
  ruleProblems,
  selectorProblems,
} from "../problems.ts";
import { targetProblems } from "./target-problems.ts";

const SIDE_EFFECTS = ["None", "NoneOnDryRun"];
const REVIEW_VERSIONS = ["v1", "v1beta1"];
const LONGEST_SECONDS = 30;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Mutating and validating webhook configurations: filled in and checked as admissionregistration.k8s.io/v1 says. */
export const webhookStrategy: Strategy = {
  applyDefaults(draft) {
    const mutating = draft.kind === "MutatingWebhookConfiguration";
    for (const webhook of records(draft["webhooks"])) fillWebhook(webhook, mutating);
  },
  validate(object, old) {
    const expressions = new Expressions();
    const before = JSON.stringify(old ? conditionsOf(old) : undefined);
    const check = (text: string): string | undefined =>
      before === JSON.stringify(conditionsOf(object))
        ? undefined
        : expressions.compile(text, { types: ["bool"] }).fault;
    const names = new Set<string>();
    return webhooksOf(object).flatMap((webhook, i) => {
      const path = `webhooks[${i}]`;
      const name = text(webhook["name"]);
      const problems = [
        ...webhookProblems(webhook, path),
        ...conditionProblems(webhook["matchConditions"], `${path}.matchConditions`, check),
      ];
      problems.push(...reviewVersionProblems(webhook, `${path}.admissionReviewVersions`));
      if (name !== "" && names.has(name)) problems.push(duplicate(`${path}.name`, name));
      names.add(name);
      return problems;
    });
  },
};

function webhooksOf(object: KubeObject): readonly Json[] {
  return records(fields(object)["webhooks"]);
}

function conditionsOf(object: KubeObject): unknown[] {
  return webhooksOf(object).map((w) => w["matchConditions"]);
}

function fillWebhook(webhook: Json, mutating: boolean): void {
  webhook["failurePolicy"] ??= "Fail";
  webhook["matchPolicy"] ??= "Equivalent";
  webhook["namespaceSelector"] ??= {};
  webhook["objectSelector"] ??= {};
  webhook["timeoutSeconds"] ??= 10;
  if (mutating) webhook["reinvocationPolicy"] ??= "Never";
  for (const rule of records(webhook["rules"])) rule["scope"] ??= "*";
  record(record(webhook["clientConfig"])["service"])["port"] ??= 443;
}

function webhookProblems(webhook: Json, path: string): FieldProblem[] {
  const { timeoutSeconds, sideEffects } = webhook;
  const seconds = Number(timeoutSeconds);
  const hasTime = seconds >= 1 && seconds <= LONGEST_SECONDS;
  return [
    ...nameProblems(text(webhook["name"]), `${path}.name`),
    ...records(webhook["rules"]).flatMap((rule, i) => ruleProblems(rule, `${path}.rules[${i}]`)),
    ...choice(`${path}.failurePolicy`, webhook["failurePolicy"], FAILURE_POLICIES),
    ...choice(`${path}.matchPolicy`, webhook["matchPolicy"], MATCH_POLICIES),
    ...(sideEffects === undefined || sideEffects === null
      ? [required(`${path}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(", ")}`)]
      : SIDE_EFFECTS.includes(text(sideEffects))
        ? []
        : [notSupported(`${path}.sideEffects`, sideEffects, SIDE_EFFECTS)]),
    ...(hasTime
      ? []
      : [invalidValue(`${path}.timeoutSeconds`, timeoutSeconds, "the timeout value must be between 1 and 30 seconds")]),
    ...selectorProblems(webhook["namespaceSelector"], `${path}.namespaceSelector`),
    ...selectorProblems(webhook["objectSelector"], `${path}.objectSelector`),
    ...choice(`${path}.reinvocationPolicy`, webhook["reinvocationPolicy"], ["IfNeeded", "Never"]),
    ...targetProblems(record(webhook["clientConfig"]), `${path}.clientConfig`),
  ];
}

function nameProblems(name: string, field: string): FieldProblem[] {
  if (name === "") return [required(field)];
  if (name.length > 253 || !NAME.test(name)) return [invalidValue(field, name, NAME_RULE)];
  if (name.split(".").length >= 3) return [];
  return [invalidValue(field, name, "should be a domain with at least three segments separated by dots")];
}

function reviewVersionProblems(webhook: Json, field: string): FieldProblem[] {
  const versions = texts(webhook["admissionReviewVersions"]);
  if (versions.length === 0) return [required(field, `must specify one of ${REVIEW_VERSIONS.join(", ")}`)];
  const problems = versions.flatMap((version, i) => {
    if (versions.indexOf(version) < i) return [invalidValue(`${field}[${i}]`, version, "duplicate version")];
    return LABEL.test(version) ? [] : [invalidValue(`${field}[${i}]`, version, LABEL_RULE)];
  });
  if (versions.some((v) => REVIEW_VERSIONS.includes(v))) return problems;
  return [...problems, invalidValue(field, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`)];
}
