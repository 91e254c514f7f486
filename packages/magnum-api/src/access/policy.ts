import { InputError, silentLog, type Log } from "@causeway/foundation";
import type { Caller } from "./caller.ts";

/** What is decided about: usually a cluster or template. */
export interface Target {
  readonly project_id?: string;
  readonly user_id?: string;
}

/** What a check decides about; `isAdmin` is an attribute of the caller, as rule context_is_admin decided it. */
interface Facts {
  readonly caller: Caller;
  readonly target: Target;
  readonly rules: Rules;
  readonly isAdmin: () => boolean;
}

type Check = (facts: Facts) => boolean;
/** The parsed policy: checks by the name of an action or rule, such as "cluster:create". `allows` evaluates them. */
export type Rules = ReadonlyMap<string, Check>;

/**
 * A rule as oslo.policy reads it: a text in its language, or a list of alternatives, each a check or a list of checks
 * that all have to hold.
 */
export type RuleText = string | readonly (string | readonly string[])[];

const LONGEST = 4_096;
const DEEPEST = 32;
/** The rule in place of one that there is not, as oslo's option policy_default_rule has it. */
const DEFAULT_RULE = "default";

/**
 * Reads rules in oslo.policy's language: `role:`, `rule:`, `ATTRIBUTE:%(target)s`, `@`, `!`, `and`, `or`, `not`,
 * parentheses, and lists. A reference to a rule that there is not denies, as in oslo; `log` reports each.
 * @throws MAGNUM_POLICY_INVALID
 */
export function readRules(texts: Readonly<Record<string, RuleText>>, log: Pick<Log, "warn"> = silentLog): Rules {
  const rules = new Map<string, Check>();
  const references = new Map<string, readonly string[]>();
  for (const [name, text] of Object.entries(texts)) {
    const { check, refers } = readRule(name, text);
    rules.set(name, check);
    references.set(name, refers);
  }
  for (const [name, refers] of references) {
    refuseCycle(name, references, name);
    for (const missing of refers.filter((each) => !rules.has(each) && !rules.has(DEFAULT_RULE)))
      log.warn("a rule of the policy refers to one that there is not, and is denied there", { rule: name, missing });
  }
  return rules;
}

/** May the caller do this? An action without a rule is denied, unless there is a rule "default". */
export function allows(rules: Rules, action: string, caller: Caller, target: Target): boolean {
  let known: boolean | undefined;
  // While it is decided whether the caller is an administrator, it is none: oslo's context has the attribute
  // afterwards.
  const isAdmin = (): boolean =>
    (known ??= verdictOf("context_is_admin", { caller, target: {}, rules, isAdmin: () => false }));
  return verdictOf(action, { caller, target, rules, isAdmin });
}

function verdictOf(rule: string, facts: Facts): boolean {
  return (facts.rules.get(rule) ?? facts.rules.get(DEFAULT_RULE))?.(facts) ?? false;
}

function refuseCycle(start: string, references: ReadonlyMap<string, readonly string[]>, name: string, depth = 0): void {
  if (depth > DEEPEST) throw invalidRule(start, "it refers to itself, or to rules nested too deeply");
  for (const referred of references.get(name) ?? []) {
    const next = references.has(referred) ? referred : DEFAULT_RULE;
    if (next === name) throw invalidRule(start, "it refers to itself");
    refuseCycle(start, references, next, depth + 1);
  }
}

function invalidRule(name: string, why: string): InputError {
  return new InputError("MAGNUM_POLICY_INVALID", `the policy of ${name} cannot be used: ${why}`, {
    hint: "Correct the rule in the file given by --policy-file.",
  });
}

interface ReadRule {
  readonly check: Check;
  /** Names of the rules that it refers to. */
  readonly refers: readonly string[];
}

function readRule(name: string, text: RuleText): ReadRule {
  if (typeof text === "string") return readText(name, text);
  if (text.length === 0) return { check: () => true, refers: [] };
  // As oslo reads lists: an empty alternative is left out, an empty check within one never holds.
  const alternatives = text
    .filter((each) => each.length > 0)
    .map((each) => (typeof each === "string" ? [each] : each).map((one) => readItem(name, one)));
  return {
    check: (facts) => alternatives.some((all) => all.every(({ check }) => check(facts))),
    refers: alternatives.flat().flatMap(({ refers }) => refers),
  };
}

