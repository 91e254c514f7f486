import { records, texts, type Json } from "../../json/json.ts";
import { inSelectedNamespace, isSelectedObject, nameOf } from "../attributes.ts";
import type { Attempt } from "../../contract/admission.ts";
import { coveredForm, type Form } from "../rules.ts";

/**
 * The form in which MatchResources choose an attempt. Rules may name objects; exclusions come first. Throws 404 for a
 * namespace that is not there.
 */
export function chosenForm(resources: Json, attempt: Attempt): Form | undefined {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules, excludeResourceRules } = resources;
  const named = (rules: unknown): readonly Json[] => {
    const name = nameOf(attempt);
    return records(rules).filter((rule) => {
      const names = texts(rule["resourceNames"]);
      return names.length === 0 || names.includes(name);
    });
  };
  // Without a policy there is no search for equivalents.
  const policy = matchPolicy ?? "Exact";
  if (coveredForm(named(excludeResourceRules), policy, attempt)) return undefined;
  const own = { resource: attempt.call.resource, version: attempt.call.version };
  const form = records(resourceRules).length === 0 ? own : coveredForm(named(resourceRules), policy, attempt);
  if (!form || !isSelectedObject(objectSelector, attempt)) return undefined;
  return inSelectedNamespace(namespaceSelector, attempt) ? form : undefined;
}
