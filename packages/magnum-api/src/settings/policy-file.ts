import { InputError, messageOf, readTextFile } from "@causeway/foundation";
import { parse } from "yaml";
import type { RuleText } from "../access/policy.ts";

/** The rules of an oslo.policy file in YAML, by name. @throws MAGNUM_POLICY_UNREADABLE */
export function readPolicyFile(path: string): Readonly<Record<string, RuleText>> {
  const read = (): unknown => {
    try {
      return parse(readTextFile(path), { maxAliasCount: 0 }) as unknown;
    } catch (cause) {
      throw new InputError("MAGNUM_POLICY_UNREADABLE", `the policy file ${path} cannot be read: ${messageOf(cause)}`, {
        cause,
        hint: 'Write one rule a line: "cluster:create": "role:member".',
      });
    }
  };
  const rules = read() ?? {};
  if (typeof rules !== "object" || Array.isArray(rules) || !Object.values(rules).every(isRule)) {
    throw new InputError("MAGNUM_POLICY_UNREADABLE", `the policy file ${path} does not map names to rules`, {
      hint: 'Write one rule a line: "cluster:create": "role:member".',
    });
  }
  return rules as Readonly<Record<string, RuleText>>;
}

/** A text, or oslo's list of alternatives: checks, and lists of checks that all have to hold. */
function isRule(rule: unknown): rule is RuleText {
  const isText = (value: unknown) => typeof value === "string";
  return (
    isText(rule) ||
    (Array.isArray(rule) && rule.every((each) => isText(each) || (Array.isArray(each) && each.every(isText))))
  );
}
