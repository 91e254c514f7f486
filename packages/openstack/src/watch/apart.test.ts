import { silentLog, VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { PollingInformer, type WatchedType } from "./informer.ts";

interface Thing {
  readonly id: string;
  readonly status: string;
}

const type: WatchedType<Thing> = {
  name: "things",
  indexes: {},
  inTransition: ({ status }) => status === "changing",
  transition: ({ status }) => ({ kind: status, size: 1 }),
  deleting: () => false,
  hardlyChanges: false,
};

/** How many lists ten changes cost that begin 30 ms after each other and take 300 ms. */
async function listsOf(apart: number): Promise<number> {
  const clock = new VirtualClock(0);
  const ends = new Map<string, number>();
  let lists = 0;
  const list = () => {
    lists += 1;
    const things = [...ends].map(([id, end]) => ({ id, status: clock.now() >= end ? "still" : "changing" }));
    return Promise.resolve(things);
  };
  const informer = new PollingInformer<Thing>({ type, list, clock, log: silentLog, intervals: { apart } });
  await informer.start();
  for (let at = 0; at < 10; at += 1) {
    ends.set(`${at}`, clock.now() + 300);
    informer.observe({ id: `${at}`, status: "changing" });
    await clock.advance(30);
  }
  for (let step = 0; step < 50; step += 1) await clock.advance(30);
  expect(informer.list().map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => "still"));
  await informer.close();
  return lists;
}

test("callers that request a list one after another share it where polls are kept apart", async () => {
  const clock = new VirtualClock(0);
  let lists = 0;
  const list = () => Promise.resolve((lists += 1)).then(() => []);
  const informer = new PollingInformer<Thing>({ type, list, clock, log: silentLog, intervals: { apart: 250 } });
  await informer.start();
  const refreshed: Promise<void>[] = [];
  for (let at = 0; at < 20; at += 1) {
    refreshed.push(informer.refresh());
    await clock.advance(25);
  }
  await clock.advance(250);
  await Promise.all(refreshed);
  expect(lists).toBeLessThanOrEqual(4);
  await informer.close();
});

test("changes that end at about the same time share a list where polls are kept apart", async () => {
  const [close, apart] = [await listsOf(0), await listsOf(250)];
  expect(apart).toBeLessThanOrEqual(6);
  expect(close).toBeGreaterThan(apart);
});

test("a list that takes long is read a third of the time while something changes", async () => {
  const clock = new VirtualClock(0);
  const begun: number[] = [];
  const list = async () => {
    begun.push(clock.now());
    if (begun.length > 1) await clock.sleep(1_000);
    return [{ id: "a", status: "changing" }];
  };
  const informer = new PollingInformer<Thing>({ type, list, clock, log: silentLog, intervals: {} });
  await informer.start();
  for (let step = 0; step < 200; step += 1) await clock.advance(100);
  const pauses = begun.slice(2).map((at, i) => at - (begun[i + 1] ?? 0));
  expect(Math.min(...pauses)).toBe(3_000);
  await informer.close();
});
