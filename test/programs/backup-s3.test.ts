/**
 * Backups of a real etcd in a bucket: an object storage with the API of S3 that verifies signatures, a program that
 * takes backups and is killed again and again, and an object storage that goes away.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "@causeway/foundation";
import { createBackups, createS3Store, type S3Store } from "@causeway/hosted-control-plane";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { base64, startEtcd, type OneEtcd } from "./one-etcd.ts";
import { freePort } from "../support/free-ports.ts";
import { programs } from "./programs.ts";
import { launch, type RunningProgram } from "./run.ts";

// A program is started for each kill.
vi.setConfig({ testTimeout: 600_000 });

const signal = new AbortController().signal;
const place = programs().kubernetes;
const program = "dir" in place ? join(place.dir, "etcd") : "";
const { objectStorage } = programs();
const server = "dir" in objectStorage ? join(objectStorage.dir, "versitygw") : "";
const keys = { accessKey: "tester", secretKey: "secret+/key" };
const KILLS = 12;
const KEYS = 60;
/** What etcd keeps behind the newest change, as the API server of a real cluster has it compacted. */
const HISTORY = 5;

function missing(): string | undefined {
  if (!existsSync(program)) return "etcd not built";
  return "reason" in objectStorage ? objectStorage.reason : undefined;
}

