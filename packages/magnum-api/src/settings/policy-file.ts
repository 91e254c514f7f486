import { InputError, messageOf, readTextFile } from "@causeway/foundation";
import { parse } from "yaml";

/** The rules of an oslo.policy file in YAML, by name. @throws MAGNUM_POLICY_UNREADABLE */
export function readPolicyFile(path: string): Readonly<Record<string, string>> {
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
  if (
    typeof rules !== "object" ||
    Array.isArray(rules) ||
    Object.values(rules).some((rule) => typeof rule !== "string")
  ) {
    throw new InputError("MAGNUM_POLICY_UNREADABLE", `the policy file ${path} does not map names to rules`, {
      hint: 'Write one rule a line: "cluster:create": "role:member".',
    });
  }
  return rules as Readonly<Record<string, string>>;
}
