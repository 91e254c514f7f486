import type { L7RuleCreate } from "@causeway/openstack";

/** Octavia stores no longer value, key or address. */
const LONGEST = 255;
/** Characters that HAProxy's configuration does not take as they are; Octavia quotes only "\" and the space. */
const QUOTING = /["'#]/;
/** What Octavia takes in a comparison that is no expression; a leading "-" would be an option for HAProxy. */
const PLAIN = /^(?!-)[a-zA-Z0-9!$%&()*+,\-./:;<=>?@[\]^_`{|}~\\]+$/;
/** Octavia's names of headers and cookies, without those of `QUOTING`. */
const NAME = /^[a-zA-Z0-9!$%&*+\-.^_`|~]+$/;

/** An expression that matches exactly that text, in characters that Octavia and HAProxy take. */
export function literal(text: string): string {
  const safe = text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // What is not ASCII is compared byte by byte.
  return safe.replaceAll(/["'# \t]|[^ -~]+/g, (some) =>
    [...Buffer.from(some)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

/** The text itself where it can be compared as it is, else an expression. */
export function comparison(
  how: "EQUAL_TO" | "STARTS_WITH",
  value: string,
): Pick<L7RuleCreate, "compare_type" | "value"> {
  if (PLAIN.test(value)) return { compare_type: how, value };
  return { compare_type: "REGEX", value: `^${literal(value)}${how === "EQUAL_TO" ? "$" : ""}` };
}

/** A user's expression with the same meaning, in characters that HAProxy's configuration takes. */
export function expression(text: string): string {
  const safe = text.replaceAll(/\\([\s\S])|["'#]/g, (some, escaped: string | undefined) =>
    QUOTING.test(escaped ?? some) ? `\\x${(escaped ?? some).charCodeAt(0).toString(16)}` : some,
  );
  return safe.startsWith("-") ? `(?:)${safe}` : safe;
}

/** Why Octavia or its HAProxy cannot have a rule; undefined: they can. */
export function ruleProblem({ type, compare_type: how, key, value }: L7RuleCreate): string | undefined {
  const of = { PATH: "path", HOST_NAME: "host", HEADER: `header ${shown(key ?? "")}` }[type as string] ?? type;
  if (type === "HEADER" && (!NAME.test(key ?? "") || (key ?? "").length > LONGEST))
    return `${of}: Octavia does not accept this name of a header`;
  if (value.length > LONGEST)
    return `${of} needs an L7 rule of ${value.length} characters; Octavia stores ${LONGEST}: ${shown(value)}`;
  if (/[^ -~]/.test(value)) return `${of} ${shown(value)} contains control characters or an expression beyond ASCII`;
  if (how !== "REGEX") return PLAIN.test(value) ? undefined : `${of} ${shown(value)} is refused by Octavia`;
  const problem = expressionProblem(value);
  return problem && `${of}: the regular expression ${shown(value)} ${problem}`;
}

/** Why a redirect cannot go there. HAProxy reads "%" as the beginning of a variable. */
export function addressProblem(address: string): string | undefined {
  if (address.length > LONGEST) return `has ${address.length} characters; Octavia stores ${LONGEST}: ${shown(address)}`;
  if (address.includes("%")) return `${shown(address)} contains "%", which HAProxy's redirects do not accept`;
  return /^https?:\/\/[A-Za-z0-9.-]+(:\d+)?(\/[A-Za-z0-9\-._~!$&()*+,;=:@/]*)?(\?[A-Za-z0-9\-._~!$&()*+,;=:@/?]*)?$/.test(
    address,
  )
    ? undefined
    : `${shown(address)} is not a URL that Octavia accepts`;
}

/** A user's text as it appears in a message. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/**
 * Constructs that Python, with which Octavia checks expressions, and PCRE, with which HAProxy runs them, read
 * differently or not at all.
 */
const UNSURE: readonly (readonly [RegExp, string])[] = [
  [/\\(?![bBdDsSwWfnrtv]|x[0-9a-fA-F]{2}|[^A-Za-z0-9])/, "has an escape that Python or PCRE does not read"],
  [/\(\?P?<[=!]/, "uses lookbehind"],
  [/\(\?<[^=!]/, "names a group in a way that Python does not read; write (?P<name>"],
  [/\(\?P<(?![A-Za-z_]\w*>)/, "names a group in a way that Python does not read"],
  [/\[\^?\]/, "has an empty character class"],
  [/\[[^\]]*\\[dDsSwW]-[^\]]|\[[^\]]*-\\[dDsSwW]/, "has a range that ends in a class"],
  [/\[[[:.=]|\[[^\]]*(\[|--|&&|~~|\|\|)/, "has a set inside a character class"],
  [/\[[^\]]*\\B/, "has an escape in a character class that Python or PCRE does not read"],
  [/\{,/, "has a repetition without a lower bound"],
  [/\{\d{4,}|\{\d*,\d{4,}/, "repeats more than 999 times"],
];

/** It is compiled only, never run. */
function expressionProblem(text: string): string | undefined {
  // Escaped characters are checked by the first test alone.
  const plain = text.replaceAll(/\\[^A-Za-z0-9]/g, "_");
  const unsure = UNSURE.find(([pattern]) => pattern.test(plain));
  if (unsure) return unsure[1];
  const names = [...plain.matchAll(/\(\?P<(\w+)>/g)].map(([, name]) => name);
  if (new Set(names).size < names.length) return "has two groups of the same name";
  try {
    new RegExp(text.replace(/^\(\?i\)/, "").replaceAll("(?P<", "(?<"));
    return undefined;
  } catch {
    return "cannot be read";
  }
}
