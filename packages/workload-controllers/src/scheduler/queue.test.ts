import { expect, test } from "vitest";
import { SchedulingQueue } from "./queue.ts";
import { info } from "./testing/objects.ts";

const names = (queue: SchedulingQueue) => {
  const taken: string[] = [];
  for (let next = queue.take(); next; next = queue.take()) taken.push(next.pod.pod.metadata.name);
  return taken;
};

function takeOne(queue: SchedulingQueue) {
  const taken = queue.take();
  if (!taken) throw new Error("the queue is empty");
  return taken;
}

test("the scheduler's queue hands out the highest priority first, then the longest wait", () => {
  const queue = new SchedulingQueue();
  queue.put(info("a"), 3);
  queue.put(info("b"), 1);
  queue.put(info("c", { priority: 10 }), 4);
  queue.put(info("d"), 2);
  expect(names(queue)).toEqual(["c", "b", "d", "a"]);
});

test("the scheduler's queue does not hand out a pod that is gone", () => {
  const queue = new SchedulingQueue();
  queue.put(info("a"), 1);
  queue.put(info("b"), 2);
  queue.remove("default/a");
  expect(names(queue)).toEqual(["b"]);
});

test("the scheduler's queue tries a parked pod again after an event that may help its filter, not after another", () => {
  const queue = new SchedulingQueue();
  queue.put(info("a"), 0);
  queue.park(takeOne(queue), new Set(["NodeAffinity"]), 0);
  queue.wake("pod-removed", 5_000);
  expect(names(queue)).toEqual([]);
  queue.wake("node-changed", 5_000);
  expect(names(queue)).toEqual(["a"]);
});

test("the scheduler's queue doubles the back-off with each attempt, from one second to ten", () => {
  const queue = new SchedulingQueue();
  queue.put(info("a"), 0);
  const waits: number[] = [];
  let now = 0;
  for (let attempt = 1; attempt <= 6; attempt++) {
    queue.retry(takeOne(queue), now);
    const next = queue.nextTick ?? 0;
    waits.push(next - now);
    queue.tick(next - 1);
    expect(queue.length.active).toBe(0);
    queue.tick(next);
    now = next;
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test("the scheduler's queue tries a parked pod again after five minutes whatever happens", () => {
  const queue = new SchedulingQueue();
  queue.put(info("a"), 0);
  queue.park(takeOne(queue), new Set(["NodeName"]), 0);
  expect(queue.nextTick).toBe(300_000);
  queue.tick(300_000);
  expect(names(queue)).toEqual(["a"]);
  expect(queue.nextTick).toBeUndefined();
});
