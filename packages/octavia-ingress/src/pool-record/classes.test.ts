import { expect, test } from "vitest";
import { decodeClasses, encodeClasses } from "./classes.ts";

test("names of classes are read back by the same cluster alone", () => {
  const text = encodeClasses("c", new Set(["shared", "another"]));
  expect(decodeClasses("c", text)).toEqual(["another", "shared"]);
  expect(decodeClasses("d", text)).toEqual([]);
});

test.each([
  ["no text", ""],
  ["a cut text", encodeClasses("c", ["shared"]).slice(0, -3)],
  ["another version", JSON.stringify({ version: 2, cluster: "c", names: ["shared"] })],
  ["no list", JSON.stringify({ version: 1, cluster: "c", names: "shared" })],
  ["what cannot be names", JSON.stringify({ version: 1, cluster: "c", names: [1, "", null, "x".repeat(254)] })],
  ["a deep text", "[".repeat(100_000)],
])("the record of %s has no class", (_, text) => {
  expect(decodeClasses("c", text)).toEqual([]);
});

test("the record of classes has 500 of them at most", () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `class-${i}`);
  expect(decodeClasses("c", encodeClasses("c", names))).toHaveLength(500);
  expect(decodeClasses("c", JSON.stringify({ version: 1, cluster: "c", names }))).toHaveLength(500);
});
