import { base64, systemClock } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import { pointName } from "./points.ts";
import { isPermanent, restoreData } from "./restore.ts";
import type { SealedStore } from "./store.ts";
import { dataName } from "./take.ts";
import { LimitedEtcd, serveEtcd } from "./testing/limited-etcd.ts";

const signal = new AbortController().signal;
const KIB = 1024;
const PARTS = 10;
const folder = "tenants/web/uid";
const point = { id: "00000000000000aa", time: 1, full: "00000000000000aa" };
const value = Buffer.alloc(9 * KIB, "x").toString("base64");
const keys = Array.from({ length: PARTS }, (_, part) => `registry/configmaps/${part}`);

/** A backup with ten parts of one key; after `away` parts the store is away. */
function storeOf(away = Infinity): SealedStore & { away: number } {
  const objects = new Map<string, unknown>([
    [pointName(folder, point), { format: 2, revision: 9, cluster: "c", parts: PARTS, keys: PARTS, secrets: {} }],
    [dataName(folder, point.id, "keys"), keys.map((key) => [key, 9])],
    ...keys.map((key, part): [string, unknown] => [
      dataName(folder, point.id, `${part}`),
      [{ key, value, modified: 9 }],
    ]),
  ]);
  return {
    away,
    async get(name) {
      if (Number(/\/data\/\w+\/(\d+)$/.exec(name)?.[1] ?? -1) >= this.away) throw new Error("the store is away");
      return objects.get(name);
    },
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)),
    put: () => Promise.reject(new Error("nothing is written")),
    delete: () => Promise.reject(new Error("nothing is deleted")),
  };
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function etcdWith(quota: number): Promise<{ etcd: LimitedEtcd; restore: (store: SealedStore) => Promise<void> }> {
  const etcd = new LimitedEtcd(quota);
  const served = await serveEtcd(etcd);
  closing.push(() => served.close());
  return { etcd, restore: (store) => restoreData({ store, folder }, served.keyspace, { clock: systemClock, signal }) };
}

const restored = (etcd: LimitedEtcd) => keys.filter((key) => etcd.values.get(base64(`/${key}`)) === value).length;

describe("a restore into an etcd of its own", () => {
  test("succeeds after attempts that ended, which together wrote more than the quota", async () => {
    const { etcd, restore } = await etcdWith(160 * KIB);
    const store = storeOf(8);
    for (let attempt = 0; attempt < 4; attempt++) await expect(restore(store)).rejects.toThrow("the store is away");
    store.away = Infinity;
    await restore(store);
    expect(restored(etcd)).toBe(PARTS);
    expect([etcd.isAlarmed, etcd.file < etcd.quota]).toEqual([false, true]);
  });

  test("succeeds in one that has no space and accepts no put any more", async () => {
    const { etcd, restore } = await etcdWith(160 * KIB);
    await expect(restore(storeOf(8))).rejects.toThrow("the store is away");
    [etcd.isAlarmed, etcd.file] = [true, etcd.quota];
    await restore(storeOf());
    expect([restored(etcd), etcd.isAlarmed]).toEqual([PARTS, false]);
  });

  test("compacts and defragments nothing at its first attempt, and deletes nothing when it was done", async () => {
    const { etcd, restore } = await etcdWith(160 * KIB);
    await restore(storeOf());
    etcd.isAlarmed = true;
    await restore(storeOf());
    expect(restored(etcd)).toBe(PARTS);
    expect(etcd.calls.filter((path) => /compaction|defragment/.test(path))).toEqual([]);
  });

  test("says that the backup exceeds the quota, which no further attempt changes", async () => {
    const { restore } = await etcdWith(60 * KIB);
    const error: unknown = await restore(storeOf()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "BACKUP_EXCEEDS_BUDGET" });
    expect(isPermanent(error)).toBe(true);
    expect(isPermanent(new Error("the store is away"))).toBe(false);
  });
});
