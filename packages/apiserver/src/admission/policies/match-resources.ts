import { records, text, texts, type Json } from "../../json/json.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { choice, duplicate, MATCH_POLICIES, ruleProblems, selectorProblems } from "../problems.ts";

const GROUP = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const GROUP_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** MatchResources of policies and bindings. Changes them in place. */
export function fillMatchResources(resources: Json): void {
  resources["matchPolicy"] ??= "Equivalent";
  resources["namespaceSelector"] ??= {};
  resources["objectSelector"] ??= {};
  for (const name of ["resourceRules", "excludeResourceRules"]) {
    for (const rule of records(resources[name])) rule["scope"] ??= "*";
  }
}

/** What is wrong with the MatchResources of a policy or a binding. */
export function matchResourcesProblems(resources: Json, path: string): FieldProblem[] {
  const rules = (name: string): FieldProblem[] =>
    records(resources[name]).flatMap((rule, i) => namedRuleProblems(rule, `${path}.${name}[${i}]`));
  return [
    ...choice(`${path}.matchPolicy`, resources["matchPolicy"], MATCH_POLICIES),
    ...selectorProblems(resources["namespaceSelector"], `${path}.namespaceSelector`),
    ...selectorProblems(resources["objectSelector"], `${path}.objectSelector`),
    ...rules("resourceRules"),
    ...rules("excludeResourceRules"),
  ];
}

function namedRuleProblems(rule: Json, path: string): FieldProblem[] {
  const names = texts(rule["resourceNames"]);
  const problems = names.flatMap((name, i) => {
    const field = `${path}.resourceNames[${i}]`;
    if (names.indexOf(name) < i) return [duplicate(field, name)];
    return nameFaults(name).map((why) => invalidValue(field, name, why));
  });
  return [...problems, ...ruleProblems(rule, path)];
}

/** What is wrong with a name as a segment of a path. */
export function nameFaults(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((c) => name.includes(c)).map((c) => `may not contain '${c}'`);
}

/** What is wrong with the paramKind of a policy: there must be a version and a kind, in valid spelling. */
export function paramKindProblems({ apiVersion, kind }: Json, path: string): FieldProblem[] {
  return [...apiVersionProblems(text(apiVersion), `${path}.apiVersion`), ...kindProblems(text(kind), `${path}.kind`)];
}

function apiVersionProblems(given: string, field: string): FieldProblem[] {
  if (given === "") return [required(field)];
  const parts = given.split("/");
  if (parts.length > 2) return [invalidValue(field, given, `unexpected GroupVersion string: ${given}`)];
  const [group, version = ""] = parts.length === 2 ? parts : ["", parts[0]];
  const problems = group && !GROUP.test(group) ? [invalidValue(field, group, GROUP_RULE)] : [];
  if (version === "") return [...problems, invalidValue(field, given, "version must be specified")];
  return LABEL.test(version) ? problems : [...problems, invalidValue(field, version, LABEL_RULE)];
}

function kindProblems(kind: string, field: string): FieldProblem[] {
  if (kind === "") return [required(field)];
  if (LABEL.test(kind.toLowerCase())) return [];
  return [invalidValue(field, kind, `may have mixed case, but should otherwise match: ${LABEL_RULE}`)];
}
