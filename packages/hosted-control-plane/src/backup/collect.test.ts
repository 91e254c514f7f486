import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "@causeway/foundation";
import { collect } from "./collect.ts";
import type { DatastoreReader, KeyList, Value } from "./datastore.ts";
import { createFollower, type Follower } from "./follow.ts";

const signal = new AbortController().signal;
/** Waiting takes no time. */
const clock = { now: () => 0, sleep: async () => {} } as unknown as Clock;
type Written = Required<Value>;
const lineOf = (values: readonly Written[]) => ({ result: { events: values.map((kv) => ({ kv })) } });
const kept = (kvs: readonly unknown[]) => kvs as readonly Written[];

/** Keys and values in memory; others write before each read, and the stream may miss what they write. */
class PlayedStore implements DatastoreReader {
  revision = 1;
  #open: ((line: Record<string, unknown>) => boolean)[] = [];
  readonly data = new Map<string, Written>();
  readonly #others: (store: PlayedStore) => void;
  constructor(others: (store: PlayedStore) => void = () => {}) {
    this.#others = others;
    for (const key of ["a", "b", "c"]) this.put(key);
  }
  put(key: string, isReceived = true): void {
    const value = { key, value: `${key}@${++this.revision}`, modified: this.revision };
    this.data.set(key, value);
    if (isReceived) this.#open = this.#open.filter((onLine) => onLine(lineOf([value])));
  }
  delete(key: string): void {
    this.revision++;
    this.data.delete(key);
  }
  async keys(): Promise<KeyList> {
    this.#others(this);
    const keys = [...this.data.values()].map(({ key, modified }) => ({ key, modified }));
    return { revision: this.revision, cluster: "1", keys };
  }
  async *values() {
    for (const key of ["a", "b", "c"]) {
      this.#others(this);
      const value = this.data.get(key);
      yield value === undefined ? [] : [value];
    }
  }
  /** Revisions are compacted at once. */
  async value(key: string, revision?: number): Promise<Value | undefined> {
    this.#others(this);
    return revision === undefined || revision === this.revision ? this.data.get(key) : undefined;
  }
  /** Too much for one call. */
  async writtenSince(): Promise<undefined> {}
  follow(): Follower {
    const call = async (
      _: string,
      __?: object,
      { onLine = () => false }: { onLine?: (line: Record<string, unknown>) => boolean } = {},
    ) => {
      this.#open.push(onLine);
      onLine({ result: { created: true } });
      return new Promise<Record<string, unknown>>(() => {});
    };
    return createFollower(call, { key: "", range_end: "" }, kept);
  }
  close(): void {}
}

/** The versions that were written, and the list. */
async function collected(store: PlayedStore): Promise<{ list: KeyList; versions: readonly Value[] }> {
  const versions: Value[] = [];
  const write = async (values: readonly Value[]): Promise<void> => void versions.push(...values);
  const using = { first: store.values(), needed: ({ keys }: KeyList) => keys, write, clock, signal };
  return { list: await collect(store, using), versions };
}

describe("a collection while others write", () => {
  test("has each value of the list, however they write, and whatever the stream misses", async () => {
    const action = fc.record({
      key: fc.constantFrom("a", "b", "c", "d"),
      does: fc.constantFrom("put" as const, "miss" as const, "delete" as const, "nothing" as const),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(action, { maxLength: 3 }), { maxLength: 8 }), async (turns) => {
        const left = [...turns];
        const store = new PlayedStore((played) => {
          for (const { key, does } of left.shift() ?? []) {
            if (does === "put" || does === "miss") played.put(key, does === "put");
            if (does === "delete") played.delete(key);
          }
        });
        const { list, versions } = await collected(store);
        for (const { key, modified } of list.keys)
          expect(versions).toContainEqual({ key, modified, value: `${key}@${modified}` });
      }),
      { numRuns: 300 },
    );
  });

  test("is given up when its stream misses writes without end", async () => {
    const store = new PlayedStore((played) => played.put("a", false));
    await expect(collected(store)).rejects.toMatchObject({ code: "BACKUP_DATA_CHANGING" });
  });

  test("names the reason when its stream always fails", async () => {
    const store = new PlayedStore((played) => played.put("a", false));
    const fails = () => Promise.reject(new Error("permission denied"));
    store.follow = () => createFollower(fails, { key: "", range_end: "" }, kept);
    await expect(collected(store)).rejects.toMatchObject({
      code: "BACKUP_DATA_CHANGING",
      message: expect.stringContaining("etcd's stream of writes ended: permission denied"),
    });
  });

  test("has one value of each key when nothing is written", async () => {
    const { list, versions } = await collected(new PlayedStore());
    expect(versions.map(({ key }) => key)).toEqual(["a", "b", "c"]);
    expect(list.revision).toBe(4);
  });
});

describe("the receiver of a stream", () => {
  const received = async () => {
    let receive: (values: readonly Written[]) => void = () => {};
    const call = async (
      _: string,
      __?: object,
      { onLine = () => false }: { onLine?: (line: Record<string, unknown>) => boolean } = {},
    ) => {
      receive = (values) => void onLine(lineOf(values));
      onLine({ result: { created: true } });
      return new Promise<Record<string, unknown>>(() => {});
    };
    const follower = createFollower(call, { key: "", range_end: "" }, kept);
    await follower.start();
    return { follower, put: (key: string, modified: number) => receive([{ key, value: "12345678", modified }]) };
  };

  test("keeps the newest version of each key, and every version while they are held", async () => {
    const { follower, put } = await received();
    put("a", 1);
    put("a", 2);
    expect([follower.size, follower.find("a", 1), follower.find("a", 2)?.modified]).toEqual([9, undefined, 2]);
    follower.hold();
    put("a", 3);
    put("b", 4);
    expect([follower.size, follower.find("a", 2)?.modified, follower.find("a", 3)?.modified]).toEqual([27, 2, 3]);
    follower.release();
    expect([follower.size, follower.find("a", 2), follower.find("a", 3)?.modified]).toEqual([18, undefined, 3]);
  });
});
