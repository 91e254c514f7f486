import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasCode } from "@causeway/foundation";
import type { ApiServer, ApiServerOptions } from "../interface.ts";
import type { Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { restoreApiServer } from "../backup/restore.ts";
import { rawClient } from "../testing/client.ts";
import { createCipher, type CipherName } from "./ciphers.ts";
import { createEncryption } from "./codec.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
/** Its base64 is searched for too. */
const HIDDEN = "a-word-that-must-not-be-on-disk";
const about = { cluster: "", resource: "/secrets", namespace: "default", name: "s" };

function key(name: string, length = 32): Json {
  return { name, secret: randomBytes(length).toString("base64") };
}

function configuration(resources: readonly string[], ...providers: readonly Json[]): Json {
  const [apiVersion, kind] = ["apiserver.config.k8s.io/v1", "EncryptionConfiguration"];
  return { apiVersion, kind, resources: [{ resources, providers }] };
}

function codeOf(act: () => unknown): string {
  try {
    act();
    return "nothing was thrown";
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

describe("the ciphers of stored objects:", () => {
  const names: readonly CipherName[] = ["aesgcm", "secretbox", "aescbc"];
  it.each(names)("%s opens what it sealed, for the same place alone, and no changed byte", (name) => {
    const cipher = createCipher(name, randomBytes(32));
    const other = createCipher(name, randomBytes(32));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), fc.nat(), (bytes, place, at) => {
        const plain = Buffer.from(bytes);
        const sealed = cipher.seal(plain, Buffer.from(place));
        expect(cipher.open(sealed, Buffer.from(place))).toEqual(plain);
        expect(() => cipher.open(sealed, Buffer.from(`${place}x`))).toThrow();
        expect(() => other.open(sealed, Buffer.from(place))).toThrow();
        const changed = Buffer.from(sealed);
        const spot = at % changed.length;
        changed[spot] = (changed[spot] ?? 0) ^ 1;
        expect(() => cipher.open(changed, Buffer.from(place))).toThrow();
      }),
      { numRuns: 50 },
    );
  });

  it.each(names)("%s never seals the same twice", (name) => {
    const cipher = createCipher(name, randomBytes(32));
    expect(cipher.seal(Buffer.from("a"), Buffer.from("b"))).not.toEqual(
      cipher.seal(Buffer.from("a"), Buffer.from("b")),
    );
  });
});

