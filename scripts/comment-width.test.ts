import { expect, test } from "vitest";
import { tooWide, wrapComments } from "./comment-width.ts";

const LONG = "word ".repeat(30).trim();

test("the check of comments' width wraps a documentation comment of one line", () => {
  const source = `/** ${LONG}. */\nconst a = 1;\n`;
  const wrapped = wrapComments(source);
  expect(tooWide(source)).toEqual([1]);
  expect(tooWide(wrapped)).toEqual([]);
  expect(wrapped.split("\n")[0]).toBe("/**");
  expect(wrapped).toMatch(/ \*\/\nconst a = 1;\n$/);
});

test("the check of comments' width fills only the paragraph that is too wide, and keeps lists, tags and code", () => {
  const source = ["/**", " * Short.", " *", ` * ${LONG}`, " * - entry", " *     code", " * @example x", " */", ""].join(
    "\n",
  );
  const wrapped = wrapComments(source).split("\n");
  expect(wrapped.slice(0, 3)).toEqual(["/**", " * Short.", " *"]);
  expect(wrapped.slice(5)).toEqual([" * - entry", " *     code", " * @example x", " */", ""]);
});

test("the check of comments' width wraps a run of line comments at its own depth", () => {
  const source = `  // ${LONG}\n  // rest\n  f();\n`;
  const wrapped = wrapComments(source);
  expect(wrapped.split("\n").every((line) => line === "" || line.startsWith("  "))).toBe(true);
  expect(wrapped).toMatch(/word rest\n {2}f\(\);\n$/);
});

test("the check of comments' width changes no code, no directive and no comment that fits", () => {
  const source = `// oxlint-disable-next-line ${LONG}\nconst a = "${LONG} ${LONG}"; // ${LONG}\n/** fits */\n`;
  expect(wrapComments(source)).toBe(source);
});

test("the check of comments' width wraps comments of programs and YAML, and keeps their first line", () => {
  const source = `#!/bin/sh\n# ${LONG}\nf # ${LONG}\n`;
  expect(tooWide(source, "#")).toEqual([2]);
  expect(tooWide(source)).toEqual([]);
  const wrapped = wrapComments(source, "#").split("\n");
  expect(wrapped[0]).toBe("#!/bin/sh");
  expect(wrapped.slice(1, 3).every((line) => line.startsWith("# word"))).toBe(true);
  expect(wrapped[3]).toBe(`f # ${LONG}`);
});
