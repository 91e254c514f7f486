import { createRequire } from "node:module";
import type * as re2js from "re2js";
import { messageOf } from "@causeway/foundation";
import { MAXIMUM_PATTERN, MAXIMUM_PROGRAM, patternSize } from "./pattern-size.ts";
import { lazily } from "../lazily.ts";

type Engine = typeof re2js;

/** A Go (RE2) pattern, ready to match. */
export interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** The matches from left to right, at most `limit`. */
  findAll(text: string, limit?: number): string[];
}

/** Compiled patterns that are kept, and the size of all of them. */
const KEPT = 1000;
const KEPT_SIZE = 200_000;

/** What matching one text may take, in instructions of the pattern for each character; about half a second. */
const MAXIMUM_STEPS = 4_000_000;

const ATOM = String.raw`(?:[\w@:/ -]|\\[.\-/]|\[\^?[\w.\-:/ ]+\])`;
const FIXED = String.raw`(?:${ATOM}(?:\{\d{1,3}\})?)*`;
const VARIABLE = String.raw`${ATOM}(?:[*+?]|\{\d{1,3},\d{0,3}\})`;
/**
 * Bound to the beginning, with at most one repetition whose count is not fixed: a backtracking engine tries each count
 * once, and what follows once for each. Patterns with several of them may take time exponential in their number.
 */
const PLAIN = new RegExp(String.raw`^\^${FIXED}(?:${VARIABLE}(${FIXED}))?\$?$`);
/** As many characters may follow the repetition, and as long may such a pattern be. */
const [PLAIN_REST, PLAIN_LENGTH] = [64, 250];

const engine = lazily(() => createRequire(import.meta.url)("re2js") as Engine);
interface Kept {
  readonly pattern: Pattern;
  readonly size: number;
}

const known = new Map<string, Kept>();
const used = { size: 0, steps: 0 };

/** Steps of all matching so far: the difference is what some work took. */
export function stepsOfMatching(): number {
  return used.steps;
}

/**
 * Compiles a pattern; the same pattern gives the same answer again. Matching takes time linear in the text, whatever
 * the pattern, and throws an Error where text and pattern are so long that even this is too much: schemas and the
 * values that they judge come from tenants. Throws an Error with Go's message when it is no pattern.
 */
export function compilePattern(pattern: string): Pattern {
  const found = known.get(pattern);
  if (found) {
    known.delete(pattern);
    known.set(pattern, found);
    return found.pattern;
  }
  const size = pattern.length > MAXIMUM_PATTERN ? MAXIMUM_PROGRAM + 1 : patternSize(pattern);
  if (size > MAXIMUM_PROGRAM) throw new Error("error parsing regexp: expression too large");
  const rest = plainRest(pattern);
  const made = rest === undefined ? linear(pattern, size) : plain(pattern, rest);
  known.set(pattern, { pattern: made, size });
  used.size += size;
  for (const [oldest, kept] of known) {
    if (known.size <= KEPT && used.size <= KEPT_SIZE) break;
    known.delete(oldest);
    used.size -= kept.size;
  }
  return made;
}

/** Takes note of what matching takes at most. Throws when that is too much. */
function spend(steps: number): void {
  if (steps > MAXIMUM_STEPS) throw new Error("the text is too long for its pattern");
  used.steps += steps;
}

/**
 * How many characters follow the repetition of a pattern that a backtracking engine matches in linear time; undefined
 * for others.
 */
export function plainRest(pattern: string): number | undefined {
  const match = pattern.length > PLAIN_LENGTH ? null : PLAIN.exec(pattern);
  if (!match) return undefined;
  const counts = [...(match[1] ?? "").matchAll(/\{(\d+)\}/g)].map(([, count]) => Number(count));
  const rest = (match[1] ?? "").length + counts.reduce((total, count) => total + count, 0);
  return rest <= PLAIN_REST ? rest : undefined;
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

function plain(pattern: string, rest: number): Pattern {
  const compiled = new RegExp(pattern);
  // Native steps take a hundredth of the time.
  const steps = (text: string): number => (text.length * (rest + 1)) / 100;
  return {
    test(text) {
      spend(steps(text));
      return compiled.test(text);
    },
    findAll(text, limit = Infinity) {
      spend(steps(text));
      return limit > 0 ? [...(compiled.exec(text) ?? [])].slice(0, 1) : [];
    },
  };
}

function linear(pattern: string, size: number): Pattern {
  const compiled = engine().RE2JS.compile(pattern);
  return {
    test(text) {
      spend(text.length * size);
      return compiled.matcher(text).find();
    },
    findAll(text, limit = Infinity) {
      const matcher = compiled.matcher(text);
      const found: string[] = [];
      let steps = 0;
      let from = 0;
      while (found.length < limit) {
        // Each search may read all that is left of the text.
        steps += ((text.length - from) * size) / SEARCHES;
        spend(found.length === 0 ? text.length * size : 0);
        if (steps > MAXIMUM_STEPS) throw new Error("the text is too long for its pattern");
        if (!matcher.find()) break;
        found.push(matcher.group() ?? "");
        from = matcher.end();
      }
      used.steps += steps;
      return found;
    },
  };
}

/** Most searches of one text end long before the text does: so many count as one that reads all of it. */
const SEARCHES = 2;
