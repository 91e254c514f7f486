import { CausewayError } from "@causeway/foundation";

import { record, records, text, texts, type Json } from "../json/json.ts";
import type { Audited } from "../contract/audit.ts";

/** How much is recorded of a request (audit.k8s.io/v1), from nothing to its bodies. */
export const LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
/** One of them. */
export type Level = (typeof LEVELS)[number];

/** When something is recorded of a request (audit.k8s.io/v1). */
export const STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
/** One of them. */
export type Stage = (typeof STAGES)[number];

/** What is recorded of a request. */
export interface AuditDecision {
  readonly level: Level;
  readonly omitStages: ReadonlySet<string>;
  readonly omitManagedFields: boolean;
}

/** Says of each request what is recorded of it: the first rule that fits. undefined when nothing is. */
export type Evaluate = (asked: Audited) => AuditDecision | undefined;

interface CompiledRule {
  readonly rule: Json;
  readonly recording: AuditDecision;
}

/** Reads an audit.k8s.io/v1 Policy. Throws AUDIT_POLICY_INVALID. */
export function compilePolicy(policy: Json): Evaluate {
  if (policy["apiVersion"] !== "audit.k8s.io/v1" || policy["kind"] !== "Policy") {
    throw invalid("it is not an audit.k8s.io/v1 Policy");
  }
  const given = records(policy["rules"]);
  if (given.length === 0) throw invalid("it has no rules");
  checkStages(policy, "omitStages");
  const rules = given.map((rule, i): CompiledRule => {
    checkRule(rule, `rules[${i}]`);
    const omit = rule["omitManagedFields"] ?? policy["omitManagedFields"];
    const omitStages = new Set([...texts(policy["omitStages"]), ...texts(rule["omitStages"])]);
    return { rule, recording: { level: rule["level"] as Level, omitStages, omitManagedFields: omit === true } };
  });
  return (asked) => {
    const recording = rules.find(({ rule }) => matches(rule, asked))?.recording;
    return recording?.level === "None" ? undefined : recording;
  };
}

function invalid(why: string): CausewayError {
  return new CausewayError("AUDIT_POLICY_INVALID", `the audit policy cannot be used: ${why}`, {
    hint: "Correct the policy; kubernetes.io (Auditing) documents its fields.",
  });
}

function checkRule(rule: Json, path: string): void {
  if (!LEVELS.includes(text(rule["level"]) as Level))
    throw invalid(`${path}.level must be one of ${LEVELS.join(", ")}`);
  checkStages(rule, `${path}.omitStages`);
  const urls = texts(rule["nonResourceURLs"]);
  for (const url of urls) {
    if (url !== "*" && !url.startsWith("/")) throw invalid(`${path}.nonResourceURLs must begin with "/"`);
    if (url.slice(0, -1).includes("*")) throw invalid(`${path}.nonResourceURLs may have "*" at their end alone`);
  }
  const resources = records(rule["resources"]);
  if (urls.length > 0 && (resources.length > 0 || texts(rule["namespaces"]).length > 0)) {
    throw invalid(`${path} is about both resources and other paths`);
  }
  for (const { resources: plurals, resourceNames } of resources) {
    if (texts(resourceNames).length > 0 && texts(plurals).length === 0) {
      throw invalid(`${path}.resources has resourceNames without resources`);
    }
  }
}

function checkStages(owner: Json, path: string): void {
  const unknown = texts(owner["omitStages"]).find((s) => !STAGES.includes(s as Stage));
  if (unknown !== undefined) throw invalid(`${path} has "${unknown}"; there are ${STAGES.join(", ")}`);
}

function matches(rule: Json, asked: Audited): boolean {
  const { user } = asked;
  const [users, groups, verbs] = [texts(rule["users"]), texts(rule["userGroups"]), texts(rule["verbs"])];
  if (users.length > 0 && !(user && users.includes(user.name))) return false;
  if (groups.length > 0 && !user?.groups.some((g) => groups.includes(g))) return false;
  if (verbs.length > 0 && !verbs.includes(asked.verb)) return false;
  const resources = records(rule["resources"]);
  const namespaces = texts(rule["namespaces"]);
  if (resources.length > 0 || namespaces.length > 0) {
    if (asked.path !== undefined) return false;
    if (namespaces.length > 0 && !namespaces.includes(asked.namespace)) return false;
    return resources.length === 0 || resources.some((r) => coversResource(r, asked));
  }
  const urls = texts(rule["nonResourceURLs"]);
  return urls.length === 0 || (asked.path !== undefined && urls.some((u) => coversPath(u, asked.path ?? "")));
}

function coversResource(wanted: Json, { group, plural, subresource, name }: Audited): boolean {
  if (text(record(wanted)["group"]) !== group) return false;
  const resources = texts(wanted["resources"]);
  const names = texts(wanted["resourceNames"]);
  if (resources.length === 0) return true;
  if (names.length > 0 && !names.includes(name)) return false;
  const whole = subresource ? `${plural}/${subresource}` : plural;
  return resources.some(
    (r) => r === whole || r === "*" || r === `${plural}/*` || (subresource !== "" && r === `*/${subresource}`),
  );
}

function coversPath(wanted: string, path: string): boolean {
  return wanted === "*" || wanted === path || (wanted.endsWith("*") && path.startsWith(wanted.slice(0, -1)));
}
