import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CausewayError } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openStore, type RecordCodec, type Store, type StoreEvent, type StoreKey } from "./index.ts";

const PODS = { cluster: "", resource: "/pods" };
const key = (name: string, namespace = "default"): StoreKey => ({ ...PODS, namespace, name });
const pod = (name: string, extra: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  ...extra,
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a store in memory", () => {
  let store: Store;
  beforeEach(() => {
    store = openStore();
  });
  afterEach(() => store.close());

  it("gives back what was created, with its revision as resourceVersion", async () => {
    const stored = await store.create(key("a"), pod("a", { spec: { x: 1 } }));
    expect(stored.object.metadata.resourceVersion).toBe(String(stored.revision));
    expect(store.get(key("a"))).toEqual(stored);
    expect(store.get(key("b"))).toBeUndefined();
    expect(store.revision).toBe(stored.revision);
  });

  it("refuses to create twice, to update what is gone, and to update from an old revision", async () => {
    const first = await store.create(key("a"), pod("a"));
    await expect(store.create(key("a"), pod("a"))).rejects.toMatchObject({
      code: "KUBERNETES_ALREADY_EXISTS",
      message: 'pods "a" already exists',
    });
    await expect(store.update(key("b"), pod("b"), 1)).rejects.toMatchObject({ code: "KUBERNETES_NOT_FOUND" });
    await store.update(key("a"), pod("a"), first.revision);
    await expect(store.update(key("a"), pod("a"), first.revision)).rejects.toMatchObject({
      code: "STORE_CONFLICT",
    });
    await expect(store.remove(key("a"), first.revision)).rejects.toMatchObject({ code: "STORE_CONFLICT" });
  });

  it("checks writes of one turn against each other", async () => {
    const { revision } = await store.create(key("a"), pod("a"));
    const results = await Promise.allSettled([
      store.update(key("a"), pod("a", { spec: 1 }), revision),
      store.update(key("a"), pod("a", { spec: 2 }), revision),
      store.create(key("b"), pod("b")),
      store.create(key("b"), pod("b")),
      store.remove(key("b"), revision + 2),
    ]);
    expect(results.map((r) => r.status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"]);
    expect(store.get(key("a"))?.object).toMatchObject({ spec: 1 });
    expect(store.get(key("b"))).toBeUndefined();
    expect(store.revision).toBe(revision + 3);
  });

  describe("with Leases of nodes", () => {
    const lease = (name: string): StoreKey => ({
      cluster: "one",
      resource: "coordination.k8s.io/leases",
      namespace: "kube-node-lease",
      name,
    });
    const names = Array.from({ length: 20 }, (_, at) => `node-${at}`);
    const exec = vi.spyOn(DatabaseSync.prototype, "exec");
    const commits = (): number => exec.mock.calls.filter(([text]) => text === "COMMIT").length;
    const renewals: Promise<{ readonly revision: number }>[] = [];
    /** Each in a turn of its own. */
    const renew = async (count: number): Promise<void> => {
      for (const name of names.slice(0, count)) {
        renewals.push(store.update(lease(name), pod(name), store.get(lease(name))?.revision ?? 0));
        await turn();
      }
    };
    beforeEach(async () => {
      renewals.length = 0;
      for (const name of names) await store.create(lease(name), pod(name));
      exec.mockClear();
    });
    afterAll(() => exec.mockRestore());

    it("commits renewals together, after a while", async () => {
      await renew(5);
      expect(commits()).toBe(0);
      const revisions = (await Promise.all(renewals)).map(({ revision }) => revision);
      expect(commits()).toBe(1);
      expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    });

    it("commits renewals with the next other write, in their order", async () => {
      await renew(5);
      const { revision } = await store.create(key("a"), pod("a"));
      expect(commits()).toBe(1);
      expect((await Promise.all(renewals)).map((each) => each.revision)).toEqual(
        [5, 4, 3, 2, 1].map((before) => revision - before),
      );
    });

    it("lets no more than a few renewals wait", async () => {
      await renew(16);
      expect(commits()).toBe(1);
      await Promise.all(renewals);
    });

    it("writes renewals that wait when it is closed", async () => {
      await renew(1);
      await store.close();
      expect(await renewals[0]).toHaveProperty("revision");
      store = openStore();
    });

    it("refuses a renewal from an old revision, though the one before it waits", async () => {
      await renew(1);
      const late = store.update(lease("node-0"), pod("node-0"), store.get(lease("node-0"))?.revision ?? 0);
      await expect(late).rejects.toMatchObject({ code: "STORE_CONFLICT" });
      await Promise.all(renewals);
    });
  });

  it("keeps logical clusters and resources apart", async () => {
    await store.create({ ...key("a"), cluster: "one" }, pod("a"));
    await store.create({ ...key("a"), cluster: "two" }, pod("a"));
    await store.create({ ...key("a"), resource: "apps/deployments" }, pod("a"));
    expect(store.list({ cluster: "one", resource: "/pods" }).items).toHaveLength(1);
    expect(store.clusters()).toEqual(["", "one", "two"]);
    await store.drop("one");
    expect(store.clusters()).toEqual(["", "two"]);
    expect(store.list({ cluster: "one", resource: "/pods" }).items).toEqual([]);
    expect(() => store.watch({ cluster: "one", resource: "/pods", fromRevision: 1 }, { onEvents: () => {} })).toThrow(
      /too old/,
    );
  });

  it("lists in order of namespace and name, in pages of one revision", async () => {
    for (const name of ["c", "a", "d", "b"]) await store.create(key(name), pod(name));
    await store.create(key("z", "before"), pod("z"));
    const names = (page: { items: readonly { key: StoreKey }[] }): string[] => page.items.map((i) => i.key.name);
    const first = store.list({ ...PODS, limit: 2 });
    expect([names(first), first.next, first.remaining]).toEqual([["z", "a"], "default/a", 3]);
    await store.remove(key("b"), store.get(key("b"))?.revision ?? 0);
    await store.create(key("aa"), pod("aa"));
    const c = store.get(key("c"));
    await store.update(key("c"), pod("c", { spec: "new" }), c?.revision ?? 0);
    const next = { ...PODS, limit: 2, atRevision: first.revision };
    const second = store.list({ ...next, after: first.next ?? "" });
    expect([names(second), second.remaining, second.revision]).toEqual([["b", "c"], 1, first.revision]);
    expect(second.items[1]?.object).not.toHaveProperty("spec");
    const third = store.list({ ...next, after: second.next ?? "" });
    expect([names(third), third.next]).toEqual([["d"], undefined]);
    expect(names(store.list({ ...PODS, namespace: "default" }))).toEqual(["a", "aa", "c", "d"]);
    expect(store.get(key("b"), first.revision)?.object.metadata.name).toBe("b");
    expect(() => store.list({ ...PODS, atRevision: 99 })).toThrow(/Too large resource version/);
  });

  it("gives pages as texts that say what the objects are, their type first", async () => {
    for (const name of ["c", "a", "b"]) await store.create(key(name), { ...pod(name), spec: { name } } as KubeObject);
    await store.update(key("a"), pod("a", { spec: "é∆" }), store.get(key("a"))?.revision ?? 0);
    for (const query of [PODS, { ...PODS, limit: 2 }, { ...PODS, after: "default/a" }, { ...PODS, atRevision: 3 }]) {
      const { items, ...page } = store.list(query);
      const { texts, oldest, ...same } = store.texts(query);
      expect(same).toEqual(page);
      expect(oldest).toBe(Math.min(...items.map((i) => i.revision)));
      expect(texts.map((t) => JSON.parse(t) as unknown)).toEqual(items.map((i) => i.object));
      for (const text of texts) expect(text).toMatch(/^\{"kind":"Pod","apiVersion":"v1","metadata":/);
    }
    expect(store.texts({ ...PODS, cluster: "other" })).toEqual({ texts: [], oldest: 0, revision: store.revision });
  });

  it("gives watchers every event once, from the log and then live, with the state before", async () => {
    const seen: StoreEvent[] = [];
    const { revision } = await store.create(key("a"), pod("a", { spec: 1 }));
    await store.update(key("a"), pod("a", { spec: 2 }), revision);
    const watch = store.watch({ ...PODS, fromRevision: revision }, { onEvents: (events) => seen.push(...events) });
    expect(watch.revision).toBe(revision);
    const write = store.create(key("b"), pod("b"));
    await write;
    await turn();
    await store.remove(key("a"), revision + 1);
    expect(seen.map((e) => [e.type, e.key.name, e.revision])).toEqual([
      ["MODIFIED", "a", revision + 1],
      ["ADDED", "b", revision + 2],
      ["DELETED", "a", revision + 3],
    ]);
    expect(seen[0]?.previous).toMatchObject({ spec: 1 });
    expect(seen[2]?.object).toMatchObject({ spec: 2, metadata: { resourceVersion: String(revision + 3) } });
    expect(watch.revision).toBe(store.revision);
    watch.stop();
    await store.create(key("c"), pod("c"));
    expect(seen).toHaveLength(3);
  });

  it("replays a long log without gap or duplicate while writes continue", async () => {
    const writes = Array.from({ length: 1300 }, (_, i) => store.create(key(`p${i}`), pod(`p${i}`)));
    await Promise.all(writes);
    const seen: number[] = [];
    store.watch(
      { ...PODS, fromRevision: 10, namespace: "default" },
      { onEvents: (es) => seen.push(...es.map((e) => e.revision)) },
    );
    for (let i = 0; i < 8; i++) {
      await Promise.all([store.create(key(`q${i}`), pod(`q${i}`)), store.create(key(`q${i}`, "other"), pod(`q${i}`))]);
    }
    expect(seen.slice(0, 1290)).toEqual(Array.from({ length: 1290 }, (_, i) => i + 11));
    expect(seen.slice(1290)).toEqual([1301, 1303, 1305, 1307, 1309, 1311, 1313, 1315]);
  });

  it("continues when a listener throws", async () => {
    const seen: string[] = [];
    const warned = new Promise((resolve) => process.once("warning", resolve));
    store.watch(
      { ...PODS, fromRevision: 0 },
      {
        onEvents: () => {
          throw new Error("a listener's defect");
        },
      },
    );
    store.watch({ ...PODS, fromRevision: 0 }, { onEvents: (events) => seen.push(...events.map((e) => e.key.name)) });
    await store.create(key("a"), pod("a"));
    await store.create(key("b"), pod("b"));
    expect(seen).toEqual(["a", "b"]);
    await warned;
  });

  it("refuses writes after close", async () => {
    await store.close();
    await expect(store.create(key("a"), pod("a"))).rejects.toMatchObject({ code: "STATE_CLOSED" });
  });
});

describe("compaction of the store", () => {
  it("drops history beyond the limit, keeps every living object, and expires what it dropped", async () => {
    const store = openStore({ history: 10 });
    let { revision } = await store.create(key("busy"), pod("busy"));
    await store.create(key("quiet"), pod("quiet"));
    const gone = await store.create(key("gone"), pod("gone"));
    await store.remove(key("gone"), gone.revision);
    for (let i = 0; i < 200; i++) ({ revision } = await store.update(key("busy"), pod("busy", { spec: i }), revision));
    const watchFrom = (from: number) => store.watch({ ...PODS, fromRevision: from }, { onEvents: () => {} });
    expect(() => watchFrom(store.revision - 11)).toThrow(expect.objectContaining({ code: "KUBERNETES_EXPIRED" }));
    watchFrom(store.revision - 10).stop();
    expect(() => store.list({ ...PODS, atRevision: 5 })).toThrow(
      expect.objectContaining({ code: "KUBERNETES_EXPIRED" }),
    );
    const names = (at: number): string[] => store.list({ ...PODS, atRevision: at }).items.map((i) => i.key.name);
    expect(names(store.revision)).toEqual(["busy", "quiet"]);
    expect(names(store.revision - 10)).toEqual(["busy", "quiet"]);
    expect(store.get(key("busy"), store.revision - 10)?.object).toMatchObject({ spec: 189 });
    await store.close();
  });

  it("leaves only the living objects and the window in the file", async () => {
    const dir = mkdtempSync(join(tmpdir(), "store-"));
    const store = openStore({ dir, history: 10 });
    let { revision } = await store.create(key("a"), pod("a"));
    for (let i = 0; i < 300; i++) ({ revision } = await store.update(key("a"), pod("a"), revision));
    await store.close();
    const database = new DatabaseSync(join(dir, "state.sqlite"));
    expect(database.prepare("SELECT count(*) AS rows FROM log").get()).toEqual(expect.objectContaining({ rows: 11 }));
    database.close();
    rmSync(dir, { recursive: true });
  });
});

describe("a state folder", () => {
  let dir: string;
  beforeEach(() => {
    dir = join(mkdtempSync(join(tmpdir(), "store-")), "state");
  });
  afterEach(() => rmSync(dirname(dir), { recursive: true, force: true }));
  const code = (open: () => unknown): unknown => {
    try {
      open();
      return undefined;
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
  };

  it("is kept from other users, and holds objects and revisions over restarts", async () => {
    const first = openStore({ dir });
    const a = await first.create(key("a"), pod("a"));
    await first.remove(key("a"), a.revision);
    const b = await first.create(key("b"), pod("b"));
    await first.close();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, "state.sqlite")).mode & 0o777).toBe(0o600);
    const second = openStore({ dir });
    expect(second.revision).toBe(b.revision);
    expect(second.get(key("b"))).toEqual(b);
    const events: StoreEvent[] = [];
    second.watch({ ...PODS, fromRevision: 0 }, { onEvents: (es) => events.push(...es) });
    await turn();
    expect(events.map((e) => [e.type, e.revision])).toEqual([
      ["ADDED", 1],
      ["DELETED", 2],
      ["ADDED", 3],
    ]);
    await second.close();
  });

  it("belongs to one store at a time", async () => {
    const store = openStore({ dir });
    expect(code(() => openStore({ dir }))).toBe("STATE_LOCKED");
    await store.close();
    await openStore({ dir }).close();
  });

  it("of a newer version, of another program or of rubbish is refused", async () => {
    await openStore({ dir }).close();
    const file = join(dir, "state.sqlite");
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(code(() => openStore({ dir }))).toBe("STATE_TOO_NEW");
    rmSync(file);
    const other = new DatabaseSync(file);
    other.exec("CREATE TABLE theirs (x)");
    other.close();
    expect(code(() => openStore({ dir }))).toBe("STATE_UNREADABLE");
    writeFileSync(file, "not a database, ".repeat(100));
    expect(code(() => openStore({ dir }))).toBe("STATE_UNREADABLE");
  });
});

