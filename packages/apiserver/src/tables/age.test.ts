import { expect, test } from "vitest";
import { duration } from "./age.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [0, "0s"],
  [119_000, "119s"],
  [5 * MINUTE + 12_000, "5m12s"],
  [5 * MINUTE, "5m"],
  [90 * MINUTE, "90m"],
  [7 * HOUR + 5 * MINUTE, "7h5m"],
  [30 * HOUR, "30h"],
  [3 * DAY + HOUR, "3d1h"],
  [400 * DAY, "400d"],
  [3 * 365 * DAY, "3y"],
  [Number.NaN, "<invalid>"],
])("%d ms is shown as %s", (milliseconds, shown) => {
  expect(duration(milliseconds)).toBe(shown);
});
