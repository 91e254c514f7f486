import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileIdentity, folderDisks, memoryIdentity, type Identity, type IdentityStore } from "./identity.ts";

const now = Date.UTC(2026, 0, 1);
const hour = 3600_000;
const id = "3f2a7c1e-0000-4000-8000-000000000001";
let dir = "";
let identity: Identity;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "identity-"));
  const authority = await createAuthority({ commonName: "kubernetes", lifetime: 10 * hour, now });
  const pair = await issueCertificate(authority, { commonName: "n", usages: ["client"], lifetime: hour, now });
  identity = { nodeName: "n", server: "https://a:1", authority: authority.certificate, ...pair, serving: pair };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe.each([
  ["on a disk", () => fileIdentity(join(dir, "deep", id))],
  ["in memory", () => memoryIdentity()],
])("an identity %s", (_, open: () => IdentityStore) => {
  test("is read back until it expires, and can be forgotten", async () => {
    const store = open();
    expect(await store.load(now)).toBeUndefined();
    await store.save(identity);
    await store.save(identity);
    expect(await store.load(now)).toEqual(identity);
    expect(await store.load(now + hour)).toBeUndefined();
    await store.forget();
    await store.forget();
    expect(await store.load(now)).toBeUndefined();
  });
});

describe("a disk", () => {
  test("is readable by its owner only: files 0600, folders 0700, no temporary file left", async () => {
    const disk = join(dir, "private", id);
    await fileIdentity(disk).save(identity);
    expect((await stat(join(disk, "identity.json"))).mode & 0o777).toBe(0o600);
    expect((await stat(disk)).mode & 0o777).toBe(0o700);
    expect(await readdir(disk)).toEqual(["identity.json"]);
  });

  test.each([
    ["no JSON", "{"],
    ["half of it", JSON.stringify({ nodeName: "n" })],
    ["no certificate", JSON.stringify({ nodeName: "n", server: "s", authority: "a", certificate: "x", key: "k" })],
  ])("with a damaged identity (%s) is as good as empty", async (_, text) => {
    const disk = join(dir, "damaged");
    const store = fileIdentity(disk);
    await store.save(identity);
    await writeFile(join(disk, "identity.json"), text);
    expect(await store.load(now)).toBeUndefined();
    await store.save(identity);
    expect(await store.load(now)).toEqual(identity);
  });

  test("is removed by the machine's id, and nothing else is", async () => {
    const root = join(dir, "disks");
    const disks = folderDisks(root);
    expect(await disks.ids()).toEqual([]);
    await fileIdentity(disks.path(id)).save(identity);
    await writeFile(join(root, "notes.txt"), "mine");
    expect(await disks.ids()).toEqual([id]);
    await disks.remove("notes.txt");
    await disks.remove("../disks");
    await disks.remove(id);
    await disks.remove(id);
    expect(await readFile(join(root, "notes.txt"), "utf8")).toBe("mine");
    expect(await disks.ids()).toEqual([]);
  });
});
