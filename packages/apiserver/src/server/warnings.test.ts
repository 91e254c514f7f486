import { expect, it } from "vitest";
import { Warnings } from "./warnings.ts";

const headersOf = (...messages: string[]): string[] => {
  const warnings = new Warnings();
  for (const message of messages) warnings.add(message);
  return warnings.headers;
};

it("a warning is sent once, with quotes escaped and without line breaks", () => {
  expect(headersOf('a "b" \\', "a\nb", "a\nb", "")).toEqual(['299 - "a \\"b\\" \\\\"', '299 - "a b"']);
});

it("warnings with more than 4096 characters in all are cut to 256 each, and end after 4096", () => {
  const long = "x".repeat(4000);
  expect(headersOf(long)).toEqual([`299 - "${long}"`]);
  expect(headersOf(long, "y".repeat(300), "short")).toEqual([
    `299 - "${"x".repeat(256)}"`,
    `299 - "${"y".repeat(256)}"`,
    '299 - "short"',
  ]);
  const many = Array.from({ length: 1000 }, (_, i) => `${i}${"z".repeat(1000)}`);
  expect(headersOf(...many)).toHaveLength(16);
  expect(headersOf("🙂".repeat(5000))).toEqual([`299 - "${"🙂".repeat(256)}"`]);
});
