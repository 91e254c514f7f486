import type { Random } from "../random.ts";

/** Regular expressions on which matchers that backtrack, or that expand repetitions, take long. */
export function patterns(random: Random): string {
  const n = random.pick([1, 2, 3, 5, 10, 30, 100, 300, 999]);
  const m = random.pick([1, 2, 4, 8, 20]);
  return random.pick([
    () => `^${`a{0,${n}}`.repeat(m)}$`,
    () => `^${"a?".repeat(n)}${"a".repeat(n)}$`,
    () => `^${"a*".repeat(m)}b$`,
    () => `^${"(a*)*".repeat(m)}$`,
    () => `^${"[a-z]*".repeat(m)}!$`,
    () => `^${".*".repeat(m)}x$`,
    () => `${".*a".repeat(m)}`,
    () => "^(a+)+$",
    () => "^(a|a)*$",
    () => "^(a|b|ab)*c$",
    () => `^(a|b|ab)*c{${n}}$`,
    () => `^(a{1,${n}}){1,${m}}$`,
    () => `^((a{1,${m}}){1,${m}}){1,${m}}$`,
    () => `^${"(".repeat(n)}a${")*".repeat(n)}$`,
    () => `^[${"a-z".repeat(n)}]+$`,
    () => `^\\p{L}{1,${n}}\\p{N}*$`,
    () => `^${Array.from({ length: n }, (_, i) => `a${i}`).join("|")}$`,
    () => `${"a|".repeat(n)}b`,
    () => `(?i)${"ß".repeat(n)}`,
    () => `(?s).{${n}}.{${n}}$`,
    () => `^\\w+([.-]?\\w+)*@\\w+([.-]?\\w+)*$`,
    () => `^(([a-z0-9]|-)+\\.)+[a-z]{2,}$`,
    () => `${"\\b".repeat(n)}a`,
    () => `^a{${n}}{${m}}$`,
    () => `(?=a)${"a".repeat(n)}`,
    () => "[",
    () => `\\${n}`,
    () => `^[^${"a".repeat(n)}]*${"[^b]*".repeat(m)}$`,
    () => `(x+x+)+y`,
    () => `^(.*?,){${Math.min(n, 30)}}P`,
  ])();
}
