import { createHash } from "node:crypto";
import type { L7Policy, L7Rule, L7RuleCreate } from "@causeway/openstack";
import type { DesiredPolicy } from "./desired.ts";

/** A policy with its rules. */
export interface ObservedPolicy {
  readonly policy: L7Policy;
  /** Undefined: not read, because its name says what they are and it has as many. */
  readonly rules: readonly L7Rule[] | undefined;
}

/** A rule as it is wanted, or as it was read. */
type AnyRule = Pick<L7RuleCreate, "type" | "compare_type" | "value"> & Partial<L7Rule>;

/** One rule as text, whatever its id. */
export function ruleText(rule: AnyRule): string {
  return JSON.stringify([rule.type, rule.compare_type, rule.key ?? null, rule.value, rule.invert ?? false]);
}

/**
 * A policy's name: a digest of its rules and their number. Two policies of a listener with the same rules would be one
 * too many.
 */
export function policyName({ rules }: { readonly rules: readonly AnyRule[] }): string {
  const digest = createHash("sha256").update(rules.map(ruleText).sort().join("\n")).digest("hex");
  return `${digest.slice(0, 32)}-${rules.length}`;
}

/** How many rules a policy of that name has when it is whole; undefined: the name is not one of ours. */
export function rulesNamed(name: string): number | undefined {
  const count = /^[0-9a-f]{32}-(\d+)$/.exec(name)?.[1];
  return count === undefined ? undefined : Number(count);
}

/**
 * Policies by name, in their order. Of two with the same rules the first counts, since Octavia applies the first that
 * matches.
 */
export function firstByName(policies: readonly DesiredPolicy[]): Map<string, DesiredPolicy> {
  const byName = new Map<string, DesiredPolicy>();
  for (const policy of policies) {
    const name = policyName(policy);
    if (!byName.has(name)) byName.set(name, policy);
  }
  return byName;
}
