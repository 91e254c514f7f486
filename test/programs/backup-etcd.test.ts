/**
 * Backups of a range of keys of a real etcd: consistent, complete, and restored as a whole, whatever ends in between.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@causeway/foundation";
import { createBackups, type ObjectStore } from "@causeway/hosted-control-plane";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { base64, startEtcd, withoutStreams, type OneEtcd } from "./one-etcd.ts";
import { programs } from "./programs.ts";

vi.setConfig({ testTimeout: 300_000 });

const signal = new AbortController().signal;
const place = programs().kubernetes;
const program = "dir" in place ? join(place.dir, "etcd") : "";

let etcd = {} as OneEtcd;
const call = (path: string, body: object) => etcd.call(path, body);
const put = (key: string, value: string) => etcd.put(key, value);
const valuesOf = (prefix: string) => etcd.values(prefix);
const keyspaceOf = (prefix: string) => etcd.keyspace(prefix);

interface Memory extends ObjectStore {
  /** Reads after these fail. */
  failAfter: number;
  reads: number;
  /** Writes and deletions after these fail, as when the program was killed. */
  killAfter: number;
  writes: number;
  /** Each write ends after this. */
  slowed: () => Promise<void>;
}

function memory(): Memory {
  const objects = new Map<string, Uint8Array>();
  return {
    failAfter: Infinity,
    reads: 0,
    killAfter: Infinity,
    writes: 0,
    slowed: async () => {},
    description: "memory",
    async put(name, data) {
      if (this.writes++ >= this.killAfter) throw new Error("killed");
      await this.slowed();
      objects.set(name, data);
    },
    async get(name) {
      if (this.reads++ >= this.failAfter) throw new Error("the object store is away");
      return objects.get(name);
    },
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)).toSorted(),
    async delete(name) {
      if (this.writes++ >= this.killAfter) throw new Error("killed");
      objects.delete(name);
    },
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

  test.each([
    ["follows the stream of writes", "/eight/"],
    ["gets no stream of writes", "/sixteen/"],
  ])("that %s ends while all data is rewritten and compacted, and has one moment of it", async (_, prefix) => {
    const [keys, size] = [60, 300_000];
    const store = memory();
    const backups = createBackups({ store, key: randomBytes(32), clock: systemClock });
    const stage = prefix === "/eight/" ? etcd : await withoutStreams(etcd);
    const [folder, keyspace] = [`a/b${prefix}`, stage.keyspace(prefix)];
    /** Of each key, the revisions that wrote it, and what they wrote begins with. */
    const history = new Map<string, { readonly revision: number; readonly turn: string }[]>();
    const filler = randomBytes((size * 3) / 4).toString("base64");
    const write = async (index: number, turn: string): Promise<void> => {
      const name = `registry/configmaps/${index}`;
      const answer = (await put(`${prefix}${name}`, `${turn}:${filler}`)) as { header: { revision: string } };
      history.set(name, [...(history.get(name) ?? []), { revision: Number(answer.header.revision), turn }]);
    };
    for (let index = 0; index < keys; index++) await write(index, "first");
    let [running, turns] = [true, 0];
    let written = () => {};
    const rewriting = (async () => {
      for (; running; written()) {
        await write(turns % keys, `turn ${turns}`);
        // Nothing older than now can be read any more.
        if (++turns % 10 > 0) continue;
        const { header } = (await call("kv/range", { key: base64("/") })) as { header: { revision: string } };
        await call("kv/compaction", { revision: header.revision, physical: true });
      }
    })();
    // The object store is slower than the client, however fast this machine is.
    store.slowed = async () => {
      for (const until = turns + keys / 4; turns < until;) await new Promise<void>((done) => (written = done));
    };
    const take = async () => {
      const first = await backups.take({ folder, keyspace, secrets: {} }, signal);
      return { first, second: await backups.take({ folder, keyspace, secrets: {}, parent: first }, signal) };
    };
    const { first, second } = await take().finally(() => {
      running = false;
    });
    await rewriting;
    console.log({ rewritten: turns / keys, objects: store.writes });
    if (stage !== etcd) await stage.stop();
    expect(turns).toBeGreaterThan(keys);
    for (const [at, to] of [
      [first.time, "/nine/"],
      [second.time, "/ten/"],
    ] as const) {
      await backups.restore({ folder, at }, keyspaceOf(to), signal);
      const { "causeway.dev/restored": _mark, ...restored } = await valuesOf(to);
      expect(Object.keys(restored)).toHaveLength(keys);
      const versions = Object.entries(restored).map(([name, value]) => {
        const all = history.get(name) ?? [];
        const turn = value.slice(0, value.indexOf(":"));
        const index = value.endsWith(`:${filler}`) ? all.findIndex((each) => turn === each.turn) : -1;
        return { revision: all[index]?.revision ?? NaN, next: all[index + 1]?.revision ?? Infinity };
      });
      // No key was written again before the newest version that is in the backup.
      const moment = Math.max(...versions.map(({ revision }) => revision));
      expect(Number.isNaN(moment)).toBe(false);
      expect(versions.filter(({ next }) => next <= moment)).toEqual([]);
      await call("kv/deleterange", { key: base64(to), range_end: base64(`${to.slice(0, -1)}0`) });
    }
  });

  test("that is killed at any step leaves those before it whole, and none that is half", async () => {
    const store = memory();
    const backups = createBackups({ store, key: randomBytes(32), clock: systemClock });
    const [folder, keyspace] = ["a/b/g", keyspaceOf("/eleven/")];
    for (let i = 0; i < 20; i++) await put(`/eleven/registry/${i}`, `${i}`.padEnd(900_000, "z"));
    const whole = await valuesOf("/eleven/");
    const parent = await backups.take({ folder, keyspace, secrets: {} }, signal);
    let attempts = 0;
    for (const kind of ["changes", "full"] as const) {
      for (let i = 0; i < 12; i++) await put(`/eleven/registry/${i}`, `${kind} ${i}`.padEnd(900_000, "y"));
      for (let step = 0; ; step++) {
        attempts++;
        store.killAfter = store.writes + step;
        const from = { folder, keyspace, secrets: {}, ...(kind === "full" ? {} : { parent }) };
        const taken = await backups.take(from, signal).catch(() => undefined);
        store.killAfter = Infinity;
        if (taken !== undefined) break;
        expect(await backups.points(folder, signal)).toHaveLength(kind === "full" ? 2 : 1);
        if (kind === "full") continue;
        const to = `/twelve-${step}/`;
        await backups.restore({ folder }, keyspaceOf(to), signal);
        const { "causeway.dev/restored": _mark, ...restored } = await valuesOf(to);
        expect(restored).toEqual(whole);
        await call("kv/deleterange", { key: base64(to), range_end: base64(`${to.slice(0, -1)}0`) });
      }
    }
    expect(attempts).toBeGreaterThan(6);
    await backups.restore({ folder }, keyspaceOf("/thirteen/"), signal);
    const { "causeway.dev/restored": _mark, ...restored } = await valuesOf("/thirteen/");
    expect(restored).toEqual(await valuesOf("/eleven/"));
  });

  test("whose restore is killed at any read is restored whole by the next attempt", async () => {
    const store = memory();
    const backups = createBackups({ store, key: randomBytes(32), clock: systemClock });
    const folder = "a/b/h";
    for (let i = 0; i < 10; i++) await put(`/fourteen/registry/${i}`, `${i}`.padEnd(1_000_000, "z"));
    const parent = await backups.take({ folder, keyspace: keyspaceOf("/fourteen/"), secrets: {} }, signal);
    await put("/fourteen/registry/3", "changed");
    await backups.take({ folder, keyspace: keyspaceOf("/fourteen/"), secrets: {}, parent }, signal);
    const whole = await valuesOf("/fourteen/");
    const to = keyspaceOf("/fifteen/");
    let attempts = 0;
    for (; ; attempts++) {
      store.failAfter = store.reads + attempts;
      const done = await backups.restore({ folder }, to, signal).then(
        () => true,
        () => false,
      );
      if (done) break;
      expect(Object.keys(await valuesOf("/fifteen/"))).not.toContain("causeway.dev/restored");
    }
    expect(attempts).toBeGreaterThan(3);
    const { "causeway.dev/restored": _mark, ...restored } = await valuesOf("/fifteen/");
    expect(restored).toEqual(whole);
  });
});
