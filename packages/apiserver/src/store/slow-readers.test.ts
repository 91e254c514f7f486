import { expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import { openStore, type Store, type StoreKey } from "./index.ts";

const HISTORY = 100;
const cluster = "a";
const resource = "/configmaps";
const keyOf = (name: string): StoreKey => ({ cluster, resource, namespace: "default", name });
const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m", namespace: "default" } };

/** Writes one object again and again. */
async function write(store: Store, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const before = store.get(keyOf("m"));
    if (before) await store.update(before.key, object, before.revision);
    else await store.create(keyOf("m"), object);
  }
}

const isReadable = (store: Store, atRevision: number): boolean => {
  try {
    store.list({ cluster, resource, atRevision });
    return true;
  } catch {
    return false;
  }
};

test("a watch whose client does not read holds back compaction for as much history again, and then ends as expired", async () => {
  const store = openStore({ history: HISTORY });
  try {
    await write(store, 1);
    const room = Promise.withResolvers<void>();
    const failures: unknown[] = [];
    store.watch(
      { cluster, resource, fromRevision: 0 },
      { onEvents: () => room.promise, onFailure: (error) => failures.push(error) },
    );
    await write(store, HISTORY + 50);
    // It may still read on.
    expect(isReadable(store, 5)).toBe(true);
    await write(store, 2 * HISTORY);
    expect(isReadable(store, 5)).toBe(false);
    expect(isReadable(store, store.revision - HISTORY)).toBe(true);
    room.resolve();
    await expect.poll(() => failures).toMatchObject([{ code: "KUBERNETES_EXPIRED" }]);
  } finally {
    await store.close();
  }
});

test("a list that is read slowly holds back compaction for as much history again, and then ends as expired", async () => {
  const store = openStore({ history: HISTORY });
  try {
    await write(store, 1);
    const held = store.revision;
    const release = store.hold(held);
    await write(store, HISTORY + 50);
    expect(isReadable(store, held)).toBe(true);
    await write(store, 2 * HISTORY);
    expect(isReadable(store, held)).toBe(false);
    release();
  } finally {
    await store.close();
  }
});

test("a watch whose client reads again in time misses nothing", async () => {
  const store = openStore({ history: HISTORY });
  try {
    await write(store, 1);
    const room = Promise.withResolvers<void>();
    const seen: number[] = [];
    const failures: unknown[] = [];
    store.watch(
      { cluster, resource, fromRevision: 0 },
      {
        onEvents: (events) => {
          seen.push(...events.map((e) => e.revision));
          return seen.length === 1 ? room.promise : undefined;
        },
        onFailure: (error) => failures.push(error),
      },
    );
    await write(store, HISTORY + 50);
    room.resolve();
    await expect.poll(() => seen.length).toBe(HISTORY + 51);
    expect(seen).toEqual(Array.from({ length: HISTORY + 51 }, (_, i) => i + 1));
    expect(failures).toEqual([]);
  } finally {
    await store.close();
  }
});
