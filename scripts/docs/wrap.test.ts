import { expect, test } from "vitest";
import { wrapMarkdown } from "./wrap.ts";

const words = (count: number) => Array.from({ length: count }, () => "word").join(" ");

test("a paragraph that is too wide is wrapped, with the line before it", () => {
  expect(wrapMarkdown(`a\n${words(30)}\n\nb\n`)).toBe(`a ${words(23)}\n${words(7)}\n\nb\n`);
});

test("an entry of a list continues below its text, and the next entry remains its own", () => {
  expect(wrapMarkdown(`- ${words(30)}\n- b`)).toBe(`- ${words(23)}\n  ${words(7)}\n- b`);
});

test.each([
  ["a row of a table", `| ${words(40)} |`],
  ["a heading", `# ${words(40)}`],
  ["indented code", `a\n\n    ${words(40)}\n    ${words(40)}`],
  ["fenced code", `\`\`\`text\n${words(40)}\n\`\`\``],
  ["a word alone", "x".repeat(200)],
  ["a span of code", `\`${words(40)}\``],
  ["a paragraph with short lines", "a\nb\nc"],
])("%s remains as it is", (_, text) => {
  expect(wrapMarkdown(text)).toBe(text);
});

test("a text that was wrapped is not changed again", () => {
  const once = wrapMarkdown(`1. ${words(60)}\n   ${words(30)}\n\n${words(50)} - ${words(5)}`);
  expect(wrapMarkdown(once)).toBe(once);
});
