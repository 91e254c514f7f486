/**
 * Backups of a range of keys of a real etcd: consistent, complete, and restored as a whole, whatever ends in between.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate, systemClock, type KeyPair } from "@causeway/foundation";
import { createBackups, type ObjectStore } from "@causeway/hosted-control-plane";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programs } from "./programs.ts";

const signal = new AbortController().signal;
const dir = mkdtempSync(join(tmpdir(), "backup-etcd-"));
const place = programs().kubernetes;
const etcd = "dir" in place ? join(place.dir, "etcd") : "";
const hour = 3_600_000;
const base64 = (text: string) => Buffer.from(text).toString("base64");

let [child, port, authority] = [undefined as ChildProcess | undefined, 0, {} as KeyPair];
let client = {} as KeyPair;

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

function call(path: string, body: object): Promise<Record<string, unknown>> {
  return new Promise((done, failed) => {
    const tls = { ca: authority.certificate, cert: client.certificate, key: client.key };
    const options = { ...tls, host: "127.0.0.1", port, path: `/v3/${path}`, method: "POST", agent: false as const };
    const sent = request(options, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => done(JSON.parse(text) as Record<string, unknown>));
    });
    sent.on("error", failed);
    sent.end(JSON.stringify(body));
  });
}

const put = (key: string, value: string) => call("kv/put", { key: base64(key), value: base64(value) });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port: found } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return found;
}

async function valuesOf(prefix: string): Promise<Record<string, string>> {
  const range = { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) };
  const { kvs = [] } = (await call("kv/range", range)) as { kvs?: { key: string; value?: string }[] };
  const text = (encoded = "") => Buffer.from(encoded, "base64").toString();
  return Object.fromEntries(kvs.map(({ key, value }) => [text(key).slice(prefix.length), text(value)]));
}

function keyspaceOf(prefix: string) {
  const access = { addresses: ["127.0.0.1"], port, serverName: "localhost", authority, password: "" };
  return { access, prefix };
}

describe.skipIf(!existsSync(etcd))("a backup of keys of a real etcd", () => {
  beforeAll(async () => {
    authority = await createAuthority({ commonName: "etcd-ca", lifetime: hour });
    const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
    const server = await issueCertificate(authority, {
      commonName: "etcd",
      ...names,
      usages: ["server", "client"],
      lifetime: hour,
    });
    client = await issueCertificate(authority, {
      commonName: "",
      organizations: ["t"],
      usages: ["client"],
      lifetime: hour,
    });
    const files = { "ca.crt": authority.certificate, "server.crt": server.certificate, "server.key": server.key };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    const [peer] = [await freePort()];
    port = await freePort();
    const url = `https://127.0.0.1:${port}`;
    const args = [
      `--data-dir=${join(dir, "data")}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      "--client-cert-auth=true",
      `--trusted-ca-file=${join(dir, "ca.crt")}`,
      `--cert-file=${join(dir, "server.crt")}`,
      `--key-file=${join(dir, "server.key")}`,
      "--log-level=error",
    ];
    child = spawn(etcd, args, { stdio: "ignore" });
    for (let i = 0; i < 200; i++) {
      if (
        await call("maintenance/status", {}).then(
          (answer) => "header" in answer,
          () => false,
        )
      )
        return;
      await systemClock.sleep(50);
    }
    throw new Error("etcd does not start");
  });
  afterAll(async () => {
    const ended = new Promise((done) => child?.once("close", done) ?? done(undefined));
    child?.kill();
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });

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
});
