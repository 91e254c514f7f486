/** `causeway run barbican-kms` under a real kube-apiserver: what is in etcd, rotation, restarts, Barbican away. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, loadKubeconfig, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { startApiServer } from "@causeway/apiserver";
import { startKubeApiserver, type KubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { freePorts } from "../support/free-ports.ts";
import { Stage } from "./keystone/stage.ts";
import { programs } from "./programs.ts";
import type { RunningProgram } from "./run.ts";
import { administrator } from "./servers.ts";

const HIDDEN = "a-word-that-no-record-in-etcd-may-show";

describe("kube-apiserver with keys from Barbican", () => {
  const { kubernetes } = programs();
  if ("reason" in kubernetes) {
    test.skip(`encryption at rest (${kubernetes.reason})`);
    return;
  }
  let stage: Stage;
  let plugin: RunningProgram;
  let server: KubeApiserver;
  let client: KubernetesClient;
  let first: string;
  let second: string;
  const socket = (): string => join(stage.dir, "kms.sock");

  beforeAll(async () => {
    stage = await Stage.start();
    [port = 0] = await freePorts(1);
    [first, second] = [await secret(), await secret()];
    configure(first);
    plugin = await startPlugin();
    const kms = { apiVersion: "v2", name: "barbican", endpoint: `unix://${socket()}`, timeout: "3s" };
    const encryption = {
      apiVersion: "apiserver.config.k8s.io/v1",
      kind: "EncryptionConfiguration",
      resources: [{ resources: ["secrets"], providers: [{ kms }, { identity: {} }] }],
    };
    server = await startKubeApiserver({
      flags: [`--encryption-provider-config=${stage.write("encryption.json", JSON.stringify(encryption))}`],
    });
    client = createClient(loadKubeconfig({ text: await administrator(server) }));
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
    await stage?.close();
  });

  async function secret(): Promise<string> {
    const cloud = stage.cloud();
    const reference = await cloud.keyManager.secrets.create({
      name: "kek",
      secret_type: "symmetric",
      payload: randomBytes(32).toString("base64"),
      payload_content_type: "application/octet-stream",
      payload_content_encoding: "base64",
    });
    await cloud.close();
    return reference.split("/").at(-1) ?? "";
  }

  function configure(keyId: string): string {
    const global = `[Global]\nuse-clouds = true\nclouds-file = ${join(stage.dir, "clouds.yaml")}\ncloud = simulator\n`;
    return stage.write("cloud.conf", `${global}[KeyManager]\nkey-id = ${keyId}\n`);
  }

  let port: number;
  async function startPlugin(): Promise<RunningProgram> {
    const started = stage.run(
      "run",
      "barbican-kms",
      "--socketpath",
      socket(),
      "--cloud-config",
      join(stage.dir, "cloud.conf"),
      "--metrics-address",
      `127.0.0.1:${port}`,
    );
    await started.until(/the KMS plugin listens/);
    return started;
  }

  async function write(name: string): Promise<Buffer> {
    const metadata = { name, namespace: "default" };
    await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, stringData: { a: HIDDEN } });
    return (await server.record(`/registry/secrets/default/${name}`)) ?? Buffer.alloc(0);
  }

  async function read(name: string): Promise<string> {
    const { data } = await client.get(Secret, { namespace: "default", name });
    return Buffer.from(data?.["a"] ?? "", "base64").toString();
  }

  test("writes Secrets to etcd under a key that Barbican's secret has encrypted", async () => {
    const record = await write("one");
    expect(record.subarray(0, 24).toString("latin1")).toBe("k8s:enc:kms:v2:barbican:");
    expect(record.includes(HIDDEN)).toBe(false);
    expect(record.includes(first)).toBe(true);
    expect(await read("one")).toBe(HIDDEN);
  });

  test("reads them after a restart of itself and of the plugin", async () => {
    await plugin.stop();
    plugin = await startPlugin();
    await server.restart();
    expect(await read("one")).toBe(HIDDEN);
  });

  test("writes with the new key after a rotation, and reads what the old one encrypted, also after a restart", async () => {
    configure(second);
    await plugin.until(/new data is encrypted with another key/);
    let count = 0;
    // It reads the plugin's status once a minute.
    await expect
      .poll(async () => (await write(`rotated-${(count += 1)}`)).includes(second), {
        timeout: 110_000,
        interval: 2_000,
      })
      .toBe(true);
    expect(await read("one")).toBe(HIDDEN);
    await server.restart();
    expect(await read("one")).toBe(HIDDEN);
    expect(await read(`rotated-${count}`)).toBe(HIDDEN);
  });

  test("reads and writes while Barbican is away, with the key that the plugin holds", async () => {
    stage.simulator.setFaults(({ service }) =>
      service === "key-manager" ? { when: "before", status: 503 } : undefined,
    );
    await server.restart();
    expect(await read("one")).toBe(HIDDEN);
    await write("during");
    expect(await read("during")).toBe(HIDDEN);
    stage.simulator.setFaults(undefined);
  });

  test("reports the plugin's reason in its health when Barbican's secret is gone", async () => {
    const cloud = stage.cloud();
    await cloud.keyManager.secrets.delete(second);
    await cloud.close();
    await plugin.stop();
    plugin = await startPlugin();
    const health = async (): Promise<string> => {
      try {
        return JSON.stringify(await client.request("GET", "/readyz/kms-providers"));
      } catch (error) {
        return String(error);
      }
    };
    await expect.poll(health, { timeout: 110_000, interval: 2_000 }).not.toContain("ok");
    const own = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect([own.status, await own.text()]).toEqual([503, expect.stringContaining(`The secret ${second} is not in`)]);
    expect(plugin.output()).not.toContain(HIDDEN);
  });

  test("serves our API server by the same configuration, over a restart and a rotation", async () => {
    const third = await secret();
    configure(first);
    await plugin.stop();
    plugin = await startPlugin();
    const dir = join(stage.dir, "apiserver");
    const start = () => startApiServer({ dir, encryption: { configurationFile: join(stage.dir, "encryption.json") } });
    const shows = (word: string): boolean =>
      readdirSync(dir).some(
        (name) => statSync(join(dir, name)).isFile() && readFileSync(join(dir, name)).includes(word),
      );
    for (const [round, keyId] of [first, first, third].entries()) {
      configure(keyId);
      await plugin.stop();
      plugin = await startPlugin();
      const ours = await start();
      const user = createClient(loadKubeconfig({ text: await ours.management.kubeconfig() }));
      const metadata = { name: `round-${round}`, namespace: "default" };
      await user.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, stringData: { a: HIDDEN } });
      for (let before = 0; before <= round; before++) {
        const { data } = await user.get(Secret, { namespace: "default", name: `round-${before}` });
        expect(Buffer.from(data?.["a"] ?? "", "base64").toString()).toBe(HIDDEN);
      }
      await user.close();
      await ours.close();
      expect(shows(HIDDEN) || shows(Buffer.from(HIDDEN).toString("base64"))).toBe(false);
    }
  });
});
