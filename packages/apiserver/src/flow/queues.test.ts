import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hand, QueueSet } from "./queues.ts";

const QUEUING = { queues: 64, handSize: 6, queueLengthLimit: 50 };

describe("a hand of queues", () => {
  test("has as many different queues as it should, all of the deck, and is the same again", () => {
    const dealt = fc.record({
      flow: fc.string(),
      queues: fc.integer({ min: 1, max: 512 }),
      size: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(dealt, ({ flow, queues, size }) => {
        const queuing = { queues, handSize: Math.min(size, queues), queueLengthLimit: 1 };
        const cards = hand(flow, queuing);
        expect(new Set(cards).size).toBe(queuing.handSize);
        expect(cards.every((c) => c >= 0 && c < queues)).toBe(true);
        expect(hand(flow, queuing)).toEqual(cards);
      }),
    );
  });

  test("differs between flows", () => {
    const hands = Array.from({ length: 100 }, (_, i) => hand(`flow-${i}`, QUEUING).join());
    expect(new Set(hands).size).toBe(100);
  });
});

describe("the queues of API requests", () => {
  const drain = (set: QueueSet, count: number): void => {
    for (let i = 0; i < count; i += 1) {
      const queue = set.next();
      if (!queue) return;
      set.take(queue)?.dispatch();
      set.finished(queue, 1, 3);
    }
  };

  test("let a flow of one request pass a flow of many", () => {
    const set = new QueueSet(QUEUING);
    const order: string[] = [];
    for (let i = 0; i < 200; i += 1) set.add("noisy", { seats: 1, dispatch: () => order.push("noisy") });
    drain(set, 20);
    set.add("quiet", { seats: 1, dispatch: () => order.push("quiet") });
    drain(set, 20);
    // Behind at most one request of each of the noisy flow's queues.
    expect(order.indexOf("quiet") - 20).toBeLessThanOrEqual(QUEUING.handSize);
  });

  test("are served by what requests take: a wide one counts for many", () => {
    const set = new QueueSet({ queues: 2, handSize: 1, queueLengthLimit: 500 });
    const flows = ["a", "b", "c", "d", "e", "f"];
    const wide = flows.find((f) => hand(f, { queues: 2, handSize: 1, queueLengthLimit: 1 })[0] === 0) ?? "";
    const narrow = flows.find((f) => hand(f, { queues: 2, handSize: 1, queueLengthLimit: 1 })[0] === 1) ?? "";
    const order: string[] = [];
    for (let i = 0; i < 100; i += 1) {
      set.add(wide, { seats: 10, dispatch: () => order.push("wide") });
      set.add(narrow, { seats: 1, dispatch: () => order.push("narrow") });
    }
    drain(set, 88);
    expect(order.filter((o) => o === "wide").length).toBe(8);
  });

  test("take no more than their length, which is the flow's own", () => {
    const set = new QueueSet({ queues: 64, handSize: 2, queueLengthLimit: 5 });
    const taken = Array.from({ length: 20 }, () => set.add("noisy", { seats: 1, dispatch: () => {} }));
    expect(taken.filter((q) => q !== undefined).length).toBe(10);
    expect(set.waiting).toBe(10);
    const others = Array.from({ length: 20 }, (_, i) => set.add(`other-${i}`, { seats: 1, dispatch: () => {} }));
    expect(others.filter((q) => q !== undefined).length).toBeGreaterThan(15);
  });

  test("forget a request that waits no longer", () => {
    const set = new QueueSet(QUEUING);
    const request = { seats: 1, dispatch: () => {} };
    const queue = set.add("a", request);
    expect(queue && set.remove(queue, request)).toBe(true);
    expect(queue && set.remove(queue, request)).toBe(false);
    expect(set.next()).toBeUndefined();
  });
});
