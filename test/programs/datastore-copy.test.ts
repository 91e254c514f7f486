/** Copies of the data of a control plane between two real etcds: complete, compared, and fenced against each other. */
import { join } from "node:path";
import { systemClock } from "@causeway/foundation";
import { seedFile, startCopy } from "@causeway/hosted-control-plane";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { base64, startEtcd, type OneEtcd } from "./one-etcd.ts";
import { programs } from "./programs.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const signal = new AbortController().signal;
const place = programs().kubernetes;
const program = "dir" in place ? join(place.dir, "etcd") : "";
/** Of the own etcd before its first write: more than 32 bits have. */
const REVISION = 5_000_000_000;
const SHARED = "/hcp-one/";
const POLICY = "registry/validatingadmissionpolicies/causeway-storage-budget";

describe.skipIf(program === "")("a copy of a control plane's data to its own etcd", () => {
  let [shared, own] = [{} as OneEtcd, {} as OneEtcd];
  beforeEach(async () => {
    [shared, own] = await Promise.all([startEtcd(program), startEtcd(program, seedFile(REVISION))]);
    for (let at = 0; at < 300; at += 100) {
      const name = (i: number) => base64(`${SHARED}registry/configmaps/default/c-${at + i}`);
      const put = (i: number) => ({ request_put: { key: name(i), value: base64(`first ${at + i}`) } });
      await shared.call("kv/txn", { success: Array.from({ length: 100 }, (_, i) => put(i)) });
    }
  });
  afterEach(() => Promise.all([shared.stop(), own.stop()]));

  const start = (revision = REVISION) =>
    startCopy({ from: shared.keyspace(SHARED), to: own.keyspace("/"), revision, clock: systemClock }, signal);
  const values = (etcd: OneEtcd, prefix: string) => etcd.values(`${prefix}registry/`);

  test("begins with the revision that its file names, and knows no older one", async () => {
    const { header } = (await own.put("/a", "1")) as { header: { revision: string } };
    expect(Number(header.revision)).toBe(REVISION + 1);
    const older = await own.call("kv/range", { key: base64("/a"), revision: REVISION - 1 });
    expect(older["message"]).toMatch(/compacted/);
  });

  test("has every change that was made meanwhile, and the same hash on both sides", async () => {
    let [writing, writes] = [true, 0];
    const load = (async () => {
      for (; writing; writes++)
        await shared.put(`${SHARED}registry/configmaps/default/c-${writes % 400}`, `now ${writes}`);
    })();
    const copy = await start();
    for (let pass = 0; pass < 3; pass++) await copy.advance(signal);
    const key = base64(`${SHARED}registry/configmaps/default/c-299`);
    writing = false;
    await load;
    await shared.call("kv/deleterange", { key });
    await copy.advance(signal);
    const compared = await copy.compare(signal);
    copy.close();
    const before = await values(shared, SHARED);
    console.log({ writes, ...compared });
    expect(writes).toBeGreaterThan(0);
    expect(await values(own, "/")).toEqual(before);
    expect(before).not.toHaveProperty(["configmaps/default/c-299"]);
    expect(compared).toMatchObject({ keys: Object.keys(before).length, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test("leaves out keys with a lease, keys of ours, the policy of the budget, and what other tenants have", async () => {
    const { ID } = (await shared.call("lease/grant", { TTL: 600 })) as { ID: string };
    await shared.call("kv/put", { key: base64(`${SHARED}registry/events/e`), value: base64("event"), lease: ID });
    await shared.put(`${SHARED}causeway.dev/frozen`, "1");
    await shared.put(`${SHARED}${POLICY}`, "policy");
    await shared.put("/hcp-two/registry/secrets/s", "of another");
    const copy = await start();
    await copy.advance(signal);
    expect(await copy.compare(signal)).toMatchObject({ keys: 300 });
    copy.close();
    expect(Object.keys(await values(own, "/"))).toHaveLength(300);
  });

  test("refuses keys that are no texts, before and after it began, and more keys than fit into memory", async () => {
    const code = "PODS_MIGRATION_UNSUPPORTED";
    const limited = { from: shared.keyspace(SHARED), to: own.keyspace("/"), revision: REVISION, clock: systemClock };
    await expect(startCopy({ ...limited, mostKeys: 299 }, signal)).rejects.toMatchObject({ code });
    const copy = await startCopy({ ...limited, mostKeys: 300 }, signal);
    const bytes = [...Buffer.from(`${SHARED}registry/clusterroles/`), 0xff];
    await shared.call("kv/put", { key: Buffer.from(bytes).toString("base64"), value: base64("two") });
    await expect(copy.advance(signal)).rejects.toMatchObject({ code });
    copy.close();
    await expect(start()).rejects.toMatchObject({ code });
  });

  test("that differs in one value says in which key", async () => {
    const copy = await start();
    await copy.advance(signal);
    await own.put("/registry/configmaps/default/c-7", "changed");
    await expect(copy.compare(signal)).rejects.toThrow(/differ in registry\/configmaps\/default\/c-7/);
    copy.close();
  });

  test("that lacks a key, or has one too many, is not equal", async () => {
    const copy = await start();
    await own.call("kv/deleterange", { key: base64("/registry/configmaps/default/c-7") });
    await expect(copy.compare(signal)).rejects.toMatchObject({ code: "PODS_MIGRATION_DIFFERS" });
    await own.put("/registry/configmaps/default/c-7", "first 7");
    await own.put("/registry/configmaps/default/more", "x");
    await expect(copy.compare(signal)).rejects.toMatchObject({ code: "PODS_MIGRATION_DIFFERS" });
    copy.close();
  });

  test("is fenced by another one that begins later, and none begins once one has finished", async () => {
    const first = await start();
    const second = await start();
    await shared.put(`${SHARED}registry/configmaps/default/late`, "late");
    await expect(first.advance(signal)).rejects.toMatchObject({ code: "PODS_MIGRATION_FENCED" });
    await second.advance(signal);
    await second.compare(signal);
    await second.finish(signal);
    await shared.put(`${SHARED}registry/configmaps/default/later`, "later");
    await expect(second.advance(signal)).rejects.toMatchObject({ code: "PODS_MIGRATION_FENCED" });
    await expect(start()).rejects.toMatchObject({ code: "PODS_MIGRATION_FENCED" });
    expect(await values(own, "/")).not.toHaveProperty(["configmaps/default/later"]);
    for (const copy of [first, second]) copy.close();
  });

  test("into an etcd whose revision clients have passed is refused, and nothing is written", async () => {
    await expect(start(REVISION + 1_000)).rejects.toMatchObject({ code: "PODS_MIGRATION_DIFFERS" });
    expect(await values(own, "/")).toEqual({});
  });
});
