import { expect, test } from "vitest";
import { amounts, quantity } from "./quantity.ts";

test.each([
  ["100m", 1, 1],
  ["1.1", 1e-3, 1100],
  ["0.1", 1e-3, 100],
  ["1Gi", 1, 2 ** 30],
  ["1.5Ki", 1, 1536],
  ["2e3", 1, 2000],
  ["1E", 1, 1e18],
  [".5", 1e-3, 500],
  [3, 1, 3],
  ["many", 1, 0],
  [undefined, 1, 0],
])("the quantity %s in units of %s is read as %s", (text, unit, expected) => {
  expect(quantity(text, unit)).toBe(expected);
});

test("the quantity of CPU is counted in thousandths", () => {
  expect(amounts({ cpu: "2", memory: "1Mi" })).toEqual({ cpu: 2000, memory: 1_048_576 });
});
