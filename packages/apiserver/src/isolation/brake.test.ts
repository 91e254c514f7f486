import { expect, test } from "vitest";
import { Brake } from "./brake.ts";

const MINUTE = 60_000;

test("the third fault within ten minutes pauses a logical cluster, and no other one", () => {
  const brake = new Brake();
  expect(brake.fault("a", "why", 0)).toBeUndefined();
  expect(brake.fault("b", "why", 0)).toBeUndefined();
  expect(brake.fault("a", "why", MINUTE)).toBeUndefined();
  expect(brake.fault("a", "why", 2 * MINUTE)).toEqual({ until: 2 * MINUTE + 30_000, reason: "why" });
  expect(brake.parked("a", 2 * MINUTE + 29_999)).toEqual({ until: 2 * MINUTE + 30_000, reason: "why" });
  expect(brake.parked("a", 2 * MINUTE + 30_000)).toBeUndefined();
  expect(brake.parked("b", 2 * MINUTE)).toBeUndefined();
});

test("faults that are more than ten minutes apart do not add up", () => {
  const brake = new Brake();
  for (let i = 0; i < 20; i++) expect(brake.fault("a", "why", i * 6 * MINUTE)).toBeUndefined();
});

test("each pause is twice as long as the one before, up to ten minutes, and one fault is enough for the next", () => {
  const brake = new Brake();
  let now = 0;
  for (let i = 0; i < 2; i++) brake.fault("a", "why", now);
  const pauses: number[] = [];
  for (let i = 0; i < 7; i++) {
    const parked = brake.fault("a", "why", now);
    pauses.push(((parked?.until ?? 0) - now) / 1000);
    now = (parked?.until ?? 0) + 1000;
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600]);
});

test("a cluster that was without fault for ten minutes after a pause starts again from the shortest pause", () => {
  const brake = new Brake();
  for (let i = 0; i < 3; i++) brake.fault("a", "why", 0);
  const later = 30_000 + 10 * MINUTE + 1;
  expect(brake.fault("a", "why", later)).toBeUndefined();
  expect(brake.fault("a", "why", later)).toBeUndefined();
  expect(brake.fault("a", "why", later)?.until).toBe(later + 30_000);
});

test("a cluster that was removed is forgotten", () => {
  const brake = new Brake();
  for (let i = 0; i < 3; i++) brake.fault("a", "why", 0);
  brake.forget("a");
  expect(brake.parked("a", 1)).toBeUndefined();
  expect(brake.fault("a", "why", 1)).toBeUndefined();
});
