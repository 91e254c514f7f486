import { InputError } from "@causeway/foundation";
import type { Caller } from "./caller.ts";

/** What is decided about: usually a cluster or template. */
export interface Target {
  readonly project_id?: string;
  readonly user_id?: string;
}

type Check = (caller: Caller, target: Target, rules: Rules) => boolean;
/** The parsed policy: checks by the name of an action or rule, such as "cluster:create". `allows` evaluates them. */
export type Rules = ReadonlyMap<string, Check>;

const LONGEST = 4_096;
const DEEPEST = 32;

/**
 * Reads rules in oslo.policy's language: `role:`, `rule:`, `ATTRIBUTE:%(target)s`, `@`, `!`, `and`, `or`, `not` and
 * parentheses.
 * @throws MAGNUM_POLICY_INVALID
 */
export function readRules(texts: Readonly<Record<string, string>>): Rules {
  const rules = new Map<string, Check>();
  for (const [name, text] of Object.entries(texts)) rules.set(name, readCheck(name, text));
  for (const [name, text] of Object.entries(texts)) refuseCycle(name, texts, [name, text]);
  return rules;
}

/** May the caller do this? An action without a rule is denied. */
export function allows(rules: Rules, action: string, caller: Caller, target: Target): boolean {
  return rules.get(action)?.(caller, target, rules) ?? false;
}

function refuseCycle(
  start: string,
  texts: Readonly<Record<string, string>>,
  [name, text]: readonly [string, string],
  depth = 0,
): void {
  if (depth > DEEPEST) throw invalidRule(start, "it refers to itself, or to rules nested too deeply");
  for (const [, next = ""] of text.matchAll(/rule:([\w:-]+)/g)) {
    if (next === name) throw invalidRule(start, "it refers to itself");
    const referred = texts[next];
    if (referred === undefined) throw invalidRule(start, `there is no rule ${next}`);
    refuseCycle(start, texts, [next, referred], depth + 1);
  }
}

function invalidRule(name: string, why: string): InputError {
  return new InputError("MAGNUM_POLICY_INVALID", `the policy of ${name} cannot be used: ${why}`, {
    hint: "Correct the rule in the file given by --policy-file.",
  });
}

function readCheck(name: string, text: string): Check {
  if (text.length > LONGEST) throw invalidRule(name, `it is longer than ${LONGEST} characters`);
  const words = joined(
    text
      .replaceAll("(", " ( ")
      .replaceAll(/\)(?!s\b)/g, " ) ")
      .trim()
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
  if (words.length === 0) return () => true;
  const parser = new Parser(name, words);
  const check = parser.either(0);
  if (parser.at < words.length) throw invalidRule(name, `"${words[parser.at] ?? ""}" is not expected`);
  return check;
}

class Parser {
  at = 0;
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
    return (caller, target, rules) => parts.some((part) => part(caller, target, rules));
  }

  #both(depth: number): Check {
    const parts = [this.#one(depth)];
    while (this.#take("and")) parts.push(this.#one(depth));
    return (caller, target, rules) => parts.every((part) => part(caller, target, rules));
  }

  #one(depth: number): Check {
    if (this.#take("not")) {
      const inner = this.#one(depth + 1);
      return (caller, target, rules) => !inner(caller, target, rules);
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
    if (kind === "rule") return (caller, target, rules) => rules.get(match)?.(caller, target, rules) ?? false;
    if (kind === "role") return ({ roles }) => roles.some((role) => role.toLowerCase() === match.toLowerCase());
    if (kind === "http" || kind === "https") throw invalidRule(this.#name, `checks of kind ${kind} are not supported`);
    return (caller, target, rules) => {
      const wanted = filled(match, target);
      return wanted !== undefined && attributeOf(kind, caller, rules) === wanted;
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

function attributeOf(kind: string, caller: Caller, rules: Rules): string | undefined {
  switch (kind) {
    case "is_admin":
      return allows(rules, "context_is_admin", caller, {}) ? "True" : "False";
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
