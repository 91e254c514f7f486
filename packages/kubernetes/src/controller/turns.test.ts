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
