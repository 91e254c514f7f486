import { CausewayError, silentLog, systemClock, VirtualClock, type Log } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import type { ObjectKey } from "../types/meta.ts";
import { runController } from "./controller.ts";
import type { ControllerOptions, Source } from "./interface.ts";
import { collected } from "./sources.ts";
import { WorkQueue } from "./work-queue.ts";
import { runWorkers } from "./workers.ts";

const key = (name: string): ObjectKey => ({ namespace: "n", name });
const settled = async () => {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

function start(options: Partial<ControllerOptions> & Pick<ControllerOptions, "reconcile">) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  let enqueue: (key: ObjectKey) => void = () => {};
  let stopped = false;
  const source: Source = (add) => {
    enqueue = add;
    return () => (stopped = true);
  };
  const running = runController({ name: "test", sources: [source], clock, ...options }, stop.signal);
  return {
    clock,
    add: (name: string) => enqueue(key(name)),
    end: async () => {
      stop.abort();
      await running;
      return stopped;
    },
  };
}

describe("a controller", () => {
  test("reconciles what its sources name, again after the time it asks for, and after a failure", async () => {
    const seen: string[] = [];
    let failures = 2;
    const controller = start({
      reconcile: async ({ name }) => {
        seen.push(name);
        if (name === "bad" && failures-- > 0) throw new Error("not yet");
        return name === "later" && seen.length < 3 ? { after: 60_000 } : undefined;
      },
    });
    controller.add("later");
    controller.add("bad");
    await settled();
    expect(seen).toEqual(["later", "bad"]);
    await controller.clock.advance(100);
    await settled();
    await controller.clock.advance(100);
    await settled();
    expect(seen).toEqual(["later", "bad", "bad", "bad"]);
    await controller.clock.advance(60_000);
    await settled();
    expect(seen.at(-1)).toBe("later");
    expect(await controller.end()).toBe(true);
  });

  test("reconciles once for all that a collected source names within a tenth of a second", async () => {
    const seen: number[] = [];
    let enqueue: Parameters<Source>[0] = () => {};
    const members: Source = (add) => {
      enqueue = add;
      return () => {};
    };
    const clock = new VirtualClock(0);
    const controller = start({
      clock,
      sources: [collected(members)],
      reconcile: async () => void seen.push(clock.now()),
    });
    for (let i = 0; i < 10; i++) {
      enqueue(key("set"));
      await clock.advance(20);
      await settled();
    }
    await clock.advance(1_000);
    await settled();
    expect(seen).toEqual([100, 200]);
    await controller.end();
  });

  test.each([
    [0, 100],
    [50, 150],
    [1_000, 1_100],
    [100_000, 3_000],
  ])("collects changes of %d members for %d ms", async (members, wait) => {
    const seen: number[] = [];
    const clock = new VirtualClock(0);
    const source: Source = (add) => {
      add(key("set"));
      return () => {};
    };
    const controller = start({
      clock,
      sources: [collected(source, () => members)],
      reconcile: async () => void seen.push(clock.now()),
    });
    await clock.advance(wait - 1);
    await settled();
    expect(seen).toEqual([]);
    await clock.advance(1);
    await settled();
    expect(seen).toEqual([wait]);
    await controller.end();
  });

  test("warns of an object that is not found when it is so for the second time", async () => {
    const warned: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => warned.push(message), with: () => log };
    let isGone = true;
    const controller = start({
      log,
      reconcile: async ({ name }) => {
        if (name === "gone" && !isGone) return;
        throw new CausewayError("KUBERNETES_NOT_FOUND", `${name} not found`);
      },
    });
    controller.add("gone");
    await settled();
    isGone = false;
    await controller.clock.advance(1_000);
    await settled();
    expect(warned).toEqual([]);
    controller.add("missing");
    await settled();
    await controller.clock.advance(1_000);
    await settled();
    expect(warned).toContain("reconcile failed");
    await controller.end();
  });

  test("works on so many keys at once and no more, and never on one twice", async () => {
    let now = 0;
    let most = 0;
    const gates: (() => void)[] = [];
    const controller = start({
      concurrency: 2,
      reconcile: async () => {
        most = Math.max(most, ++now);
        await new Promise<void>((resolve) => gates.push(resolve));
        now--;
      },
    });
    for (const name of ["a", "a", "b", "c"]) controller.add(name);
    await settled();
    expect(now).toBe(2);
    while (gates.length > 0) {
      gates.shift()?.();
      await settled();
    }
    expect(most).toBe(2);
    await controller.end();
  });

  test("works on nothing before it is ready", async () => {
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const controller = start({
      ready: () => gate.promise,
      reconcile: async ({ name }) => void seen.push(name),
    });
    controller.add("a");
    await settled();
    expect(seen).toEqual([]);
    gate.resolve();
    await settled();
    expect(seen).toEqual(["a"]);
    await controller.end();
  });

  test("ends only when what is under way has ended", async () => {
    const gate = Promise.withResolvers<void>();
    let aborted = false;
    const controller = start({
      reconcile: async (_, signal) => {
        signal.addEventListener("abort", () => (aborted = true));
        await gate.promise;
      },
    });
    controller.add("a");
    await settled();
    let ended = false;
    const end = controller.end().then(() => (ended = true));
    await settled();
    expect({ aborted, ended }).toEqual({ aborted: true, ended: false });
    gate.resolve();
    await end;
    expect(ended).toBe(true);
  });
});

test("one taker waits for keys at rest, and as many keys as allowed are worked on at once", async () => {
  const queue = new WorkQueue();
  let waiting = 0;
  const take = queue.take.bind(queue);
  queue.take = () => {
    waiting += 1;
    return take().finally(() => (waiting -= 1));
  };
  let most = 0;
  const under: (() => void)[] = [];
  const reconcile = (): Promise<void> =>
    new Promise((resolve) => {
      under.push(resolve);
      most = Math.max(most, under.length);
    });
  const finish = (): void => {
    for (const end of under.splice(0)) end();
  };
  const running = runWorkers({ queue, clock: systemClock, turns: undefined, reconcile }, 100);
  for (let at = 0; at < 150; at++) queue.add({ namespace: "default", name: `key-${at}` });
  await expect.poll(() => under.length).toBe(100);
  expect({ waiting, length: queue.length }).toEqual({ waiting: 0, length: 50 });
  finish();
  await expect.poll(() => under.length).toBe(50);
  finish();
  await expect.poll(() => waiting).toBe(1);
  queue.close();
  await running;
  expect(most).toBe(100);
});
