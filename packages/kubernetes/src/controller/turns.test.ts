import { VirtualClock } from "@causeway/foundation";
import { expect, it } from "vitest";
import type { ObjectKey } from "../types/meta.ts";
import { runController } from "./controller.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

it("a controller whose keys of one group wait without end works on those of all others, and on each in the end", async () => {
  const stop = new AbortController();
  const hung = Array.from({ length: 50 }, (_, at): ObjectKey => ({ namespace: "hung", name: `m-${at}` }));
  const others = Array.from({ length: 999 }, (_, at): ObjectKey => ({ namespace: `c-${at}`, name: "m" }));
  const begun: string[] = [];
  const ended = new Set<string>();
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let enqueue: (key: ObjectKey) => void = () => {};
  const running = runController(
    {
      name: "test",
      sources: [
        (add) => {
          enqueue = add;
          // The hanging ones come first, and are more than there are workers.
          for (const key of [...hung, ...others]) add(key);
          return () => {};
        },
      ],
      concurrency: 16,
      groups: { of: ({ namespace }) => (namespace === "" ? undefined : namespace), most: 4 },
      async reconcile({ namespace, name }) {
        begun.push(`${namespace}/${name}`);
        if (namespace === "hung") await released;
        ended.add(`${namespace}/${name}`);
      },
    },
    stop.signal,
  );
  for (let i = 0; i < 5_000 && ended.size < others.length; i++) await settled();
  expect(ended.size).toBe(others.length);
  expect(begun.filter((key) => key.startsWith("hung"))).toHaveLength(4);
  // A change of one that was set aside does not bring it twice.
  for (const key of hung) enqueue(key);
  enqueue({ namespace: "", name: "without a group" });
  for (let i = 0; i < 5_000 && !ended.has("/without a group"); i++) await settled();
  expect(begun.filter((key) => key.startsWith("hung"))).toHaveLength(4);
  release();
  for (let i = 0; i < 5_000 && ended.size < others.length + hung.length + 1; i++) await settled();
  expect(ended.size).toBe(others.length + hung.length + 1);
  stop.abort();
  await running;
});

it("a controller works on every key of a group of which many objects are deleted while they wait", async () => {
  const stop = new AbortController();
  const of = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, at): ObjectKey => ({ namespace: "group", name: `${prefix}-${at}` }));
  const first = of("first", 4);
  const deleted = of("deleted", 20);
  const last = of("last", 6);
  const isDeleted = new Set<string>();
  const ended = new Set<string>();
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let enqueue: (key: ObjectKey) => void = () => {};
  const running = runController(
    {
      name: "test",
      sources: [
        (add) => {
          enqueue = add;
          for (const key of [...first, ...deleted, ...last]) add(key);
          return () => {};
        },
      ],
      concurrency: 16,
      groups: { of: ({ name }) => (isDeleted.has(name) ? undefined : "group"), most: 4 },
      async reconcile({ name }) {
        if (name.startsWith("first")) await released;
        ended.add(name);
      },
    },
    stop.signal,
  );
  for (let i = 0; i < 100; i++) await settled();
  expect(ended.size).toBe(0);
  for (const key of deleted) {
    isDeleted.add(key.name);
    enqueue(key);
  }
  for (let i = 0; i < 100; i++) await settled();
  expect(ended.size).toBe(deleted.length);
  release();
  for (let i = 0; i < 5_000 && ended.size < 30; i++) await settled();
  expect([...ended].filter((name) => name.startsWith("last"))).toEqual(last.map(({ name }) => name));
  stop.abort();
  await running;
});

it("a controller works on keys of healthy groups although the keys of dozens of groups hang, and keeps a limit on those", async () => {
  const stop = new AbortController();
  const clock = new VirtualClock();
  const hung = Array.from({ length: 40 }, (_, group) =>
    Array.from({ length: 6 }, (_, at): ObjectKey => ({ namespace: `hung-${group}`, name: `m-${at}` })),
  ).flat();
  const ended: string[] = [];
  let underWay = 0;
  let isHanging = true;
  const running = runController(
    {
      name: "test",
      clock,
      sources: [
        (add) => {
          for (const key of hung) add(key);
          // The last one is the healthy one's.
          add({ namespace: "healthy", name: "m" });
          return () => {};
        },
      ],
      concurrency: 16,
      groups: { of: ({ namespace }) => namespace, most: 4 },
      async reconcile({ namespace, name }) {
        if (namespace !== "healthy" && isHanging) {
          underWay += 1;
          await clock.sleep(60_000, stop.signal).catch(() => {});
          underWay -= 1;
        }
        ended.push(`${namespace}/${name}`);
        return { after: 1_000 };
      },
    },
    stop.signal,
  );
  const pass = async (seconds: number) => {
    for (let at = 0; at < seconds; at++) {
      await clock.advance(1_000);
      for (let i = 0; i < 20; i++) await settled();
    }
  };
  // All groups are unknown: their keys take the workers in turn, each for 5 s, up to a limit.
  await pass(120);
  expect(underWay).toBeLessThanOrEqual(80);
  // Now that all were slow, they share 8 workers, and the others are free.
  await pass(240);
  expect(underWay).toBe(8);
  const before = ended.filter((key) => key === "healthy/m").length;
  await pass(60);
  expect(ended.filter((key) => key === "healthy/m").length - before).toBeGreaterThanOrEqual(55);
  isHanging = false;
  for (let i = 0; i < 240 && new Set(ended).size <= hung.length; i++) await pass(1);
  expect(new Set(ended).size).toBe(hung.length + 1);
  stop.abort();
  await running;
}, 20_000);

it("a controller works on a healthy group within seconds when all workers hang at keys of four others", async () => {
  const stop = new AbortController();
  const clock = new VirtualClock();
  const ended = new Set<string>();
  const running = runController(
    {
      name: "test",
      clock,
      sources: [
        (add) => {
          for (let group = 0; group < 4; group++)
            for (let at = 0; at < 6; at++) add({ namespace: `hung-${group}`, name: `m-${at}` });
          add({ namespace: "healthy", name: "m" });
          return () => {};
        },
      ],
      concurrency: 16,
      groups: { of: ({ namespace }) => namespace, most: 4 },
      async reconcile({ namespace }) {
        if (namespace !== "healthy") await clock.sleep(60_000, stop.signal).catch(() => {});
        ended.add(namespace);
      },
    },
    stop.signal,
  );
  for (let i = 0; i < 100; i++) await settled();
  expect(ended).toEqual(new Set());
  await clock.advance(5_000);
  for (let i = 0; i < 100; i++) await settled();
  expect(ended).toEqual(new Set(["healthy"]));
  stop.abort();
  await running;
});