/** One check of a rule in the form of lists, which has no words between checks. */
function readItem(name: string, text: string): ReadRule {
  if (text.trim() === "") return { check: () => false, refers: [] };
  if (/\s(?:and|or)\s/.test(text))
    throw invalidRule(name, `"${text.slice(0, 100)}" is more than one check; make it a text`);
  return readText(name, text);
}

function readText(name: string, text: string): ReadRule {
  if (text.length > LONGEST) throw invalidRule(name, `it is longer than ${LONGEST} characters`);
  const words = joined(
    text
      .replaceAll("(", " ( ")
      .replaceAll(/\)(?!s\b)/g, " ) ")
      .trim()
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
  if (words.length === 0) return { check: () => true, refers: [] };
  const parser = new Parser(name, words);
  const check = parser.either(0);
  if (parser.at < words.length) throw invalidRule(name, `"${words[parser.at] ?? ""}" is not expected`);
  return { check, refers: parser.refers };
}

class Parser {
  at = 0;
  readonly refers: string[] = [];
  readonly #name: string;
  readonly #words: readonly string[];

  constructor(name: string, words: readonly string[]) {
    this.#name = name;
    this.#words = words;
  }

  either(depth: number): Check {
    if (depth > DEEPEST) throw invalidRule(this.#name, "its parentheses are nested too deeply");
    const parts = [this.#both(depth)];
    while (this.#take("or")) parts.push(this.#both(depth));
    return (facts) => parts.some((part) => part(facts));
  }

  #both(depth: number): Check {
    const parts = [this.#one(depth)];
    while (this.#take("and")) parts.push(this.#one(depth));
    return (facts) => parts.every((part) => part(facts));
  }

  #one(depth: number): Check {
    if (this.#take("not")) {
      const inner = this.#one(depth + 1);
      return (facts) => !inner(facts);
    }
    if (this.#take("(")) {
      const inner = this.either(depth + 1);
      if (!this.#take(")")) throw invalidRule(this.#name, "a parenthesis is not closed");
      return inner;
    }
    const word = this.#words[this.at];
    this.at += 1;
    if (word === undefined) throw invalidRule(this.#name, "it ends early");
    return this.#leaf(word);
  }

  #leaf(word: string): Check {
    if (word === "@") return () => true;
    if (word === "!") return () => false;
    const colon = word.indexOf(":");
    if (colon < 1) throw invalidRule(this.#name, `"${word}" is no check`);
    const [kind, match] = [word.slice(0, colon), word.slice(colon + 1)];
    if (kind === "rule") {
      this.refers.push(match);
      return (facts) => verdictOf(match, facts);
    }
    if (kind === "role")
      return ({ caller: { roles } }) => roles.some((role) => role.toLowerCase() === match.toLowerCase());
    if (kind === "http" || kind === "https") throw invalidRule(this.#name, `checks of kind ${kind} are not supported`);
    return (facts) => {
      const wanted = filled(match, facts.target);
      return wanted !== undefined && attributeOf(kind, facts) === wanted;
    };
  }

  #take(word: string): boolean {
    if (this.#words[this.at]?.toLowerCase() !== word) return false;
    this.at += 1;
    return true;
  }
}

/** `%(project_id)s` was split at its parentheses. */
function joined(words: readonly string[]): readonly string[] {
  const result: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word.endsWith("%") && words[at + 1] === "(") {
      result.push(`${word}(${words[at + 2] ?? ""}`);
      at += 2;
    } else result.push(word);
  }
  return result;
}

function filled(match: string, target: Target): string | undefined {
  const name = /^%\((?:target\.)?(\w+)\)s$/.exec(match)?.[1];
  if (name === undefined) return match;
  return name === "project_id" || name === "user_id" ? target[name] : undefined;
}

function attributeOf(kind: string, { caller, isAdmin }: Facts): string | undefined {
  switch (kind) {
    case "is_admin":
      return isAdmin() ? "True" : "False";
    case "project_id":
    case "tenant_id":
      return caller.projectId;
    case "user_id":
      return caller.userId;
    case "domain_id":
    case "user_domain_id":
      return caller.domainId;
    default:
      return kind.replaceAll(/^'|'$/g, "");
  }
}
