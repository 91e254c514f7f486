/** An old state of `causeway up`, restored from a backup next to a cloud that continued without it. */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster, OpenStackMachine } from "@causeway/api";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { causeway, TIMEOUT, type Started } from "../../support/processes.ts";

// It starts three programs one after the other.
vi.setConfig({ testTimeout: 3 * TIMEOUT, hookTimeout: TIMEOUT });

let dir = "";
const running: Started[] = [];
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "restored-"));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  for (const started of running.splice(0)) await started.stop();
  rmSync(dir, { recursive: true, force: true });
});

const demo = { namespace: "default", name: "demo" };

function start(...args: readonly string[]): Started {
  const started = causeway(args, { cwd: dir });
  running.push(started);
  return started;
}

function clientOf(state: string): KubernetesClient {
  const client = createClient(loadKubeconfig({ path: join(dir, state, "management.kubeconfig") }));
  closers.push(() => client.close());
  return client;
}

function cloudOf(state: string): Cloud {
  const cloud = connectCloud(loadCloudsYaml({ path: join(dir, state, "clouds.yaml"), cloud: "simulator" }));
  closers.push(() => cloud.close());
  return cloud;
}

test("a restored state deletes no whole resource in the cloud before it is confirmed, and deletes then", async () => {
  const first = start("up", "--demo", "--replicas", "1");
  await first.until(/demo ready/);
  expect(await start("backup", "monday").ended).toBe(0);
  await first.stop();
  expect(await start("restore", "monday", "--state", "second").ended).toBe(0);
  // The cloud has what it had.
  for (const name of ["simulator", "machines", "state.json"])
    cpSync(join(dir, ".causeway", name), join(dir, "second", name), { recursive: true });

  const held = start("up", "--state", "second");
  await held.until(/Deletions are held \(no server, .* is deleted\): the state was restored from monday at /);
  await held.until(/management API/);
  const client = clientOf("second");
  await client.delete(Cluster, demo);
  await vi.waitFor(
    async () => {
      const { items } = await client.list(OpenStackMachine, { namespace: "default" });
      expect(JSON.stringify(items.map(({ status }) => status?.conditions))).toMatch(
        /Deletions are held by the operator \(CLOUD_DELETIONS_HELD\)/,
      );
    },
    { timeout: TIMEOUT, interval: 100 },
  );
  expect(await cloudOf("second").compute.servers.all()).toHaveLength(1);
  await held.stop();

  // A start that fails confirms nothing.
  expect(await start("up", "--state", "second", "--confirm-restore", "--os-cloud", "nowhere").ended).not.toBe(0);
  expect(existsSync(join(dir, "second", "restored.json"))).toBe(true);

  const confirmed = start("up", "--state", "second", "--confirm-restore");
  await confirmed.until(/management API/);
  expect(confirmed.output()).not.toContain("Deletions are held");
  const again = clientOf("second");
  await vi.waitFor(async () => expect(await again.find(Cluster, demo)).toBeUndefined(), {
    timeout: TIMEOUT,
    interval: 100,
  });
  expect(await cloudOf("second").compute.servers.all()).toEqual([]);
});