describe("an encryption configuration", () => {
  const gcm = { aesgcm: { keys: [key("k")] } };
  it.each<[string, string, boolean]>([
    ["secrets", "/secrets", true],
    ["secrets", "/configmaps", false],
    ["secrets", "example.com/secrets", false],
    ["widgets.example.com", "example.com/widgets", true],
    ["widgets.example.com", "/widgets", false],
    ["*.example.com", "example.com/widgets", true],
    ["*.example.com", "other.com/widgets", false],
    ["*.", "/configmaps", true],
    ["*.", "apps/deployments", false],
    ["*.*", "apps/deployments", true],
  ])("with %s is, for %s: %s", (wanted, resource, covered) => {
    const encryption = createEncryption(configuration([wanted], gcm));
    expect(typeof encryption.encode("{}", { ...about, resource }) !== "string").toBe(covered);
  });

  it.each<[string, Json]>([
    ["of another kind", { ...configuration(["secrets"], gcm), kind: "Secret" }],
    ["without resources", { ...configuration(["secrets"], gcm), resources: [] }],
    ["without providers", configuration(["secrets"])],
    ["with a key of the wrong length", configuration(["secrets"], { aesgcm: { keys: [key("k", 20)] } })],
    ["with a secretbox key of 16 bytes", configuration(["secrets"], { secretbox: { keys: [key("k", 16)] } })],
    ["with a key without a name", configuration(["secrets"], { aesgcm: { keys: [key("")] } })],
    ["with a provider that there is not", configuration(["secrets"], { vault: { name: "x" } })],
    ["with a kms provider of no endpoint", configuration(["secrets"], { kms: { apiVersion: "v2", name: "x" } })],
    ["with kms v1", configuration(["secrets"], { kms: { name: "x", endpoint: "unix:///x" } })],
    ["with two providers in one", configuration(["secrets"], { ...gcm, identity: {} })],
  ])("%s is refused, and no key is shown", (_what, given) => {
    try {
      createEncryption(given);
      expect.unreachable();
    } catch (error) {
      expect(hasCode(error, "ENCRYPTION_CONFIG_INVALID")).toBe(true);
      for (const secret of JSON.stringify(given).match(/[A-Za-z0-9+/]{20,}=*/g) ?? []) {
        expect(String((error as Error).message)).not.toContain(secret);
      }
    }
  });

  it("reads with all keys, writes with the first, and reads what was never encrypted", () => {
    const [old, fresh] = [key("old"), key("new")];
    const before = createEncryption(configuration(["secrets"], { aescbc: { keys: [old] } }, { identity: {} }));
    const sealed = before.encode('{"a":1}', about);
    const after = createEncryption(
      configuration(["secrets"], { secretbox: { keys: [fresh] } }, { aescbc: { keys: [old] } }, { identity: {} }),
    );
    expect(after.decode(sealed, about)).toBe('{"a":1}');
    expect(after.isCurrent(sealed, about)).toBe(false);
    expect(after.isCurrent(after.encode('{"a":1}', about), about)).toBe(true);
    expect(after.decode('{"a":1}', about)).toBe('{"a":1}');
    expect(after.isCurrent('{"a":1}', about)).toBe(false);
  });

  it("says when a key is not there, and when it is another", () => {
    const one = createEncryption(configuration(["secrets"], { aesgcm: { keys: [key("k")] } }));
    const sealed = one.encode("{}", about);
    const renamed = createEncryption(configuration(["secrets"], { aesgcm: { keys: [key("other")] } }));
    expect(codeOf(() => renamed.decode(sealed, about))).toBe("ENCRYPTION_KEY_UNKNOWN");
    const changed = createEncryption(configuration(["secrets"], { aesgcm: { keys: [key("k")] } }));
    expect(codeOf(() => changed.decode(sealed, about))).toBe("ENCRYPTION_RECORD_UNREADABLE");
    expect(codeOf(() => one.decode(sealed, { ...about, name: "other" }))).toBe("ENCRYPTION_RECORD_UNREADABLE");
  });
});

