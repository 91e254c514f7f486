import { expect, test } from "vitest";
import { parse } from "yaml";
import { goYamlTags } from "./go-yaml.ts";

const read = (text: string): unknown => parse(text, { version: "1.1", customTags: goYamlTags as never });

test.each([
  ["e1000", "e1000"],
  ["E5", "E5"],
  ["-e5", "-e5"],
  ["1e3", 1000],
  ["-.5", -0.5],
  [".inf", Number.POSITIVE_INFINITY],
  [".nan", Number.NaN],
  ["0o17", "0o17"],
  ["017", 15],
  ["12:30", "12:30"],
  ["2026-01-01", "2026-01-01"],
  ["yes", true],
])("%s is read as by go-yaml: %s", (text, value) => {
  expect(read(text)).toEqual(value);
});
