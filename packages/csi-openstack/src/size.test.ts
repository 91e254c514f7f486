import { expect, test } from "vitest";
import { GIB, gibOf } from "./size.ts";

const range = (requiredBytes: bigint, limitBytes = 0n) => ({ requiredBytes, limitBytes });

test.each([
  [undefined, 1],
  [range(0n), 1],
  [range(1n), 1],
  [range(GIB), 1],
  [range(GIB + 1n), 2],
  [range((GIB * 12n) / 10n), 2],
  [range(3n * GIB, 3n * GIB), 3],
])("the capacity range %o is rounded up to %i GiB", (given, expected) => expect(gibOf(given)).toBe(expected));

test("the size of a volume refuses a limit below the rounded size, and negative sizes", () => {
  expect(() => gibOf(range(GIB + 1n, GIB + 2n))).toThrow(/exceeds the limit/);
  expect(() => gibOf(range(0n, GIB - 1n))).toThrow(/exceeds the limit/);
  expect(() => gibOf(range(-1n))).toThrow(/negative/);
});
