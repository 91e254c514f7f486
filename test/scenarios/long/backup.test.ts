/** Backups by command: of a running API server, of a stopped one, and of `causeway up`. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConfigMap, createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { causeway, TIMEOUT, type Started } from "../../support/processes.ts";

vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

let dir = "";
const running: Started[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "backup-"));
});
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function run(...args: readonly string[]): Promise<{ code: number | null; text: string }> {
  const started = causeway(args, { cwd: dir });
  return { code: await started.ended, text: started.output() };
}

async function apiserver(state: string): Promise<Started> {
  const started = causeway(["apiserver", "--state", state], { cwd: dir });
  running.push(started);
  await started.until(/Ctrl-C/);
  return started;
}

async function withClient<T>(state: string, work: (client: KubernetesClient) => Promise<T>): Promise<T> {
  const client = createClient(loadKubeconfig({ path: join(dir, state, "admin.kubeconfig") }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const key = { namespace: "default", name: "kept" };
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: key, data: { a: "1" } } as const;

test("a backup of a running API server is restored into another folder, with the same UIDs", async () => {
  const first = await apiserver("first");
  const made = await withClient("first", (client) => client.create(ConfigMap, map));
  const written = await run("backup", "monday", "--state", "first");
  expect(written).toEqual({ code: 0, text: expect.stringMatching(/monday: revision \d+, \d+ bytes\n$/) });
  expect(statSync(join(dir, "monday")).mode & 0o777).toBe(0o600);
  await withClient("first", (client) => client.delete(ConfigMap, key));
  await first.stop();

  expect((await run("restore", "monday", "--state", "first", "--for", "apiserver")).text).toContain(
    "APISERVER_BACKUP_TARGET_TAKEN",
  );
  expect((await run("restore", "monday", "--state", "second", "--for", "apiserver")).code).toBe(0);
  await apiserver("second");
  const found = await withClient("second", (client) => client.get(ConfigMap, key));
  expect(found).toMatchObject({ metadata: { uid: made.metadata.uid }, data: { a: "1" } });
});

test("a stopped API server is backed up from its folder", async () => {
  const first = await apiserver("first");
  await withClient("first", (client) => client.create(ConfigMap, map));
  await first.stop();
  expect((await run("backup", "stopped", "--state", "first")).code).toBe(0);
  expect((await run("restore", "stopped", "--state", "second", "--for", "apiserver")).code).toBe(0);
  await apiserver("second");
  expect(await withClient("second", (client) => client.get(ConfigMap, key))).toMatchObject({ data: { a: "1" } });
});

test("causeway up is backed up while it runs, and what is not there is named", async () => {
  const up = causeway(["up"], { cwd: dir });
  running.push(up);
  await up.until(/management\.kubeconfig/);
  expect(await run("backup", "up.backup")).toEqual({ code: 0, text: expect.stringMatching(/up\.backup: revision/) });
  expect((await run("restore", "up.backup", "--state", "restored")).code).toBe(0);
  expect(await run("backup", "x", "--state", "nowhere")).toEqual({
    code: 2,
    text: expect.stringContaining("STATE_NOT_FOUND"),
  });
});
