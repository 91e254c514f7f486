import { expect, test } from "vitest";
import { wrapHelp } from "./wrap-help.ts";

test("the help text breaks paragraphs at the width, and leaves options and examples as they are", () => {
  const example = "  causeway sweep --cloud prod --cluster-name prod";
  expect(wrapHelp(`It lists what it would delete and asks first.\n\nExamples:\n${example}\n`, 20)).toBe(
    `It lists what it\nwould delete and\nasks first.\n\nExamples:\n${example}\n`,
  );
});

test("the help text joins the lines of a paragraph of which one is too long, and of no other", () => {
  expect(wrapHelp("one\ntwo\n\nthree four\nfive\n", 8)).toBe("one\ntwo\n\nthree\nfour\nfive\n");
  expect(wrapHelp("aa bb cc dd ee\nff gg\n", 8)).toBe("aa bb cc\ndd ee ff\ngg\n");
});

test("the help text does not break a word that is longer than the width", () => {
  expect(wrapHelp("see https://example.org/a/long/address now", 10)).toBe(
    "see\nhttps://example.org/a/long/address\nnow",
  );
});
