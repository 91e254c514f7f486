import { expect, test } from "vitest";
import { IdleCollector } from "./idle-collector.ts";

const MIB = 1024 * 1024;

/** A collector that checks every five seconds. */
function looking(): (busy: number, mebibytes: number) => boolean {
  const collector = new IdleCollector();
  let now = 0;
  return (busy, mebibytes) => collector.look({ now: (now += 5_000), busy, memory: mebibytes * MIB });
}

test("an idle process that has grown collects once", () => {
  const look = looking();
  expect([look(0.01, 60), look(0.01, 61), look(0.01, 120)]).toEqual([false, false, true]);
  expect(Array.from({ length: 20 }, () => look(0.01, 62))).not.toContain(true);
});

test("a busy process is left to V8 until it is idle", () => {
  const look = looking();
  expect([look(0.01, 60), look(0.9, 200), look(0.3, 200), look(0.1, 200)]).toEqual([false, false, false, true]);
});

test("a process whose memory is in use does not collect it again and again", () => {
  const look = looking();
  expect([look(0, 60), look(0, 200)]).toEqual([false, true]);
  expect(Array.from({ length: 50 }, () => look(0, 195))).not.toContain(true);
});

test("collections are half a minute apart", () => {
  const look = looking();
  expect([look(0, 60), look(0, 200), look(0, 60)]).toEqual([false, true, false]);
  expect(Array.from({ length: 5 }, () => look(0, 200))).toEqual([false, false, false, false, true]);
});

test("a collection by V8 resets the level that growth is measured from", () => {
  const look = looking();
  expect([look(0, 200), look(0.9, 80), look(0, 120)]).toEqual([false, false, true]);
});
