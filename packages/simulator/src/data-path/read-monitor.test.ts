import { expect, test } from "vitest";
import { expectedCodes } from "./read-monitor.ts";

test.each([
  ["200", [200]],
  ["200,202", [200, 202]],
  ["200-204", [200, 201, 202, 203, 204]],
  ["200, 301-302", [200, 301, 302]],
  ["", [0]],
  ["x", []],
])("the expected codes %j of a monitor are read", (text, codes) => {
  expect([...expectedCodes(text)]).toEqual(codes);
});

test("a range of expected codes ends with its 500th code", () => {
  expect(expectedCodes("1-999999999").size).toBe(500);
});
