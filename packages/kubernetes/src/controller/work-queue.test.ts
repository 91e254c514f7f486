import { createMetrics, VirtualClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { WorkQueue } from "./work-queue.ts";

const key = (name: string) => ({ namespace: "n", name });
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What a worker that never finishes would have been handed so far. */
function taken(queue: WorkQueue): string[] {
  const names: string[] = [];
  const pull = async () => {
    for (;;) {
      const next = await queue.take();
      if (!next) return;
      names.push(next.name);
      queue.done(next);
    }
  };
  void pull();
  return names;
}

describe("a work queue with a rate of retries", () => {
  const failing = (retries?: { perSecond: number; burst: number }) => {
    const clock = new VirtualClock(1_000_000);
    return { clock, queue: new WorkQueue({ clock, random: () => 0, ...(retries ? { retries } : {}) }) };
  };

  test("tries many failed keys again one after the other", () => {
    const { queue } = failing({ perSecond: 10, burst: 2 });
    const delays = Array.from({ length: 12 }, (_, i) => queue.addRateLimited(key(`k-${i}`)));
    expect(delays.slice(0, 2).every((delay) => delay <= 5)).toBe(true);
    expect(delays.slice(2)).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
  });

  test("does not count keys that lost a race, and has its burst again after a pause", async () => {
    const { queue, clock } = failing({ perSecond: 10, burst: 2 });
    for (let i = 0; i < 5; i++) expect(queue.addRateLimited(key(`race-${i}`), true)).toBeLessThanOrEqual(5);
    for (let i = 0; i < 3; i++) queue.addRateLimited(key(`k-${i}`));
    await clock.advance(300);
    expect(queue.addRateLimited(key("later"))).toBeLessThanOrEqual(5);
  });

  test("waits as long as the back-off of each key where no rate is given", () => {
    const { queue } = failing();
    for (let i = 0; i < 200; i++) expect(queue.addRateLimited(key(`k-${i}`))).toBeLessThanOrEqual(5);
  });
});

describe("a work queue", () => {
  test("holds a key once, however often it is added", async () => {
    const queue = new WorkQueue();
    for (const name of ["a", "b", "a", "a"]) queue.add(key(name));
    expect(queue.length).toBe(2);
    const names = taken(queue);
    await settled();
    expect(names).toEqual(["a", "b"]);
  });

  test("gives a key to one worker at a time, and again if it was added meanwhile", async () => {
    const queue = new WorkQueue();
    queue.add(key("a"));
    const first = await queue.take();
    queue.add(key("a"));
    queue.add(key("a"));
    const second = queue.take();
    let handedOut = false;
    void second.then(() => (handedOut = true));
    await settled();
    expect(handedOut).toBe(false);
    queue.done(first ?? key("none"));
    expect(await second).toEqual(key("a"));
    queue.done(key("a"));
    expect(queue.length).toBe(0);
  });

  test("adds a key later, at the earliest requested instant", async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock });
    const names = taken(queue);
    queue.addAfter(key("a"), 1000);
    queue.addAfter(key("a"), 500);
    queue.addAfter(key("a"), 2000);
    await clock.advance(499);
    expect(names).toEqual([]);
    await clock.advance(1);
    await settled();
    expect(names).toEqual(["a"]);
    await clock.advance(5000);
    expect(names).toEqual(["a"]);
  });

  test("forgets an appointment when the key comes earlier for another reason", async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter(key("a"), 1000);
    queue.add(key("a"));
    const names = taken(queue);
    await clock.advance(2000);
    await settled();
    expect(names).toEqual(["a"]);
  });

  test("doubles the delay of a key that fails, up to a minute, until it is forgotten", () => {
    const queue = new WorkQueue({ clock: new VirtualClock(), random: () => 0 });
    const delays = Array.from({ length: 16 }, () => queue.addRateLimited(key("a")));
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(delays.slice(13)).toEqual([40_960, 60_000, 60_000]);
    queue.forget(key("a"));
    expect(queue.addRateLimited(key("a"))).toBe(5);
    queue.close();
  });

  test("jitters by up to half", () => {
    const queue = new WorkQueue({ clock: new VirtualClock(), random: () => 1 });
    expect(queue.addRateLimited(key("a"))).toBe(2.5);
    queue.close();
  });

  test("is not hurried beyond once a second by events of a key that keeps failing", async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock, random: () => 0 });
    const names = taken(queue);
    for (let i = 0; i < 12; i++) queue.addRateLimited(key("a"));
    await clock.advance(5);
    names.length = 0;
    for (let i = 0; i < 5; i++) queue.add(key("a"));
    await clock.advance(999);
    expect(names).toEqual([]);
    await clock.advance(1);
    await settled();
    expect(names).toEqual(["a"]);
  });

  test("releases all waiting workers when it closes", async () => {
    const clock = new VirtualClock();
    const queue = new WorkQueue({ clock });
    const waiting = queue.take();
    queue.addAfter(key("a"), 10);
    queue.close();
    expect(await waiting).toBeUndefined();
    await clock.advance(100);
    queue.add(key("b"));
    expect(await queue.take()).toBeUndefined();
  });

  test("is measured under client-go's names, until it is closed", async () => {
    const clock = new VirtualClock();
    const metrics = createMetrics();
    const queue = new WorkQueue({ clock, measured: { metrics, name: "service" } });
    const metric = async (name: string) =>
      Number(new RegExp(`^${name}\\{name="service"\\} (.*)$`, "m").exec(await metrics.render())?.[1]);
    for (const name of ["a", "b", "a"]) queue.add(key(name));
    expect([await metric("workqueue_depth"), await metric("workqueue_adds_total")]).toEqual([2, 2]);
    await clock.advance(3_000);
    const first = await queue.take();
    expect(await metric("workqueue_queue_duration_seconds_sum")).toBe(3);
    await clock.advance(2_000);
    const second = await queue.take();
    await clock.advance(1_000);
    expect(await metric("workqueue_unfinished_work_seconds")).toBe(4);
    expect(await metric("workqueue_longest_running_processor_seconds")).toBe(3);
    if (first) queue.addRateLimited(first);
    for (const taken of [first, second]) if (taken) queue.done(taken);
    expect(await metric("workqueue_work_duration_seconds_sum")).toBe(4);
    expect([await metric("workqueue_retries_total"), await metric("workqueue_depth")]).toEqual([1, 0]);
    queue.close();
    expect(await metric("workqueue_unfinished_work_seconds")).toBe(0);
  });
});
