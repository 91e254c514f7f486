import fc from "fast-check";
import { expect, test } from "vitest";
import type { L7RuleCreate } from "@causeway/openstack";
import { addressProblem, comparison, expression, literal, ruleProblem } from "./l7-values.ts";

/** What HAProxy's configuration does not take as it is, and what Octavia refuses. */
const UNSAFE = /["'#]|[^ -~]/;

test("a text compared as an expression matches that text only, in characters that HAProxy takes", () => {
  const text = fc.string({ maxLength: 12, unit: fc.constantFrom(..."a/.*+?^$(){}[]|\\\"'# \té-%".split("")) });
  const bytes = (value: string) => Buffer.from(value).toString("latin1");
  fc.assert(
    fc.property(text, text, (value, other) => {
      const made = literal(value);
      expect(made).not.toMatch(UNSAFE);
      expect(made).not.toContain(" ");
      const matches = new RegExp(`^${made}$`, "s");
      expect(matches.test(bytes(value))).toBe(true);
      expect(matches.test(bytes(other))).toBe(value === other);
    }),
    { numRuns: 300 },
  );
});

test("a user's expression keeps its meaning in characters that HAProxy takes", () => {
  const part = fc.constantFrom("a", "/", "'", '"', "#", "\\'", "\\\\", "\\.", ".", "(b|')", "['#]", '[^"]', "x+");
  const request = fc.string({ maxLength: 8, unit: fc.constantFrom(..."a/'\"#\\.bx".split("")) });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), request, (parts, path) => {
      const text = `^${parts.join("")}`;
      expect(expression(text)).not.toMatch(UNSAFE);
      expect(new RegExp(expression(text)).test(path)).toBe(new RegExp(text).test(path));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["/a", "EQUAL_TO", "/a"],
  ["-f", "REGEX", "^\\-f$"],
  ["it's", "REGEX", "^it\\x27s$"],
  ["a b", "REGEX", "^a\\x20b$"],
  ["é", "REGEX", "^\\xc3\\xa9$"],
])("the value %j is compared by %s %j", (value, how, made) => {
  const { compare_type, value: is } = comparison("EQUAL_TO", value);
  expect([compare_type, is.replace("^-", "^\\-")]).toEqual([how, made]);
});

const path = (compare_type: L7RuleCreate["compare_type"], value: string): L7RuleCreate => ({
  type: "PATH",
  compare_type,
  value,
});

test.each([
  [path("EQUAL_TO", "/a%20b"), undefined],
  [path("EQUAL_TO", "/a b"), 'path "/a b" is refused by Octavia'],
  [path("REGEX", `/${"a".repeat(255)}`), "path needs an L7 rule of 256 characters; Octavia stores 255"],
  [path("REGEX", "^/é"), 'path "^/é" contains control characters or an expression beyond ASCII'],
  [path("REGEX", "^/a(b|c)+/\\d{2,}(?P<n>x)?$"), undefined],
  [path("REGEX", "(?i)^/a"), undefined],
  [path("REGEX", "^/("), 'path: the regular expression "^/(" cannot be read'],
  [path("REGEX", "(?<!a)b"), "uses lookbehind"],
  [path("REGEX", "(?<n>a)"), "write (?P<name>"],
  [path("REGEX", "(?P<n>a)|(?P<n>b)"), "has two groups of the same name"],
  [path("REGEX", "\\p{L}"), "an escape that Python or PCRE does not read"],
  [path("REGEX", "(a)\\1"), "an escape that Python or PCRE does not read"],
  [path("REGEX", "\\\\p"), undefined],
  [path("REGEX", "[a-\\d]"), "a range that ends in a class"],
  [path("REGEX", "a{,3}"), "without a lower bound"],
  [path("REGEX", "a{1,5000}"), "more than 999 times"],
  [
    { type: "HEADER", compare_type: "EQUAL_TO", key: "x'y", value: "v" } as const,
    'header "x\'y": Octavia does not accept',
  ],
  [{ type: "HEADER", compare_type: "EQUAL_TO", key: "x-y", value: "v" } as const, undefined],
])("Octavia can store or not the rule %j: %s", (rule, problem) => {
  if (problem === undefined) expect(ruleProblem(rule)).toBeUndefined();
  else expect(ruleProblem(rule)).toContain(problem);
});

test.each([
  ["https://a.example:8443/b?c=d", undefined],
  [`https://a.example/${"a".repeat(250)}`, "has 268 characters; Octavia stores 255"],
  ["https://a.example/a%20b", 'contains "%"'],
  ["https://a.example/a b", "is not a URL"],
  ["https://a.example/#top", "is not a URL"],
  ["ftp://a.example/", "is not a URL"],
])("Octavia can store or not the address %s of a redirect: %s", (address, problem) => {
  if (problem === undefined) expect(addressProblem(address)).toBeUndefined();
  else expect(addressProblem(address)).toContain(problem);
});
