import { RE2JS } from "re2js";

/** Patterns are Go's (RE2): matching takes time linear in the text. */
const longestPattern = 512;
const longestRepeat = 1000;

const compiled = new WeakMap<object, ReturnType<typeof RE2JS.compile>>();

/**
 * Whether a pattern matches anywhere in a text. @throws Error when it is no pattern. `owner`: what keeps the compiled
 * form.
 */
export function matchesPattern(owner: object, pattern: string, text: string): boolean {
  let found = compiled.get(owner);
  if (!found) {
    found = compilePattern(pattern);
    compiled.set(owner, found);
  }
  return found.matcher(text).find();
}

/** @throws Error when it is no pattern, is too long, or repeats too often */
export function compilePattern(pattern: string): ReturnType<typeof RE2JS.compile> {
  if (pattern.length > longestPattern) throw new Error(`a pattern has at most ${longestPattern} characters`);
  const repeats = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, low, high]) =>
    Math.max(Number(low), Number(high ?? 0), 1),
  );
  if (repeats.reduce((product, one) => product * one, 1) > longestRepeat)
    throw new Error("the pattern repeats too often");
  return RE2JS.compile(pattern);
}
