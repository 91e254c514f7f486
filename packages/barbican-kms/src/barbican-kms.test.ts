import { createCipheriv, randomBytes } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLog, createMetrics, VirtualClock } from "@causeway/foundation";
import { kmsClient, type KmsClient } from "@causeway/kms";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { runBarbicanKms } from "./barbican-kms.ts";

vi.setConfig({ testTimeout: 120_000 });

/** A plugin, the simulated Barbican behind it, and the API server's side of the socket. */
class World {
  readonly dir = mkdtempSync(join(tmpdir(), "kms-"));
  readonly socket = join(this.dir, "kms.sock");
  readonly clock = new VirtualClock(Date.now());
  readonly lines: string[] = [];
  readonly metrics = createMetrics();
  readonly simulator: Simulator;
  readonly cloud: Cloud;
  client: KmsClient = kmsClient(this.socket, { timeout: 30_000 });
  ending = new AbortController();
  health: () => Promise<string> = () => Promise.resolve("not started");
  running: Promise<void> | undefined;

  private constructor(simulator: Simulator) {
    this.simulator = simulator;
    writeFileSync(join(this.dir, "clouds.yaml"), simulator.cloudsYaml);
    this.cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", path: join(this.dir, "clouds.yaml") }));
  }

  static async start(): Promise<World> {
    return new World(await startSimulator({ profile: "instant" }));
  }

  /** A new secret's id. */
  async secret(key: Buffer): Promise<string> {
    const reference = await this.cloud.keyManager.secrets.create({
      name: "kek",
      secret_type: "symmetric",
      payload: key.toString("base64"),
      payload_content_type: "application/octet-stream",
      payload_content_encoding: "base64",
    });
    return reference.split("/").at(-1) ?? "";
  }

  configure(keyId: string, more = ""): string {
    const path = join(this.dir, "cloud.conf");
    const global = `[Global]\nuse-clouds = true\nclouds-file = ${join(this.dir, "clouds.yaml")}\ncloud = simulator\n`;
    writeFileSync(`${path}.new`, `${global}[KeyManager]\nkey-id = ${keyId}\n${more}`);
    renameSync(`${path}.new`, path);
    return path;
  }

  async run(readUpstreamData = false): Promise<void> {
    const log = createLog({ level: "debug", destination: { write: (line) => this.lines.push(line) } });
    this.ending = new AbortController();
    await new Promise<void>((resolve, reject) => {
      const cloudConfig = join(this.dir, "cloud.conf");
      const { socket: socketPath, metrics, clock } = this;
      const onListening = (health: () => Promise<string>): void => {
        this.health = health;
        resolve();
      };
      const options = { socketPath, cloudConfig, readUpstreamData, metrics, clock, log, onListening };
      this.running = runBarbicanKms(options, this.ending.signal);
      this.running.catch(reject);
    });
    this.client.close();
    this.client = kmsClient(this.socket, { timeout: 30_000 });
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.running?.catch(() => {});
  }

