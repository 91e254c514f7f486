import { expect, test } from "vitest";
import { IdleCollector } from "./idle-collector.ts";

const MIB = 1024 * 1024;

/** A collector that checks every five seconds. */
function sampling(): (busy: number, mebibytes: number) => boolean {
  const collector = new IdleCollector();
  let now = 0;
  return (busy, mebibytes) => collector.sample({ now: (now += 5_000), busy, memory: mebibytes * MIB });
}

test("an idle process that has grown collects once", () => {
  const sample = sampling();
  expect([sample(0.01, 60), sample(0.01, 61), sample(0.01, 120)]).toEqual([false, false, true]);
  expect(Array.from({ length: 20 }, () => sample(0.01, 62))).not.toContain(true);
});

test("a busy process is left to V8 until it is idle", () => {
  const sample = sampling();
  expect([sample(0.01, 60), sample(0.9, 200), sample(0.3, 200), sample(0.1, 200)]).toEqual([false, false, false, true]);
});

test("a process whose memory is in use does not collect it again and again", () => {
  const sample = sampling();
  expect([sample(0, 60), sample(0, 200)]).toEqual([false, true]);
  expect(Array.from({ length: 50 }, () => sample(0, 195))).not.toContain(true);
});

test("collections are half a minute apart", () => {
  const sample = sampling();
  expect([sample(0, 60), sample(0, 200), sample(0, 60)]).toEqual([false, true, false]);
  expect(Array.from({ length: 5 }, () => sample(0, 200))).toEqual([false, false, false, false, true]);
});

test("a collection by V8 resets the level that growth is measured from", () => {
  const sample = sampling();
  expect([sample(0, 200), sample(0.9, 80), sample(0, 120)]).toEqual([false, false, true]);
});
