import { createRequire } from "node:module";
import type * as re2js from "re2js";
import { messageOf } from "@causeway/foundation";

type Engine = typeof re2js;

/** A Go (RE2) pattern, ready to match. */
export interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** The matches from left to right, at most `limit`. */
  findAll(text: string, limit?: number): string[];
}

const KEPT = 1000;
const ATOM = String.raw`(?:[\w@:/ -]|\\[.\-/]|\[\^?[\w.\-:/ ]+\])`;
const BOUNDED = String.raw`(?:${ATOM}(?:\{\d{1,3}(?:,\d{1,3})?\}|\?)?)*`;
/** Bound to the beginning and with one repetition that may be long at most: a backtracking engine takes linear time for these. */
const PLAIN = new RegExp(String.raw`^\^${BOUNDED}(?:${ATOM}[*+])?(?:${ATOM}(?:\{\d{1,3}\})?)*\$?$`);

const engine = lazily(() => createRequire(import.meta.url)("re2js") as Engine);
const known = new Map<string, Pattern>();

/**
 * Compiles a pattern; the same pattern gives the same answer again. Matching takes time linear in the text, whatever the pattern: definitions
 * and the values that they judge come from tenants. Throws an Error with Go's message when it is no pattern.
 */
export function compilePattern(pattern: string): Pattern {
  const found = known.get(pattern);
  if (found) return found;
  const made = PLAIN.test(pattern) ? plain(pattern) : linear(pattern);
  const [oldest] = known.keys();
  if (known.size >= KEPT && oldest !== undefined) known.delete(oldest);
  known.set(pattern, made);
  return made;
}

/** What is wrong with a pattern, in Go's words; undefined when nothing is. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function plain(pattern: string): Pattern {
  const compiled = new RegExp(pattern);
  return {
    test: (text) => compiled.test(text),
    findAll: (text, limit = Infinity) => (limit > 0 ? [...(compiled.exec(text) ?? [])] : []),
  };
}

function linear(pattern: string): Pattern {
  const compiled = engine().RE2JS.compile(pattern);
  return {
    test: (text) => compiled.matcher(text).find(),
    findAll(text, limit = Infinity) {
      const matcher = compiled.matcher(text);
      const found: string[] = [];
      while (found.length < limit && matcher.find()) found.push(matcher.group() ?? "");
      return found;
    },
  };
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
