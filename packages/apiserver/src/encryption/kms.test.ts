import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "@causeway/foundation";
import { serveKms, type KmsServer, type KmsService } from "@causeway/kms";
import type { ApiServer } from "../interface.ts";
import type { Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { rawClient } from "../testing/client.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const HIDDEN = "a-word-that-no-file-may-show";

/** A plugin with keys by id, of which the test says which is the current one. */
class Plugin implements KmsService {
  readonly keys = new Map<string, Buffer>([
    ["first", randomBytes(32)],
    ["second", randomBytes(32)],
  ]);
  current = "first";
  healthz = "ok";
  decrypted = 0;

  status() {
    return Promise.resolve({ version: "v2", healthz: this.healthz, keyId: this.current });
  }

  encrypt(plaintext: Uint8Array) {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key(this.current), nonce);
    const ciphertext = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return Promise.resolve({ ciphertext, keyId: this.current, annotations: { "a.example.com": nonce } });
  }

  async decrypt({ ciphertext, keyId, annotations }: Parameters<KmsService["decrypt"]>[0]) {
    this.decrypted += 1;
    const sealed = Buffer.from(ciphertext);
    expect(Buffer.from(annotations["a.example.com"] ?? [])).toEqual(sealed.subarray(0, 12));
    const decipher = createDecipheriv("aes-256-gcm", this.#key(keyId), sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(-16));
    return Promise.resolve(Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]));
  }

  #key(id: string): Buffer {
    const key = this.keys.get(id);
    if (key === undefined) throw new Error(`there is no key ${id}`);
    return key;
  }
}

describe("encryption at rest with a KMS plugin", () => {
  let folder: string;
  let plugin: Plugin;
  let kms: KmsServer;
  let server: ApiServer;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "kms-at-rest-"));
    plugin = new Plugin();
    const endpoint = `unix://${join(folder, "kms.sock")}`;
    kms = await serveKms({ endpoint, service: plugin, log: silentLog });
    const provider = { kms: { apiVersion: "v2", name: "tried", endpoint } };
    const resources = [{ resources: ["secrets"], providers: [provider, { identity: {} }] }];
    const configuration = { apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration", resources };
    writeFileSync(join(folder, "encryption.json"), JSON.stringify(configuration));
    server = await start();
  });
  afterEach(async () => {
    await server.close();
    await kms.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = () =>
    startApiServer({ dir: join(folder, "state"), encryption: { configurationFile: join(folder, "encryption.json") } });

  async function write(name: string): Promise<void> {
    const api = await rawClient(server.management);
    const body = { apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: { a: HIDDEN } };
    expect((await api.call("POST", SECRETS, body)).code).toBe(201);
    api.close();
  }

  async function read(name: string): Promise<string> {
    const api = await rawClient(server.management);
    const { body } = await api.call("GET", `${SECRETS}/${name}`);
    api.close();
    return Buffer.from(String((body["data"] as Json | undefined)?.["a"]), "base64").toString();
  }

  function shown(word: string): boolean {
    const state = join(folder, "state");
    return readdirSync(state).some(
      (file) => statSync(join(state, file)).isFile() && readFileSync(join(state, file)).includes(word),
    );
  }

  it("writes no Secret in the clear, and reads all after a restart", async () => {
    await write("one");
    expect([HIDDEN, Buffer.from(HIDDEN).toString("base64")].some(shown)).toBe(false);
    await server.close();
    expect([HIDDEN, Buffer.from(HIDDEN).toString("base64")].some(shown)).toBe(false);
    server = await start();
    expect(plugin.decrypted).toBe(1);
    expect(await read("one")).toBe(HIDDEN);
  });

  it("needs no call for each record: the plugin may be away while it runs", async () => {
    await kms.close();
    await write("one");
    expect(await read("one")).toBe(HIDDEN);
  });

  it("rewrites records after a rotation, and then needs the old key no more", async () => {
    await write("one");
    plugin.current = "second";
    await server.reload();
    await write("two");
    plugin.keys.delete("first");
    await server.close();
    server = await start();
    expect([await read("one"), await read("two")]).toEqual([HIDDEN, HIDDEN]);
  });

  it.each<[string, (plugin: Plugin) => void]>([
    ["that is not healthy", (p) => (p.healthz = "the key is gone")],
    ["that has lost the key", (p) => p.keys.clear()],
  ])("does not start with a plugin %s, and changes nothing", async (_what, spoil) => {
    await write("one");
    await server.close();
    const keys = new Map(plugin.keys);
    spoil(plugin);
    await expect(start()).rejects.toMatchObject({ code: "ENCRYPTION_KMS_FAILED" });
    plugin.healthz = "ok";
    for (const [id, key] of keys) plugin.keys.set(id, key);
    server = await start();
    expect(await read("one")).toBe(HIDDEN);
  });
});
