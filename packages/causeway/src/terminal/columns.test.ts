import { expect, test } from "vitest";
import { age, columns } from "./columns.ts";

test("columns are as wide as their widest cell, and lines have no blanks at the end", () => {
  expect(
    columns(
      ["NAME", "PHASE"],
      [
        ["a-long-name", "Ready"],
        ["b", ""],
      ],
    ),
  ).toBe("NAME          PHASE\na-long-name   Ready\nb\n");
});

test.each([
  [0, "0s"],
  [119, "119s"],
  [120, "2m"],
  [7200, "2h"],
  [172_800, "2d"],
])("an age of %i seconds is %s", (seconds, text) => {
  expect(age(new Date(0).toISOString(), seconds * 1000)).toBe(text);
});

test("a time that is missing has no age", () => expect(age(undefined, 0)).toBe("<unknown>"));
