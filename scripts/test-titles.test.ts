import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkTestTitles } from "./test-titles.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "titles-"));
  mkdirSync(join(root, "a"));
});
afterEach(() => rmSync(root, { recursive: true }));

function findings(text: string): string[] {
  writeFileSync(join(root, "a/a.test.ts"), text);
  return checkTestTitles(root, ["a"]);
}

test.each([
  ["a sentence", 'test("a port without an address is refused", run);'],
  ["a verb after the subject of a describe", 'describe("a pool", () => it("takes two members", run));'],
  ["the rows of a table", 'test.each([["a"]])("a port %s", run);'],
  ["a reason to skip", "test.skip(`${check} (${reason})`, run);"],
  ["a call of something else", 'test.as("demo")("POST", run);'],
])("the check of titles accepts %s", (_, text) => {
  expect(findings(text)).toEqual([]);
});

test.each([
  ["no subject", 'test("refuses a port without address", run);', "begins with its verb"],
  ["a pronoun", 'test("it refuses a port without address", run);', "refers to something else"],
  ["a conjunction", 'describe("a pool", () => test("then loses its members", run));', "begins with a conjunction"],
  ["a subject without a name", 'test("what is no port is refused", run);', "refers to something else"],
  ["three words", 'test("ports are refused", run);', "has fewer than 4 words"],
  ["a number of some list", 'test("a port without address is refused (D9)", run);', "the number of a list"],
  ["no verb", 'test.each([[1]])("an %s port of a pool", run);', "has no verb"],
  ["no verb after a describe", 'describe("a pool", () => it(`of two ${kind} there`, run));', "has no verb"],
])("the check of titles refuses a title with %s", (_, text, why) => {
  expect(findings(text)).toEqual([expect.stringContaining(why)]);
});

test("the check of titles names the place of a title that two tests of one file have", () => {
  const twice = 'test("a port is refused here", run);\n'.repeat(2);
  expect(findings(twice)).toEqual([
    'a/a.test.ts:2: "a port is refused here" is the title of another test of this file',
  ]);
});
