import { texts, type Json } from "../json/json.ts";
import { apiVersionOf, type Resource, type ResourceVersion } from "../contract/resource.ts";
import type { Call } from "../contract/call.ts";
import type { Operation } from "../contract/admission.ts";

/** One form in which an attempt may be matched: as it was requested, or as an equivalent resource or version. */
export interface Form {
  readonly resource: Resource;
  readonly version: ResourceVersion;
}

/** True if a RuleWithOperations covers this. */
export function ruleMatches(rule: Json, { resource, version }: Form, call: Call, operation: Operation): boolean {
  const has = (name: string, value: string): boolean => {
    const all = texts(rule[name]);
    return all.includes("*") || all.includes(value);
  };
  return (
    has("operations", operation) &&
    has("apiGroups", resource.group) &&
    has("apiVersions", version.name) &&
    texts(rule["resources"]).some((entry) => coversResource(entry, resource.plural, call.subresource)) &&
    inScope(rule["scope"], resource.namespaced)
  );
}

function coversResource(entry: string, plural: string, subresource: string): boolean {
  const slash = entry.indexOf("/");
  const [resource, sub] = slash < 0 ? [entry, ""] : [entry.slice(0, slash), entry.slice(slash + 1)];
  return (resource === "*" || resource === plural) && (sub === "*" || sub === subresource);
}

function inScope(scope: unknown, namespaced: boolean): boolean {
  return scope === undefined || scope === "*" || scope === (namespaced ? "Namespaced" : "Cluster");
}

/** The form in which one of the rules covers the attempt: its own, or, where the policy allows, an equivalent one. */
export function coveredForm(
  rules: readonly Json[],
  matchPolicy: unknown,
  { call, operation }: { call: Call; operation: Operation },
): Form | undefined {
  const own = { resource: call.resource, version: call.version };
  if (rules.some((rule) => ruleMatches(rule, own, call, operation))) return own;
  if (matchPolicy === "Exact") return undefined;
  const others = equivalents(call);
  for (const rule of rules) {
    const found = others.find((form) => ruleMatches(rule, form, call, operation));
    if (found) return found;
  }
  return undefined;
}

/** The other versions and groups under which the same object is served. */
function equivalents({ cluster, resource, version }: Call): Form[] {
  const twins = resource.custom ? [resource] : cluster.catalog.all().filter((r) => r.storage === resource.storage);
  const own = apiVersionOf(resource.group, version.name);
  return twins.flatMap((twin) =>
    twin.versions
      .filter((v) => apiVersionOf(twin.group, v.name) !== own)
      .map((v): Form => ({ resource: twin, version: v })),
  );
}
