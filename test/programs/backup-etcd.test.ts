/**
 * Backups of a range of keys of a real etcd: consistent, complete, and restored as a whole, whatever ends in between.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@causeway/foundation";
import { createBackups, type ObjectStore } from "@causeway/hosted-control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { base64, startEtcd, type OneEtcd } from "./one-etcd.ts";
import { programs } from "./programs.ts";

const signal = new AbortController().signal;
const place = programs().kubernetes;
const program = "dir" in place ? join(place.dir, "etcd") : "";

let etcd = {} as OneEtcd;
const call = (path: string, body: object) => etcd.call(path, body);
const put = (key: string, value: string) => etcd.put(key, value);
const valuesOf = (prefix: string) => etcd.values(prefix);
const keyspaceOf = (prefix: string) => etcd.keyspace(prefix);

/** In memory; `fail` makes calls fail from then on. */
function memory(): ObjectStore & { failAfter: number; reads: number } {
  const objects = new Map<string, Uint8Array>();
  return {
    failAfter: Infinity,
    reads: 0,
    description: "memory",
    put: async (name, data) => void objects.set(name, data),
    async get(name) {
      if (this.reads++ >= this.failAfter) throw new Error("the object store is away");
      return objects.get(name);
    },
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)).toSorted(),
    delete: async (name) => void objects.delete(name),
  };
}

describe.skipIf(!existsSync(program))("a backup of keys of a real etcd", () => {
  beforeAll(async () => {
    etcd = await startEtcd(program);
  });
  afterAll(() => etcd.stop());

  test("has all data and then changes, is restored to each time, and to another prefix only", async () => {
    const store = memory();
    const backups = createBackups({ store, key: randomBytes(32), clock: systemClock });
    const from = { folder: "a/b/c", keyspace: keyspaceOf("/one/"), secrets: { "ca.crt": "C" } };
    for (let i = 0; i < 300; i++) await put(`/one/registry/configmaps/${i}`, i < 14 ? "x".repeat(1_400_000) : `v${i}`);
    await put("/other/registry/secret", "not ours");
    const { ID: lease } = (await call("lease/grant", { TTL: "600" })) as { ID: string };
    await call("kv/put", { key: base64("/one/registry/events/1"), value: base64("e"), lease });
    const first = await backups.take(from, signal);
    const { "registry/events/1": event, ...before } = await valuesOf("/one/");
    expect(event).toBe("e");
    await put("/one/registry/configmaps/7", "changed");
    await put("/one/registry/configmaps/new", "new");
    await call("kv/deleterange", { key: base64("/one/registry/configmaps/8") });
    await systemClock.sleep(5);
    const second = await backups.take({ ...from, parent: first }, signal);
    expect([first.full, second.full]).toEqual([first.id, first.id]);
    await put("/one/registry/configmaps/9", "after");

    await backups.restore({ folder: "a/b/c", at: first.time }, keyspaceOf("/two/"), signal);
    const { "causeway.dev/restored": mark, ...two } = await valuesOf("/two/");
    expect([two, mark]).toEqual([before, first.id]);
    await backups.restore({ folder: "a/b/c" }, keyspaceOf("/three/"), signal);
    const { "registry/configmaps/8": _gone, ...rest } = before;
    expect(await valuesOf("/three/")).toEqual({
      ...rest,
      "registry/configmaps/7": "changed",
      "registry/configmaps/new": "new",
      "causeway.dev/restored": second.id,
    });
    expect(await valuesOf("/other/")).toEqual({ "registry/secret": "not ours" });
    expect(await backups.secrets({ folder: "a/b/c" }, signal)).toEqual({ "ca.crt": "C" });
  });

  test("is restored as a whole: an attempt that ended is done again, one that is done is not, and of two at once one fails", async () => {
    const store = memory();
    const backups = createBackups({ store, key: randomBytes(32), clock: systemClock });
    const [folder, to] = ["a/b/d", keyspaceOf("/five/")];
    for (let i = 0; i < 12; i++) await put(`/four/registry/${i}`, "y".repeat(1_000_000));
    const four = await valuesOf("/four/");
    const parent = await backups.take({ folder, keyspace: keyspaceOf("/four/"), secrets: {} }, signal);
    await put("/four/registry/12", "z");
    await backups.take({ folder, keyspace: keyspaceOf("/four/"), secrets: {}, parent }, signal);
    // The keys, two manifests and some parts are read: the store is away in the midst of the data.
    store.failAfter = store.reads + 5;
    await expect(backups.restore({ folder }, to, signal)).rejects.toThrow(/is away/);
    const half = await valuesOf("/five/");
    expect(Object.keys(half)).toContain("causeway.dev/restoring");
    expect(Object.keys(half)).not.toContain("causeway.dev/restored");
    await put("/five/registry/rest-of-another-attempt", "1");
    store.failAfter = Infinity;
    const both = await Promise.allSettled([1, 2].map(() => backups.restore({ folder }, to, signal)));
    expect(both.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(1);
    for (const each of both)
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "BACKUP_RESTORE_FENCED" });
    const { "causeway.dev/restored": _mark, ...five } = await valuesOf("/five/");
    expect(five).toEqual({ ...four, "registry/12": "z" });
    await put("/five/registry/written-since", "1");
    await backups.restore({ folder }, to, signal);
    expect(await valuesOf("/five/")).toHaveProperty(["registry/written-since"], "1");
  });

  test("is not restored beyond a budget, and brings no policy of a budget with it", async () => {
    const backups = createBackups({ store: memory(), key: randomBytes(32), clock: systemClock });
    const folder = "a/b/e";
    for (let i = 0; i < 3; i++) await put(`/six/registry/configmaps/${i}`, "y".repeat(1_000_000));
    const policy = "causeway-storage-budget";
    for (const kind of ["validatingadmissionpolicies", "validatingadmissionpolicybindings"])
      await put(`/six/registry/${kind}/${policy}`, "refuses");
    await backups.take({ folder, keyspace: keyspaceOf("/six/"), secrets: {} }, signal);
    const small = backups.restore({ folder, limit: 2_000_000 }, keyspaceOf("/seven/"), signal);
    await expect(small).rejects.toMatchObject({ code: "BACKUP_EXCEEDS_BUDGET" });
    expect(Object.keys(await valuesOf("/seven/"))).toEqual(["causeway.dev/restoring"]);
    await backups.restore({ folder, limit: 4_000_000 }, keyspaceOf("/seven/"), signal);
    expect(Object.keys(await valuesOf("/seven/")).toSorted()).toEqual([
      "causeway.dev/restored",
      ...[0, 1, 2].map((i) => `registry/configmaps/${i}`),
    ]);
  });
});