describe("a state folder", () => {
  let dir: string;
  let file: string;
  let servers: ApiServer[];

  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), "encryption-"));
    dir = join(folder, "state");
    file = join(folder, "encryption.yaml");
    servers = [];
  });
  afterEach(async () => {
    await Promise.all(servers.map((s) => s.close()));
    rmSync(join(dir, ".."), { recursive: true, force: true });
  });

  async function start(options: ApiServerOptions = {}): Promise<ApiServer> {
    const server = await startApiServer({ dir, ...options });
    servers.push(server);
    return server;
  }

  function configure(...providers: readonly Json[]): ApiServerOptions {
    writeFileSync(file, JSON.stringify(configuration(["secrets"], ...providers)));
    return { encryption: { configurationFile: file } };
  }

  async function write(server: ApiServer, name: string, kind = "Secret"): Promise<void> {
    const api = await rawClient(server.management);
    const path = kind === "Secret" ? SECRETS : "/api/v1/namespaces/default/configmaps";
    const body = { apiVersion: "v1", kind, metadata: { name } };
    const data = kind === "Secret" ? { stringData: { a: HIDDEN } } : { data: { a: HIDDEN } };
    expect((await api.call("POST", path, { ...body, ...data })).code).toBe(201);
    api.close();
  }

  async function read(server: ApiServer, name: string): Promise<unknown> {
    const api = await rawClient(server.management);
    const { body } = await api.call("GET", `${SECRETS}/${name}`);
    api.close();
    return Buffer.from(String((body["data"] as Json | undefined)?.["a"]), "base64").toString();
  }

  /** Which database files have a text in them. */
  function found(text: string): string[] {
    const names = readdirSync(dir).filter((n) => n.includes("sqlite"));
    return names.filter((n) => readFileSync(join(dir, n)).includes(text));
  }

  function anywhere(): string[] {
    return [...found(HIDDEN), ...found(Buffer.from(HIDDEN).toString("base64"))];
  }

  it("keeps Secrets encrypted with a key of its own, others as they are, and reads them after a restart", async () => {
    const server = await start();
    await write(server, "s");
    expect(anywhere()).toEqual([]);
    expect(statSync(join(dir, "encryption.json")).mode & 0o777).toBe(0o600);
    await server.close();
    expect(anywhere()).toEqual([]);
    const again = await start();
    expect(await read(again, "s")).toBe(HIDDEN);
    await write(again, "plain", "ConfigMap");
    expect(found(HIDDEN)).not.toEqual([]);
  });

  it("leaves no Secret in a backup, and reads it again from what is restored", async () => {
    const server = await start();
    await write(server, "s");
    const archive = join(dir, "../backup");
    await server.backup(archive);
    const bytes = readFileSync(archive);
    expect(bytes.includes(HIDDEN) || bytes.includes(Buffer.from(HIDDEN).toString("base64"))).toBe(false);
    await server.close();
    const restored = join(dir, "../restored");
    await restoreApiServer(archive, { dir: restored });
    expect(await read(await start({ dir: restored }), "s")).toBe(HIDDEN);
  });

  it("rewrites everything when keys change, while it runs, and what was on disk before is gone", async () => {
    const [one, two] = [{ aesgcm: { keys: [key("one")] } }, { secretbox: { keys: [key("two")] } }];
    const server = await start(configure({ identity: {} }));
    await write(server, "s");
    expect(anywhere()).not.toEqual([]);
    configure(one, { identity: {} });
    await server.reload();
    expect(anywhere()).toEqual([]);
    expect(found("k8s:enc:aesgcm:v1:one:")).not.toEqual([]);
    configure(two, one);
    await server.reload();
    expect(found("k8s:enc:aesgcm:v1:one:")).toEqual([]);
    expect(await read(server, "s")).toBe(HIDDEN);
    await server.close();
    const again = await start(configure(two));
    expect(await read(again, "s")).toBe(HIDDEN);
  });

  it("takes up at its start what a rewrite left undone", async () => {
    const plain = await start(configure({ identity: {} }));
    await write(plain, "s");
    await plain.close();
    const server = await start(configure({ aesgcm: { keys: [key("one")] } }, { identity: {} }));
    await server.reload();
    expect(anywhere()).toEqual([]);
  });

  it("does not start with another key of the same name, or without one that is needed", async () => {
    const one = { aesgcm: { keys: [key("one")] } };
    await (await start(configure(one))).close();
    await expect(start(configure({ aesgcm: { keys: [key("one")] } }))).rejects.toMatchObject({
      code: "ENCRYPTION_KEY_WRONG",
    });
    await expect(start(configure({ aesgcm: { keys: [key("two")] } }))).rejects.toMatchObject({
      code: "ENCRYPTION_KEY_UNKNOWN",
    });
    await (await start(configure(one))).close();
  });

  it("refuses a file whose YAML is broken, though a reader could make something of it", async () => {
    const whole = JSON.stringify(configuration(["secrets"], { aesgcm: { keys: [key("one")] } }));
    writeFileSync(file, whole.slice(0, -1));
    await expect(start({ encryption: { configurationFile: file } })).rejects.toMatchObject({
      code: "ENCRYPTION_CONFIG_INVALID",
    });
  });

  it("keeps the configuration it has when a changed one cannot be used", async () => {
    const server = await start(configure({ aesgcm: { keys: [key("one")] } }));
    writeFileSync(file, "kind: {{");
    await expect(server.reload()).rejects.toMatchObject({ code: "ENCRYPTION_CONFIG_INVALID" });
    await write(server, "s");
    expect(await read(server, "s")).toBe(HIDDEN);
  });
});