  async close(): Promise<void> {
    this.client.close();
    await this.stop();
    await this.cloud.close();
    await this.simulator.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

describe("the Barbican KMS plugin", () => {
  const plain = Buffer.from("the seed of a data encryption key");
  let world: World;
  beforeEach(async () => {
    world = await World.start();
  });
  afterEach(async () => {
    await world.close();
  });

  it("encrypts and decrypts over its socket, which is its user's alone, and reads the key from Barbican once", async () => {
    const id = await world.secret(randomBytes(32));
    world.configure(id);
    await world.run();
    expect(statSync(world.socket).mode & 0o777).toBe(0o600);
    expect(await world.client.status()).toEqual({ version: "v2", healthz: "ok", keyId: id });
    const sealed = await world.client.encrypt(plain, "uid-1");
    expect(sealed.keyId).toBe(id);
    expect(Buffer.from(sealed.ciphertext).includes(plain)).toBe(false);
    for (let i = 0; i < 20; i++) expect(Buffer.from(await world.client.decrypt(sealed, "uid-2"))).toEqual(plain);
    expect(world.simulator.calls.filter((c) => c.path.endsWith("/payload"))).toHaveLength(1);
    expect(world.lines.join("")).not.toContain(plain.toString());
    expect(await world.metrics.render()).toContain(
      'causeway_barbican_kms_calls_total{method="Decrypt",outcome="ok"} 20',
    );
  });

  it("keeps old data readable after a rotation of the key, without a restart and after one", async () => {
    const [first, second] = [await world.secret(randomBytes(32)), await world.secret(randomBytes(32))];
    world.configure(first);
    await world.run();
    const old = await world.client.encrypt(plain, "u");
    world.configure(second);
    await world.clock.advance(6_000);
    await expect.poll(async () => (await world.client.status()).keyId).toBe(second);
    const fresh = await world.client.encrypt(plain, "u");
    expect(fresh.keyId).toBe(second);
    for (const restart of [false, true]) {
      if (restart) {
        await world.stop();
        await world.run();
      }
      expect(Buffer.from(await world.client.decrypt(old, "u"))).toEqual(plain);
      expect(Buffer.from(await world.client.decrypt(fresh, "u"))).toEqual(plain);
    }
  });

  it("refuses data of the upstream plugin unless it is to be read, and changed data", async () => {
    const key = randomBytes(32);
    const keyId = await world.secret(key);
    world.configure(keyId);
    await world.run();
    const vector = randomBytes(16);
    const cipher = createCipheriv("aes-256-cbc", key, vector);
    const ciphertext = Buffer.concat([vector, cipher.update(plain), cipher.final()]);
    const upstream = { ciphertext, keyId, annotations: {} };
    await expect(world.client.decrypt(upstream, "u")).rejects.toMatchObject({ code: "KMS_CALL_FAILED" });
    const sealed = await world.client.encrypt(plain, "u");
    await world.stop();
    await world.run(true);
    expect(Buffer.from(await world.client.decrypt(upstream, "u"))).toEqual(plain);
    expect(world.lines.join("")).toContain("data of the upstream plugin is decrypted");
    const changed = Uint8Array.from(sealed.ciphertext);
    changed[50] = (changed[50] ?? 0) ^ 1;
    await expect(world.client.decrypt({ ...sealed, ciphertext: changed }, "u")).rejects.toMatchObject({
      code: "KMS_CALL_FAILED",
    });
    expect(Buffer.from(await world.client.decrypt({ ...sealed, annotations: {} }, "u"))).toEqual(plain);
    expect(await world.metrics.render()).toContain("causeway_barbican_kms_upstream_data_total 1");
  });

  it("measures its calls and readings, and has one probe of its health for many requests", async () => {
    const id = await world.secret(randomBytes(32));
    world.configure(id, "key-lifetime = 1s\n");
    await world.run();
    await world.client.decrypt(await world.client.encrypt(plain, "u"), "u");
    expect(await Promise.all([world.health(), world.health()])).toEqual(["ok", "ok"]);
    const text = await world.metrics.render();
    expect(text).toContain('causeway_barbican_kms_call_duration_seconds_count{method="Encrypt"} 1');
    expect(text).toContain('causeway_barbican_kms_call_duration_seconds_count{method="Status"} 1');
    expect(text).toContain('causeway_barbican_kms_key_reads_total{outcome="ok"} 1');
    expect(text).toContain("causeway_barbican_kms_healthy 1");
    expect(text).toContain("openstack_api_requests_total");
    await world.cloud.keyManager.secrets.delete(id);
    const before = world.simulator.calls.length;
    expect(await world.health()).toBe("ok");
    expect(world.simulator.calls.length).toBe(before);
    await world.clock.advance(6_000);
    expect(await world.health()).toBe("ok");
    await world.clock.advance(11_000);
    expect(await world.health()).toContain(`The secret ${id} is not in Barbican`);
    for (let i = 0; i < 20; i++) await world.health();
    expect(world.simulator.calls.length).toBe(before + 2);
    const after = await world.metrics.render();
    expect(after).toContain("causeway_barbican_kms_healthy 0");
    expect(after).toContain('causeway_barbican_kms_key_reads_total{outcome="failed"} 2');
  });

  it("reports what is wrong in its status: a deleted key, Barbican away beyond the time that is configured", async () => {
    const id = await world.secret(randomBytes(32));
    world.configure(id, "key-lifetime = 60s\nkey-outage = 300s\n");
    await world.run();
    const sealed = await world.client.encrypt(plain, "u");
    world.simulator.setFaults(() => ({ when: "before", status: 503 }));
    await world.clock.advance(120_000);
    const during = async <T>(work: Promise<T>): Promise<T> => {
      const timer = setInterval(() => void world.clock.advance(1_000), 5);
      return work.finally(() => clearInterval(timer));
    };
    expect((await during(world.client.status())).healthz).toBe("ok");
    expect(Buffer.from(await during(world.client.decrypt(sealed, "u")))).toEqual(plain);
    await world.clock.advance(300_000);
    expect((await during(world.client.status())).healthz).toContain("Barbican cannot be reached");
    await expect(during(world.client.decrypt(sealed, "u"))).rejects.toMatchObject({ code: "KMS_CALL_FAILED" });
    world.simulator.setFaults(undefined);
    expect((await during(world.client.status())).healthz).toBe("ok");
    await world.cloud.keyManager.secrets.delete(id);
    await world.clock.advance(61_000);
    // A held key is used while Barbican takes longer than a second of the clock, which runs ahead here.
    await expect
      .poll(async () => (await during(world.client.status())).healthz)
      .toContain(`The secret ${id} is not in Barbican`);
  });

  const page = "<html>maintenance</html>";
  const payloadIs = (body: unknown, status = 200, type = "application/octet-stream"): void =>
    world.simulator.setFaults(({ path }) =>
      path.endsWith("/payload") ? { when: "before", status, body, headers: { "content-type": type } } : undefined,
    );

  it.each(["text/html", "application/json", "text/plain; charset=utf-8"])(
    "never uses a page of type %s as a key, with and without a held one",
    async (type) => {
      world.configure(await world.secret(randomBytes(32)), "key-lifetime = 1s\nkey-outage = 600s\n");
      await world.run();
      const sealed = await world.client.encrypt(plain, "u");
      payloadIs(page, 200, type);
      await world.clock.advance(60_000);
      expect(Buffer.from(await world.client.decrypt(sealed, "u"))).toEqual(plain);
      expect(Buffer.from(await world.client.decrypt(await world.client.encrypt(plain, "u"), "u"))).toEqual(plain);
      expect(await world.metrics.render()).toContain('causeway_barbican_kms_key_reads_total{outcome="refused"} 1');
      await world.clock.advance(600_000);
      expect((await world.client.status()).healthz).toContain(`responded 200 with ${type.split(";")[0]}`);
      await world.stop();
      await world.run();
      await expect(world.client.encrypt(plain, "u")).rejects.toMatchObject({ code: "KMS_CALL_FAILED" });
      world.simulator.setFaults(undefined);
      expect((await world.client.status()).healthz).toBe("ok");
      expect(Buffer.from(await world.client.decrypt(sealed, "u"))).toEqual(plain);
    },
  );

  it("keeps its key while Barbican gives another one for the same secret, and reports it", async () => {
    const id = await world.secret(randomBytes(32));
    world.configure(id, "key-lifetime = 1s\n");
    await world.run();
    const sealed = await world.client.encrypt(plain, "u");
    payloadIs(page);
    await world.clock.advance(6_000);
    expect((await world.client.status()).healthz).toContain(`another key for the secret ${id}`);
    expect(Buffer.from(await world.client.decrypt(sealed, "u"))).toEqual(plain);
    expect(await world.metrics.render()).toContain('causeway_barbican_kms_key_reads_total{outcome="changed"} 1');
    await world.stop();
    await world.run();
    await expect(world.client.decrypt(sealed, "u")).rejects.toThrow("another key than the data was encrypted with");
    await world.stop();
    world.simulator.setFaults(undefined);
    await world.run();
    expect((await world.client.status()).healthz).toBe("ok");
    expect(Buffer.from(await world.client.decrypt(sealed, "u"))).toEqual(plain);
  });

  it("keeps its key after a 404 that is not Barbican's, and ends it after two of Barbican's", async () => {
    world.configure(await world.secret(randomBytes(32)), "key-lifetime = 1s\n");
    await world.run();
    const sealed = await world.client.encrypt(plain, "u");
    const reads = async (): Promise<void> => {
      await world.clock.advance(11_000);
      expect(Buffer.from(await world.client.decrypt(sealed, "u"))).toEqual(plain);
    };
    payloadIs("<html><body>no secret route</body></html>", 404, "text/html");
    for (let i = 0; i < 3; i++) await reads();
    payloadIs({ message: "no Route matched" }, 404, "application/json");
    for (let i = 0; i < 3; i++) await reads();
    payloadIs({ code: 404, title: "Not Found", description: "Secret not found." }, 404, "application/json");
    await reads();
    payloadIs({}, 400, "application/json");
    await reads();
    payloadIs({ code: 404, title: "Not Found", description: "Secret not found." }, 404, "application/json");
    await world.clock.advance(11_000);
    await expect(world.client.decrypt(sealed, "u")).rejects.toThrow("is not in Barbican");
  });

  it("leaves the socket of a plugin that runs", async () => {
    world.configure(await world.secret(randomBytes(32)));
    await world.run();
    const { running, ending } = world;
    await expect(world.run()).rejects.toMatchObject({ code: "KMS_ENDPOINT_IN_USE" });
    world.running = running;
    world.ending = ending;
    expect((await world.client.status()).healthz).toBe("ok");
  });

  it("accepts unknown keys of its sections with a warning, and sections of other programs without one", async () => {
    world.configure(await world.secret(randomBytes(32)), "colour = red\n[LoadBalancer]\nlb-provider = ovn\n");
    await world.run();
    const warnings = world.lines.filter((line) => line.includes("is not known"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("key colour of [keymanager] is not known");
  });

  it.each<[string, string]>([
    ["without a key id", "[Global]\nauth-url = http://127.0.0.1:1/v3\nusername = a\npassword = b\ntenant-name = c\n"],
    ["with a key id that is no id", "[Global]\nauth-url = http://127.0.0.1:1/v3\n[KeyManager]\nkey-id = key1\n"],
    [
      "with a lifetime that is not a duration",
      `[KeyManager]\nkey-id = 0b9a2f1e-5c7d-4a3b-9e8f-112233445566\nkey-lifetime = soon\n[Global]\nauth-url = http://127.0.0.1:1/v3\nusername = a\npassword = b\ntenant-name = c\n`,
    ],
  ])("does not start %s", async (_what, content) => {
    writeFileSync(join(world.dir, "cloud.conf"), content);
    await expect(world.run()).rejects.toMatchObject({ code: "KMS_CONFIG_INVALID" });
  });
});
