import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ApiServer } from "../interface.ts";
import { at, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { rawClient, type Raw } from "../testing/client.ts";
import { restoreApiServer } from "./restore.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
let root: string;
const opened: { close(): unknown }[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "backup-"));
});
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  rmSync(root, { recursive: true, force: true });
});

async function start(dir?: string): Promise<ApiServer> {
  const server = await startApiServer(dir === undefined ? {} : { dir: join(root, dir) });
  opened.push(server);
  return server;
}

async function client(server: ApiServer, name = ""): Promise<Raw> {
  const raw = await rawClient(name === "" ? server.management : await server.ensureCluster(name));
  opened.push(raw);
  return raw;
}

async function create(api: Raw, name: string): Promise<{ uid: unknown; version: number }> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { filler: "x".repeat(2000) } };
  const made = await api.call("POST", MAPS, body);
  expect(made.code).toBe(201);
  const { uid, resourceVersion } = made.body["metadata"] as Json;
  return { uid, version: Number(resourceVersion) };
}

/** Writes until `stop` is called; `acknowledged` has the writes that got a response. */
function writing(api: Raw): { acknowledged: Map<string, unknown>; stop(): Promise<void> } {
  const acknowledged = new Map<string, unknown>();
  let stopped = false;
  const work = (async () => {
    for (let i = 0; !stopped; i += 1) acknowledged.set(`w${i}`, (await create(api, `w${i}`)).uid);
  })();
  return {
    acknowledged,
    stop: () => {
      stopped = true;
      return work;
    },
  };
}

const backup = (): string => join(root, "backup");

describe("a backup", () => {
  test("holds, while writes continue, everything that was acknowledged before it", async () => {
    const server = await start("a");
    const api = await client(server);
    for (let i = 0; i < 300; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => create(api, `m${i + j}`)));
    const writer = writing(api);
    while (writer.acknowledged.size < 5) await new Promise((resolve) => setTimeout(resolve, 1));
    const before = new Map(writer.acknowledged);
    await server.backup(backup());
    await writer.stop();
    expect(writer.acknowledged.size).toBeGreaterThan(before.size);
    expect(statSync(backup()).mode & 0o777).toBe(0o600);
    expect(readdirSync(root).toSorted()).toEqual(["a", "backup"]);

    await restoreApiServer(backup(), { dir: join(root, "b") });
    const restored = await client(await restart(server, "b"));
    const list = await restored.call("GET", MAPS);
    const uids = new Map(
      (list.body["items"] as Json[]).map((o) => [at(o, "metadata", "name"), at(o, "metadata", "uid")]),
    );
    for (const [name, uid] of before) expect(uids.get(name)).toBe(uid);
    // As of one moment: of what the writer wrote one after the other, a beginning.
    const written = [...uids.keys()].filter((n) => String(n).startsWith("w")).map((n) => Number(String(n).slice(1)));
    expect(written.toSorted((a, b) => a - b)).toEqual(written.map((_, i) => i));
    expect([...uids.keys()].filter((n) => String(n).startsWith("m"))).toHaveLength(300);
  });

  test("uses no revision again, and makes earlier watches list again", async () => {
    const server = await start("a");
    const api = await client(server);
    await create(api, "one");
    const { revision } = await server.backup(backup());
    const lost = await create(api, "two");
    expect(lost.version).toBeGreaterThan(revision);
    await restoreApiServer(backup(), { dir: join(root, "b") });
    const restored = await client(await restart(server, "b"));
    for (const from of [revision, lost.version]) {
      const [event] = await restored.events(`${MAPS}?watch=1&resourceVersion=${from}`, 1);
      expect(event).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    }
    const { version } = await create(restored, "three");
    expect(version).toBeGreaterThan(lost.version);
    const events = restored.events(`${MAPS}?watch=1&resourceVersion=${version}`, 1);
    await create(restored, "four");
    expect(at((await events)[0], "object", "metadata", "name")).toBe("four");
    const update = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one", resourceVersion: "1" } };
    expect((await restored.call("PUT", `${MAPS}/one`, update)).code).toBe(409);
  });

  test("brings back logical clusters with their identities, and what clients hold continues", async () => {
    const server = await start("a");
    const tenant = await client(server, "tenant");
    const made = await create(tenant, "theirs");
    const { authority } = await server.ensureCluster("tenant");
    await server.backup(backup());
    await restoreApiServer(backup(), { dir: join(root, "b") });
    const after = await restart(server, "b");
    expect(after.cluster("tenant")?.authority).toEqual(authority);
    const found = await (await client(after, "tenant")).call("GET", `${MAPS}/theirs`);
    expect(at(found.body, "metadata", "uid")).toBe(made.uid);
  });

  test("can be created from a server that keeps all in memory", async () => {
    const server = await start();
    const made = await create(await client(server), "one");
    await server.backup(backup());
    await restoreApiServer(backup(), { dir: join(root, "b") });
    const found = await (await client(await restart(server, "b"))).call("GET", `${MAPS}/one`);
    expect(at(found.body, "metadata", "uid")).toBe(made.uid);
  });

  test("is refused when anything of it is damaged, and the folder remains as it was", async () => {
    const server = await start("a");
    await create(await client(server), "one");
    await server.backup(backup());
    const whole = readFileSync(backup());
    for (const place of [10, 600, Math.floor(whole.length / 2), whole.length - 1]) {
      const copy = Buffer.from(whole);
      copy[place] = (copy[place] ?? 0) ^ 1;
      writeFileSync(backup(), copy);
      const code = expect.stringMatching(/^APISERVER_BACKUP_(DAMAGED|UNREADABLE)$/) as string;
      await expect(restoreApiServer(backup(), { dir: join(root, "b") })).rejects.toMatchObject({ code });
    }
    writeFileSync(backup(), whole.subarray(0, whole.length - 5));
    const damaged = { code: "APISERVER_BACKUP_DAMAGED" };
    await expect(restoreApiServer(backup(), { dir: join(root, "b") })).rejects.toMatchObject(damaged);
    expect(readdirSync(root).toSorted()).toEqual(["a", "backup"]);
  });

  test("is refused when a newer Causeway wrote it, when it is none, and into a folder in use", async () => {
    const server = await start("a");
    await server.backup(backup());
    const taken = { code: "APISERVER_BACKUP_TARGET_TAKEN" };
    await expect(restoreApiServer(backup(), { dir: join(root, "a") })).rejects.toMatchObject(taken);
    writeFileSync(backup(), '{"format":"causeway-apiserver-backup","version":99}\n\n');
    const tooNew = { code: "APISERVER_BACKUP_TOO_NEW" };
    await expect(restoreApiServer(backup(), { dir: join(root, "b") })).rejects.toMatchObject(tooNew);
    writeFileSync(backup(), "something else\n");
    const unreadable = { code: "APISERVER_BACKUP_UNREADABLE" };
    await expect(restoreApiServer(backup(), { dir: join(root, "b") })).rejects.toMatchObject(unreadable);
    await expect(restoreApiServer(join(root, "none"), { dir: join(root, "b") })).rejects.toMatchObject(unreadable);
  });
});

/** Ends the first server, whose ports the restored one has, and starts the other. */
async function restart(first: ApiServer, dir: string): Promise<ApiServer> {
  await first.close();
  return start(dir);
}
