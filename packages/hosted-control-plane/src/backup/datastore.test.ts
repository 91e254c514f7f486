import { base64, systemClock } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import { openReader, type DatastoreReader } from "./datastore.ts";
import { serveEtcd } from "./testing/limited-etcd.ts";

type Body = Readonly<Record<string, unknown>>;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A reader of a played etcd, and the calls that it made. */
async function reading(
  answer: (path: string, body: Body) => object,
): Promise<{ reader: DatastoreReader; calls: string[] }> {
  const calls: string[] = [];
  const served = await serveEtcd({
    answer(path, body) {
      calls.push(path);
      return answer(path, body);
    },
  });
  const reader = await openReader(served.keyspace, { clock: systemClock, signal: new AbortController().signal });
  closing.push(
    () => served.close(),
    () => reader.close(),
  );
  return { reader, calls };
}

const kv = (name: string, revision: number, value = "v") => ({
  key: base64(`/${name}`),
  value: base64(value),
  mod_revision: String(revision),
});
const compacted = () => {
  throw new Error("etcdserver: mvcc: required revision has been compacted");
};

describe("a reader of an etcd", () => {
  test("ends its pages where clients create keys with growing names faster than it reads", async () => {
    let created = 0;
    const { reader } = await reading((_, { count_only: isCount, limit }) => {
      if (isCount === true) return { count: "300" };
      return { more: true, kvs: Array.from({ length: Number(limit) }, () => kv(`${created++}`.padStart(9, "0"), 2)) };
    });
    let read = 0;
    for await (const page of reader.values()) read += page.length;
    expect(read).toBeGreaterThanOrEqual(600);
    expect(read).toBeLessThanOrEqual(600 + 2 * 128);
  });

  test("has no value at a revision that was compacted, and fails where the value of now is refused", async () => {
    const { reader } = await reading((_, { revision }) => {
      if (revision === 7) return { kvs: [kv("a", 5)] };
      return compacted();
    });
    expect(await reader.value("a", 7)).toEqual({ key: "a", value: base64("v"), modified: 5 });
    expect(await reader.value("a", 6)).toBeUndefined();
    await expect(reader.value("a")).rejects.toMatchObject({ code: "PODS_ETCD_REFUSED" });
  });

  test("reads in one transaction what was written since a revision, and all keys of the same moment", async () => {
    const { reader, calls } = await reading((path, { success }) => {
      if (path === "kv/range") return { count: "2" };
      const [keys, values] = (success as { request_range: Body }[]).map(({ request_range: range }) => range);
      expect([keys?.["keys_only"], values?.["min_mod_revision"]]).toEqual([true, 6]);
      const responses = [[kv("a", 3), kv("b", 8)], [kv("b", 8, "new")]].map((kvs) => ({ response_range: { kvs } }));
      return { header: { revision: "9", cluster_id: "42" }, succeeded: true, responses };
    });
    const list = {
      revision: 9,
      cluster: "42",
      keys: [
        { key: "a", modified: 3 },
        { key: "b", modified: 8 },
      ],
    };
    const values = [{ key: "b", value: base64("new"), modified: 8 }];
    expect(await reader.writtenSince(6)).toEqual({ list, values });
    expect(calls).toEqual(["kv/range", "kv/txn"]);
  });

  test("does not read more than 5,000 keys, or 64 MiB, in one transaction", async () => {
    const { reader: many, calls } = await reading(() => ({ count: "5001" }));
    expect(await many.writtenSince(6)).toBeUndefined();
    expect(calls).toEqual(["kv/range"]);
    const { reader: large } = await reading((path) => {
      if (path === "kv/range") return { count: "2" };
      return { responses: ["x".repeat(65 * 2 ** 20)] };
    });
    expect(await large.writtenSince(6)).toBeUndefined();
  });
});