const why = missing();
describe.skipIf(why !== undefined)(`backups in a bucket${why === undefined ? "" : ` (${why})`}`, () => {
  const dir = mkdtempSync(join(tmpdir(), "backup-s3-"));
  const key = randomBytes(32);
  let etcd = {} as OneEtcd;
  let [port, storage] = [0, {} as RunningProgram];
  const open = (changes: Partial<typeof keys> & { bucket?: string } = {}): S3Store => {
    const { bucket = "backups", ...others } = changes;
    const endpoint = `http://127.0.0.1:${port}`;
    const credentials = async () => ({ ...keys, ...others });
    return createS3Store({ endpoint, region: "us-east-1", bucket, credentials, clock: systemClock });
  };
  const startStorage = async (): Promise<void> => {
    const env = { ROOT_ACCESS_KEY: keys.accessKey, ROOT_SECRET_KEY: keys.secretKey };
    storage = launch(server, ["--port", `127.0.0.1:${port}`, "posix", dir], { env });
    const answers = () =>
      open()
        .list("", signal)
        .then(
          () => true,
          (error: unknown) => /NoSuchBucket/.test(String(error)),
        );
    for (let i = 0; !(await answers()); i++) if (i === 20) throw new Error(storage.output());
  };
  /** All keys have one generation: what is restored is one moment if it has one, too. */
  const write = async (generation: number): Promise<void> => {
    const value = base64(`${generation} ${"x".repeat(20_000)}`);
    const puts = Array.from({ length: KEYS }, (_, i) => ({
      request_put: { key: base64(`/one/registry/configmaps/${i}`), value },
    }));
    const { header } = (await etcd.call("kv/txn", { success: puts })) as { header: { revision: string } };
    // Without this, a slow machine writes more than etcd holds while programs are started and killed.
    const oldest = Number(header.revision) - HISTORY;
    if (oldest > 1) await etcd.call("kv/compaction", { revision: String(oldest) });
  };
  const generations = async (prefix: string): Promise<string[]> => {
    const { "causeway.dev/restored": _mark, ...values } = await etcd.values(prefix);
    return Object.values(values).map((value) => value.split(" ")[0] ?? "");
  };
  beforeAll(async () => {
    port = await freePort();
    [etcd] = await Promise.all([startEtcd(program), startStorage()]);
    await open().createBucket(signal);
    await open().createBucket(signal);
  });
  afterAll(async () => {
    await storage.stop();
    await etcd.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test("the store creates, replaces, lists in pages and deletes, whatever names have", async () => {
    const store = open();
    const names = ["a/b c/ü+(1)*", "a/2026-01-02T03:04:05.678Z_0_1", "a/&amp;<x>"];
    for (const name of names) await store.put(name, Buffer.from(name), signal);
    await store.put(names[0] ?? "", Buffer.from("second"), signal);
    expect(Buffer.from((await store.get(names[0] ?? "", signal)) ?? []).toString()).toBe("second");
    expect(await store.get("a/none", signal)).toBeUndefined();
    expect(await store.list("a/", signal)).toEqual(names.toSorted());
    for (const name of [...names, "a/none"]) await store.delete(name, signal);
    expect(await store.list("a/", signal)).toEqual([]);
    const many = Array.from({ length: 1_050 }, (_, i) => `many/${String(i).padStart(5, "0")}`);
    for (const name of many) await store.put(name, new Uint8Array(), signal);
    expect(await store.list("many/", signal)).toEqual(many);
  });

  test("wrong keys and a missing bucket are reported once, and say what to check", async () => {
    await expect(open({ secretKey: "wrong" }).put("x", Buffer.from("x"), signal)).rejects.toMatchObject({
      code: "BACKUP_STORE_FAILED",
      message: expect.stringMatching(/status 403, SignatureDoesNotMatch/) as string,
      hint: expect.stringMatching(/--backup-s3-secret/) as string,
    });
    await expect(open({ accessKey: "no-one" }).list("", signal)).rejects.toThrow(/status 40[34].*access key/i);
    await expect(open({ accessKey: "no-one" }).get("x", signal)).rejects.toThrow(/access key/i);
    await expect(open({ accessKey: "no-one" }).delete("x", signal)).rejects.toThrow(/access key/i);
    await expect(open({ bucket: "other" }).get("x", signal)).rejects.toThrow(/NoSuchBucket/);
  });

  test("a program that is killed at any point leaves only backups that can be restored as a whole", async () => {
    // A second attempt of this test finds nothing of the first one.
    const folder = `a/b/killed-${randomBytes(4).toString("hex")}`;
    const backups = createBackups({ store: open(), key, clock: systemClock });
    await write(0);
    let [run, generation] = [true, 0];
    const writes = (async () => {
      while (run) await write(++generation);
    })();
    const TAKE = JSON.stringify({
      endpoint: `http://127.0.0.1:${port}`,
      ...keys,
      key: key.toString("base64"),
      folder,
      keyspace: etcd.keyspace("/one/"),
    });
    let whole = 0;
    const killAll = async (): Promise<void> => {
      for (let kill = 1; kill <= KILLS; kill++) {
        const env = { TAKE, KILL_AT: String(kill) };
        const taking = launch(process.execPath, [resolve(import.meta.dirname, "backup-s3/take.ts")], { env });
        const { stderr } = await taking.ended;
        expect([taking.child.signalCode, stderr]).toEqual(["SIGKILL", ""]);
        // Each backup has one part, its keys, and at last what it is.
        whole += Math.floor((kill - 1) / 3);
      }
    };
    await killAll().finally(() => {
      run = false;
    });
    await writes;
    const points = await backups.points(folder, signal);
    for (const [index, { time }] of points.entries()) {
      const to = `/restored-${index}/`;
      await backups.restore({ folder, at: time }, etcd.keyspace(to), signal);
      const found = await generations(to);
      expect([found.length, new Set(found).size]).toEqual([KEYS, 1]);
      await etcd.call("kv/deleterange", { key: base64(to), range_end: base64(`${to.slice(0, -1)}0`) });
    }
    console.log({ kills: KILLS, points: points.length, generations: generation });
    expect(points.length).toBeGreaterThanOrEqual(whole);
    expect(points.length).toBeLessThanOrEqual(whole + KILLS / 3);
  });

  test("continues when the object storage was away for a moment, and fails with a code when it remains away", async () => {
    const backups = createBackups({ store: open(), key, clock: systemClock });
    const from = { folder: "a/b/away", keyspace: etcd.keyspace("/one/"), secrets: {} };
    await storage.stop();
    const taking = backups.take(from, signal);
    await systemClock.sleep(300);
    await startStorage();
    const point = await taking;
    expect(await backups.points("a/b/away", signal)).toEqual([point]);
    await storage.stop();
    await expect(backups.take(from, signal)).rejects.toMatchObject({ code: "BACKUP_STORE_UNREACHABLE" });
    await startStorage();
    expect(await backups.points("a/b/away", signal)).toEqual([point]);
  });
});
