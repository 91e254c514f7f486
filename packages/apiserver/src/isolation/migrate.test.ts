import { cpSync, existsSync, mkdtempSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@causeway/foundation";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stateFiles } from "../store/state-files.ts";
import { startApiServer } from "../start.ts";
import { openStore, SplitSource } from "../store/index.ts";
import { rawClient } from "../testing/client.ts";
import { migrate } from "./migrate.ts";
import { isSplit, NOTHING_PLACED, readPlacement, writePlacement, type Placement } from "./placement.ts";

const to = { initial: 2, limits: { heap: 768, resident: 1280 }, log: silentLog };
const NAMES = ["a", "b", "c"];
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "migrate-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A state folder of one process, with an object in each cluster; the revisions of those. */
async function oneProcess(dir: string): Promise<Record<string, unknown>> {
  const server = await startApiServer({ dir });
  const revisions: Record<string, unknown> = {};
  for (const name of NAMES) {
    const client = await rawClient(await server.ensureCluster(name));
    const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "kept" }, data: { of: btoa(name) } };
    const { body } = await client.call("POST", "/api/v1/namespaces/default/secrets", object);
    revisions[name] = (body["metadata"] as { resourceVersion: string }).resourceVersion;
    client.close();
  }
  await server.close();
  return revisions;
}

/** Opens what a worker has, as a worker does, and reads the object. */
async function found(dir: string, placement: Placement | undefined, name: string): Promise<unknown> {
  const folder = join(dir, "workers", placement?.clusters[name] ?? "");
  const server = await startApiServer({ dir: folder });
  const cluster = server.cluster(name);
  const client = cluster && (await rawClient(cluster));
  const answer = await client?.call("GET", "/api/v1/namespaces/default/secrets/kept");
  client?.close();
  await server.close();
  return answer?.body;
}

function inDatabase<T>(dir: string, work: (source: SplitSource) => T): T {
  const source = new SplitSource(dir);
  try {
    return work(source);
  } finally {
    source.close();
  }
}

async function expectMoved(dir: string, revisions: Record<string, unknown>): Promise<void> {
  const placement = readPlacement(stateFiles(dir));
  expect(placement?.clusters).toEqual({ a: "1", b: "2", c: "1" });
  expect(inDatabase(dir, (source) => source.clusters)).toEqual([""]);
  expect(existsSync(join(dir, "clusters")) ? readdirSync(join(dir, "clusters")) : []).toEqual([]);
  for (const name of NAMES) {
    expect(await found(dir, placement, name)).toMatchObject({
      metadata: { resourceVersion: revisions[name] },
      data: { of: btoa(name) },
    });
  }
}

test(
  "clusters of one database come to those of workers, with their revisions, roots and secrets",
  { timeout: 300_000 },
  async () => {
    const dir = join(root, "state");
    const revisions = await oneProcess(dir);
    const before = stateFiles(dir).read("clusters/a/ca.key");
    expect(isSplit(dir)).toBe(false);
    migrate(dir, to);
    expect(isSplit(dir)).toBe(true);
    await expect(startApiServer({ dir })).rejects.toMatchObject({ code: "APISERVER_STATE_SPLIT" });
    expect(stateFiles(join(dir, "workers/1")).read("clusters/a/ca.key")).toBe(before);
    await expectMoved(dir, revisions);
    migrate(dir, to);
    await expectMoved(dir, revisions);
  },
);

test("clusters with controllers come to as many workers as have room for them", async () => {
  const dir = join(root, "state");
  const server = await startApiServer({ dir });
  for (const name of NAMES) await server.ensureCluster(name, { controllers: true });
  await server.ensureCluster("d");
  await server.close();
  migrate(dir, { ...to, capacity: 1 });
  expect(readPlacement(stateFiles(dir))?.clusters).toEqual({ a: "1", b: "2", c: "3", d: "1" });
});

test("a conversion that ended while it copied is started again", async () => {
  const dir = join(root, "state");
  const revisions = await oneProcess(dir);
  cpSync(dir, join(root, "copy"), { recursive: true });
  migrate(join(root, "copy"), to);
  // What a process leaves that is killed before the placement is written, in the middle of the second worker.
  cpSync(join(root, "copy/workers/1"), join(dir, "workers/1"), { recursive: true });
  mkdirSync(join(dir, "workers/2"));
  writeFileSync(join(dir, "workers/2/state.sqlite"), "half");
  writeFileSync(join(dir, "workers/placement.json.new"), "{");
  migrate(dir, to);
  await expectMoved(dir, revisions);
});

test("a conversion that ended before the originals were removed is finished", async () => {
  const dir = join(root, "state");
  const revisions = await oneProcess(dir);
  cpSync(dir, join(root, "copy"), { recursive: true });
  migrate(join(root, "copy"), to);
  const placement = readPlacement(stateFiles(join(root, "copy"))) ?? NOTHING_PLACED;
  cpSync(join(root, "copy/workers"), join(dir, "workers"), { recursive: true });
  writePlacement(stateFiles(dir), placement);
  inDatabase(dir, (source) => source.remove(NAMES));
  rmSync(join(dir, "clusters/a"), { recursive: true });
  migrate(dir, to);
  await expectMoved(dir, revisions);
});

test("a second server that starts while a folder is converted is refused, and changes nothing", async () => {
  const dir = join(root, "state");
  const revisions = await oneProcess(dir);
  const refusals: unknown[] = [];
  // This line comes after the copies and before the originals are removed.
  const second = (): void => {
    try {
      migrate(dir, to);
    } catch (error) {
      refusals.push(error);
    }
  };
  migrate(dir, { ...to, log: { ...silentLog, info: second } });
  expect(refusals).toMatchObject([{ code: "STATE_LOCKED" }]);
  await expectMoved(dir, revisions);
});

test("a folder without logical clusters is left alone", async () => {
  const dir = join(root, "state");
  await (await startApiServer({ dir })).close();
  migrate(dir, to);
  expect(isSplit(dir)).toBe(false);
  const store = openStore({ dir });
  expect(store.revision).toBeGreaterThan(0);
  await store.close();
});
