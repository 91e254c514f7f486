import { expect, test } from "vitest";
import { isRenewable, Surplus } from "./surplus.ts";

const MIB = 1024 * 1024;
const sample = (surplus: Surplus, now: number, resident: number, used: number, idle = true) =>
  surplus.sample({ now, idle, resident: resident * MIB, used: used * MIB });

test("a process that was busy, is settled and keeps memory without use has a surplus", () => {
  const surplus = new Surplus();
  expect(sample(surplus, 0, 108, 30)).toBeUndefined();
  expect(sample(surplus, 20_000, 108, 30)).toBeUndefined();
  expect(sample(surplus, 25_000, 400, 150, false)).toBeUndefined();
  expect(sample(surplus, 30_000, 260, 50), "idle for a moment").toBeUndefined();
  expect(sample(surplus, 45_000, 260, 50)).toBeUndefined();
  expect(sample(surplus, 50_000, 260, 50)).toBe(132 * MIB);
});

test("objects that are in use are no surplus", () => {
  const surplus = new Surplus();
  for (const now of [0, 20_000]) sample(surplus, now, 108, 30);
  expect(sample(surplus, 40_000, 260, 180)).toBeUndefined();
});

test.each([
  ["fewer than 64 MiB", 170, 30],
  ["less than a quarter of the memory", 400, 240],
])("a surplus of %s is kept", (_, resident, used) => {
  const surplus = new Surplus();
  for (const now of [0, 20_000]) sample(surplus, now, 108, 30);
  expect(sample(surplus, 40_000, resident, used)).toBeUndefined();
});

test("a process that was never idle before has no measure yet", () => {
  const surplus = new Surplus();
  sample(surplus, 0, 500, 50, false);
  sample(surplus, 5_000, 500, 50);
  expect(sample(surplus, 30_000, 500, 50)).toBeUndefined();
});

test("a worker of few clusters may be replaced, ten minutes after the last one was made or removed", () => {
  expect(isRenewable(10, 600_000)).toBe(true);
  expect(isRenewable(10, 599_999)).toBe(false);
  expect(isRenewable(11, Infinity)).toBe(false);
});