describe("a store with a codec", () => {
  const about = (k: StoreKey): string => `${k.resource}/${k.name}:`;
  const codec: RecordCodec = {
    encode: (json, k) => (k.name === "unwritable" ? refused() : Buffer.from(`${about(k)}${json}`).toReversed()),
    decode: (value, k) =>
      Buffer.from(Buffer.from(value as Uint8Array).toReversed())
        .toString()
        .slice(about(k).length),
  };
  const refused = (): never => {
    throw new CausewayError("NO_KEY", "there is no key");
  };
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "store-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it("keeps only what the codec made on disk, and reads, lists, replays and drops through it", async () => {
    const before = openStore({ dir, codec });
    const first = await before.create(key("a"), pod("a", { spec: "plaintext" }));
    await before.update(key("a"), pod("a", { spec: "plaintext2" }), first.revision);
    await before.close();
    const database = new DatabaseSync(join(dir, "state.sqlite"));
    const raw = database.prepare("SELECT value FROM log").all();
    database.close();
    expect(raw.map((r) => r["value"] instanceof Uint8Array)).toEqual([true, true]);
    expect(Buffer.concat(raw.map((r) => r["value"] as Uint8Array)).includes("plaintext")).toBe(false);
    const store = openStore({ dir, codec });
    const events: StoreEvent[] = [];
    store.watch({ ...PODS, fromRevision: 0 }, { onEvents: (e) => events.push(...e) });
    await turn();
    expect(events.map((e) => (e.object as unknown as { spec: string }).spec)).toEqual(["plaintext", "plaintext2"]);
    expect(store.get(key("a"))?.object).toMatchObject({ spec: "plaintext2" });
    expect(store.get(key("a"), first.revision)?.object).toMatchObject({ spec: "plaintext" });
    expect(store.list(PODS).items[0]?.object).toMatchObject({ spec: "plaintext2" });
    await store.drop("");
    await turn();
    expect(events.at(-1)).toMatchObject({ type: "DELETED", previous: { spec: "plaintext2" } });
    await store.close();
  });

  it("ends a watch that cannot continue, with an error", async () => {
    const store = openStore({ dir, codec: { ...codec, decode: refused } });
    await store.create(key("a"), pod("a"));
    await store.close();
    const again = openStore({ dir, codec: { ...codec, decode: refused } });
    const failures: unknown[] = [];
    const onEvents = (): never => expect.unreachable();
    again.watch({ ...PODS, fromRevision: 0 }, { onEvents, onFailure: (error) => failures.push(error) });
    await turn();
    expect(failures).toMatchObject([{ code: "NO_KEY" }]);
    expect(() => again.get(key("a"))).toThrow("there is no key");
    await again.close();
  });

  it("fails the one write that the codec refuses, and uses no revision for it", async () => {
    const store = openStore({ dir, codec });
    const [bad, good] = await Promise.allSettled([
      store.create(key("unwritable"), pod("unwritable")),
      store.create(key("a"), pod("a")),
    ]);
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "NO_KEY" } });
    expect(good).toMatchObject({ status: "fulfilled", value: { revision: 1 } });
    expect(store.get(key("unwritable"))).toBeUndefined();
    await store.close();
  });
});
