import { fault, invalidField } from "../errors.ts";
import { text } from "../kit/fields.ts";
import { shown } from "../../network/kit/attributes.ts";

/** What Octavia checks of an L7 rule. */
export interface RuleValues {
  readonly type: string;
  readonly compare_type: string;
  readonly key: string | null;
  readonly value: string;
}

/** octavia/common/constants.py. In the name "+-." is a range, so "," is one of its characters. */
const NAME = /^[a-zA-Z0-9!#$%&'*+-.^_`|~]+$/;
const COOKIE = /^[a-zA-Z0-9!#$%&'()*+-./:<=>?@[\]^_`{|}~]+$/;
const VALUE = /^[a-zA-Z0-9!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~\\]+$/;
const QUOTED_VALUE = /^"[a-zA-Z0-9 \t!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~\\]*"$/;
const FIELD_OF_NAME = /^([a-zA-Z][A-Za-z0-9-]*)$/;

/** 400 for a rule that Octavia's validation refuses, with its words. */
export function checkRuleValues(rule: RuleValues): void {
  const problem = rule.value === "" ? "Invalid L7 Rule: L7 rule type requires a value" : problemOf(rule);
  if (problem !== undefined) throw fault(400, `Error parsing L7Rule: ${problem}`);
}

function problemOf(rule: RuleValues): string | undefined {
  switch (rule.type) {
    case "HEADER":
      return keyProblem(rule) ?? valueProblem(rule, { pattern: [VALUE, QUOTED_VALUE], what: "header value" });
    case "COOKIE":
      return keyProblem(rule) ?? valueProblem(rule, { pattern: [COOKIE], what: "cookie value" });
    case "FILE_TYPE":
      if (rule.compare_type !== "REGEX" && rule.compare_type !== "EQUAL_TO")
        return "Invalid L7 Rule: invalid comparison type for rule type";
      return valueProblem(rule, { pattern: [VALUE, QUOTED_VALUE], what: "comparison value" });
    case "HOST_NAME":
    case "PATH":
      return valueProblem(rule, { pattern: [VALUE, QUOTED_VALUE], what: "comparison value" });
    default: {
      const problem = certificateProblem(rule);
      return problem?.startsWith("Unable") ? problem : problem && `Invalid L7 Rule: ${problem}`;
    }
  }
}

function keyProblem({ key }: RuleValues): string | undefined {
  if (key === null || key === "") return "Invalid L7 Rule: L7 rule type requires a key";
  return NAME.test(key) ? undefined : "Invalid characters in key";
}

function valueProblem(
  { compare_type: how, value }: RuleValues,
  { pattern, what }: { readonly pattern: readonly RegExp[]; readonly what: string },
): string | undefined {
  if (how === "REGEX") return expressionProblem(value);
  return pattern.some((each) => each.test(value)) ? undefined : `Invalid characters in ${what}`;
}

function certificateProblem({ type, compare_type: how, key, value }: RuleValues): string | undefined {
  if (type === "SSL_DN_FIELD") {
    const unreadable = how === "REGEX" ? expressionProblem(value) : undefined;
    if (unreadable !== undefined) return unreadable;
    if ((key ?? "") === "") return `L7rule type ${type} needs to specify a key and a value.`;
    return FIELD_OF_NAME.test(key ?? "") ? undefined : "Invalid L7rule distinguished name field.";
  }
  if ((key ?? "") !== "") return `L7rule type ${type} does not use the "key" field.`;
  if (type === "SSL_CONN_HAS_CERT" && value.toLowerCase() !== "true")
    return `L7rule value ${value} is not a boolean True string.`;
  if (type === "SSL_VERIFY_RESULT" && !/^\d+$/.test(value))
    return `L7rule type ${type} needs a int value, which is >= 0`;
  return how === "EQUAL_TO" ? undefined : `L7rule type ${type} only supports the EQUAL_TO compare type.`;
}

/**
 * Octavia compiles it with Python. What this engine refuses, Python refuses, too; the commonest reasons have Python's
 * words.
 */
function expressionProblem(value: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- these are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value))
    return "Unable to parse regular expression: contains control characters";
  try {
    new RegExp(value.replaceAll("(?P<", "(?<").replace(/^\(\?[aimsux]+\)/, ""));
    return undefined;
  } catch (error) {
    return `Unable to parse regular expression: ${reasonOf(String(error), value)}`;
  }
}

function reasonOf(error: string, value: string): string {
  if (error.includes("Unterminated group"))
    return `missing ), unterminated subpattern at position ${value.lastIndexOf("(")}`;
  if (error.includes("Unterminated character class"))
    return `unterminated character set at position ${value.lastIndexOf("[")}`;
  if (error.includes("Nothing to repeat")) return `nothing to repeat at position ${value.search(/[*+?]/)}`;
  return "bad expression";
}

/** rfc3986's path, and a scheme and host that are given. */
const PATH = /^(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2}|%)*)*$/;

/** The address of a redirect. */
export function url(value: unknown, field: string): string {
  const given = typeof value === "string" ? value : text(value, field);
  const refused = () => invalidField(field, shown(value), "Value must be a valid URL string");
  // eslint-disable-next-line no-control-regex -- these are what is refused
  if (/[\u0000-\u0020\u007f-\u009f]/.test(given)) throw refused();
  const parts = /^([^:/?#]+):\/\/([^/?#]+)([^?#]*)/.exec(given);
  const [, scheme = "", , path = ""] = parts ?? [];
  if (!parts || !/^https?$/i.test(scheme) || !PATH.test(path)) throw refused();
  return text(given, field);
}
