import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { growthOf, LINEAR } from "../testing/growth.ts";
import { patternSize } from "./pattern-size.ts";
import { compilePattern, patternProblem, plainRest, stepsOfMatching } from "./regexp.ts";

const hostile = (length: number): string => `${"a".repeat(length)}!`;

/** Patterns whose atoms all match the same text, with repetitions of every form. */
const atom = fc.constantFrom("a", "[a-z]", "\\w", "[\\w.]", "[^b]");
const repetition = fc.constantFrom("", "", "{3}", "{20}", "?", "*", "+", "{0,999}", "{2,}", "{1,30}");
const pattern = fc
  .tuple(fc.array(fc.tuple(atom, repetition), { minLength: 1, maxLength: 6 }), fc.constantFrom("", "$", "b$"))
  .map(([parts, end]) => `^${parts.map((part) => part.join("")).join("")}${end}`);

/** Positions that a backtracking engine tries at most: each count of a repetition with all counts of those after it. */
function triesOf(text: string, length: number): number {
  const repetitions = [...text.matchAll(/[*+?]|\{(\d+),(\d*)\}/g)];
  return repetitions.reduce((tries, [whole, least, most]) => {
    if (whole === "?") return tries * 2;
    return tries * (most ? Number(most) - Number(least) + 1 : length + 1);
  }, 1);
}

describe("the patterns of a schema", () => {
  it("run natively only when a backtracking engine tries each position of a hostile text once", () => {
    fc.assert(
      fc.property(pattern, (text) => {
        if (plainRest(text) === undefined) return;
        expect(triesOf(text, 300), text).toBeLessThanOrEqual(1000);
        expect(plainRest(text)).toBeLessThanOrEqual(64);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    "^a{0,999}a{0,999}$",
    "^a?a?$",
    "^a*a{999}$",
    "^a{0,9}[a-z]+$",
    `^a*${"a".repeat(65)}$`,
    `^${"a".repeat(300)}`,
  ])("do not run natively: %s", (text) => {
    expect(plainRest(text)).toBeUndefined();
  });

  it.each(["^[a-z0-9-]+$", "^a{1,63}$", "^[A-Z]{3}[0-9]{4}$", "^v[0-9]+a?"])("match as Go does: %s", (text) => {
    const native = new RegExp(text);
    for (const value of ["", "a", "a-b", "ABC1234", "v1a", "v", hostile(70)]) {
      expect(compilePattern(text).test(value)).toBe(native.test(value));
    }
  });

  it("take steps linear in the text, and no more than a limit", () => {
    for (const text of ["^a{0,999}a{0,999}a{0,999}a{0,999}$", "(a|b|ab)*c{1000}$", "^(a+)+$", "^[a-z]*$", "^a*aaaa$"]) {
      const compiled = compilePattern(text);
      const steps = (length: number): number => {
        const before = stepsOfMatching();
        compiled.test(hostile(length));
        return stepsOfMatching() - before;
      };
      expect(steps(200)).toBeLessThanOrEqual(10 * steps(20) + 1);
      expect(compiled.test(hostile(300))).toBe(false);
      if (patternSize(text) > 100) expect(() => compiled.test(hostile(3_000_000))).toThrow("too long for its pattern");
    }
  });

  it("that the native engine runs take time linear in a hostile text", () => {
    for (const text of ["^[a-z]*$", "^a*aaaa$", "^a{1,999}a$", "^a{5}[a-z]+b$"]) {
      expect(plainRest(text), text).toBeDefined();
      expect(
        growthOf(hostile, (value) => compilePattern(text).test(value), 20_000),
        text,
      ).toBeLessThan(LINEAR);
    }
  });

  it("take a bounded number of steps to find all matches", () => {
    expect(compilePattern("[a-z]+").findAll("ab cd ef")).toEqual(["ab", "cd", "ef"]);
    expect(() => compilePattern("a.*b|a").findAll("a".repeat(50_000))).toThrow("too long for its pattern");
  });

  it.each([
    ["counted repetitions side by side", "a{0,1000}".repeat(50)],
    ["counted repetitions of classes", `${"[\\p{L}]{1000}".repeat(10)}`],
    ["alternatives with counted repetitions", `(${"a{0,900}|".repeat(50)}a)`],
    ["more characters than a pattern may have", `(${"k|".repeat(10_000)}k)`],
  ])("are refused before they are compiled: %s", (_, text) => {
    expect(patternProblem(text)).toBe("error parsing regexp: expression too large");
  });

  it("have about the size that their program has", () => {
    expect(patternSize("^a{0,999}b$")).toBeGreaterThan(999);
    expect(patternSize("(ab){500}")).toBeGreaterThan(1000);
    expect(patternSize("((a{10}){10}){10}")).toBeGreaterThan(1000);
    expect(patternSize("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")).toBeLessThan(50);
    fc.assert(fc.property(fc.string(), (text) => patternSize(text) > 0));
  });
});
