import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "./collect.ts";
import type { KeyList, Value } from "./datastore.ts";
import { BusyStore, type Pace } from "./testing/busy-store.ts";

const signal = new AbortController().signal;
const KEYS = 40;
const pace: Pace = { keys: KEYS, write: 10, read: 20, list: 20, store: 50, lag: 5, compaction: 1e9, atOnce: KEYS };
/** Values of the first pass, those of one list, and three calls for all that changed since. */
const MOST_CALLS = 2 * KEYS + 3;

const collected = async (store: BusyStore) => {
  const versions = new Set<string>();
  const write = async (values: readonly Value[]): Promise<void> => {
    for (const { value } of values) versions.add(value);
    await store.pass(store.pace.store);
  };
  const needed = ({ keys }: KeyList) => keys;
  const list = await collect(store, { first: store.values(), needed, write, clock: store.clock, signal });
  return { list, versions };
};

/** The keys of one moment whose values were not written. */
const lacking = async (store: BusyStore): Promise<string[]> => {
  const { list, versions } = await collected(store);
  expect(list.keys).toHaveLength(KEYS);
  const values = list.keys.map(({ key }) => store.at(key, list.revision)?.value ?? "");
  return values.filter((value) => !versions.has(value));
};

describe("a backup under constant rewrites, on the clock of a model", () => {
  const cases: readonly [string, Partial<Pace>][] = [
    ["whose writes arrive at once", {}],
    ["whose writes arrive after longer than it waits for them", { lag: 3_500 }],
    ["that gets no stream of writes", { lag: Infinity }],
    ["whose stream ends at each compaction", { lag: 3_500, compaction: 50 }],
    ["that gets no stream, while each write is compacted", { lag: Infinity, compaction: 1 }],
    ["that reads one value while all are rewritten", { lag: Infinity, read: 500, write: 1, compaction: 40 }],
  ];
  test.each(cases)("%s has one moment whole after a bounded number of reads", async (_, changed) => {
    const store = new BusyStore({ ...pace, ...changed });
    expect(await lacking(store)).toEqual([]);
    expect(store.calls).toBeLessThanOrEqual(MOST_CALLS);
  });

  test("has one moment whole after a bounded number of reads at any speed of clients, etcd and object store", async () => {
    const speeds = fc.record({
      write: fc.integer({ min: 1, max: 200 }),
      read: fc.integer({ min: 1, max: 100 }),
      list: fc.integer({ min: 1, max: 500 }),
      store: fc.integer({ min: 1, max: 300 }),
      lag: fc.constantFrom(1, 50, 2_000, 3_500, 20_000, Infinity),
      compaction: fc.constantFrom(1, 7, 100, 1e9),
    });
    await fc.assert(
      fc.asyncProperty(speeds, async (changed) => {
        const store = new BusyStore({ ...pace, ...changed });
        expect(await lacking(store)).toEqual([]);
        expect(store.calls).toBeLessThanOrEqual(MOST_CALLS);
      }),
      { numRuns: 60 },
    );
  });

  test("whose changes are too much for one call has one moment whole while their revision is not compacted", async () => {
    const store = new BusyStore({ ...pace, lag: Infinity, atOnce: 0 });
    expect(await lacking(store)).toEqual([]);
    expect(store.calls).toBeLessThanOrEqual(MOST_CALLS);
  });

  test("is given up in a bounded time where no stream, no revision and no single call has its changes", async () => {
    const store = new BusyStore({ ...pace, lag: Infinity, atOnce: 0, compaction: 1 });
    await expect(collected(store)).rejects.toMatchObject({ code: "BACKUP_DATA_CHANGING" });
    expect(store.calls).toBeLessThanOrEqual(6 * MOST_CALLS);
  });
});
