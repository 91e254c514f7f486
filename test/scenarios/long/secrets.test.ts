/**
 * Secrets appear in no log, event, error or status: a whole demo at log level debug, and every object but the Secrets
 * themselves.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createClient, loadKubeconfig, Secret, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { deleteDemo, demoGone, openStage, type Stage } from "../../support/stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

describe("a demo at log level debug, from its start to its deletion", () => {
  let stage: Stage;
  let output = "";
  /**
   * Everything that both API servers showed at the end of the start, and at the end of the deletion; Secrets left out.
   */
  const objects: KubeObject[] = [];
  /** What must not be found, by what it is. */
  const secrets = new Map<string, string>();

  beforeAll(async () => {
    stage = await openStage();
    const system = stage.up("--demo", "--log-level", "debug");
    await system.until(/demo ready: .*\n/);
    const management = stage.client();
    const workload = createClient(loadKubeconfig({ path: join(stage.dir, "state", "demo.kubeconfig") }));
    for (const client of [management, workload]) {
      for (const secret of (await client.list(Secret)).items) gather(secrets, secret);
      objects.push(...(await everything(client)));
    }
    for (const machine of stage.simulator.machines()) secrets.set(`user data of ${machine.name}`, machine.userData);
    for (const line of stage.simulator.cloudsYaml.matchAll(/password: "?([^"\n]+)"?/g))
      secrets.set(`password ${secrets.size}`, line[1] ?? "");
    await deleteDemo(stage);
    await demoGone(stage);
    objects.push(...(await everything(management)));
    await Promise.all([management.close(), workload.close()]);
    await system.stop();
    output = system.output();
  });
  afterAll(() => stage?.close());

  test("there was something to search for, and something to search in", () => {
    expect(secrets.size).toBeGreaterThan(8);
    expect([...secrets.values()].every((value) => value.length >= 6)).toBe(true);
    expect(output.length).toBeGreaterThan(10_000);
    expect(objects.length).toBeGreaterThan(100);
    expect(objects.some((object) => object.kind === "Event")).toBe(true);
  });

  test("the log has none of them", () => {
    expect(found(output)).toEqual([]);
  });

  test("no object but a Secret has any of them", () => {
    for (const object of objects)
      expect(found(JSON.stringify(object)), `${object.kind} ${object.metadata.name}`).toEqual([]);
  });

  test("nothing that looks like a private key, a token of Keystone or a token of kubeadm is in the log or in an object", () => {
    const text = [output, ...objects.map((object) => JSON.stringify(object))].join("\n");
    expect(text).not.toMatch(/BEGIN [A-Z ]*PRIVATE KEY/);
    expect(text).not.toMatch(/gAAAA[\w-]{20,}/);
    expect(text).not.toMatch(/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/);
    expect(text).not.toMatch(/eyJ[\w-]{10,}\.eyJ[\w-]{10,}/);
    expect(text).not.toMatch(/[Bb]earer [\w.~+/-]{16,}/);
  });

  test("in the state folder, only the files that are there for it are readable, and only by their owner", () => {
    const state = join(stage.dir, "state");
    const plain = readdirSync(state, { withFileTypes: true }).filter((entry) => entry.isFile());
    for (const entry of plain) {
      if (entry.name.endsWith("kubeconfig") || entry.name === "clouds.yaml") continue;
      expect(found(readFileSync(join(state, entry.name), "utf8")), entry.name).toEqual([]);
    }
  });

  function found(text: string): string[] {
    return [...secrets].filter(([, value]) => forms(value).some((form) => text.includes(form))).map(([name]) => name);
  }
});

/** A secret as it is, as it is in JSON, and in base64. */
function forms(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), Buffer.from(value, "utf8").toString("base64")];
}

function gather(secrets: Map<string, string>, secret: Secret): void {
  for (const [key, encoded] of Object.entries(secret.data ?? {})) {
    const value = Buffer.from(encoded, "base64").toString("utf8");
    const open =
      /^(tls\.crt|ca\.crt|namespace|token-id|usage-.*|expiration|auth-extra-groups|description|format)$/.test(key);
    if (!open && value.length >= 6) secrets.set(`${secret.metadata.name}/${key}`, value);
    for (const key64 of value.matchAll(/client-key-data: ([A-Za-z0-9+/=]{40,})/g))
      secrets.set(`${secret.metadata.name}/${key} client key`, key64[1] ?? "");
  }
}

interface Discovered {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly verbs: readonly string[] }[];
}

/** Every object of every kind that an API server lists, Secrets left out. */
async function everything(client: KubernetesClient): Promise<KubeObject[]> {
  const groups = (await client.request("GET", "/apis")) as {
    groups: { preferredVersion: { groupVersion: string } }[];
  };
  const roots = ["/api/v1", ...groups.groups.map((group) => `/apis/${group.preferredVersion.groupVersion}`)];
  const objects: KubeObject[] = [];
  for (const root of roots) {
    const { resources } = (await client.request("GET", root)) as Discovered;
    for (const resource of resources) {
      if (resource.name.includes("/") || resource.kind === "Secret" || !resource.verbs.includes("list")) continue;
      const list = (await client.request("GET", `${root}/${resource.name}`)) as { items: KubeObject[] };
      objects.push(...list.items.map((item) => ({ ...item, kind: resource.kind })));
    }
  }
  return objects;
}
