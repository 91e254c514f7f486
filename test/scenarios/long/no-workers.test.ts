/** A cluster without workers: its control plane serves, and its project has no server and no load balancer for it. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ConfigMap, createClient, loadKubeconfig } from "@causeway/kubernetes";
import { causeway, TIMEOUT, type Started } from "../../support/processes.ts";
import { openStage, settled, type Stage } from "../../support/stage.ts";

vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

let stage: Stage;
let up: Started;
beforeAll(async () => {
  stage = await openStage();
  up = stage.up("--log-level", "info");
  await up.until(/management\.kubeconfig/);
});
afterAll(() => stage?.close());

async function run(...args: readonly string[]): Promise<string> {
  const kubeconfig = join(stage.dir, "state", "management.kubeconfig");
  const env = { KUBECONFIG: kubeconfig, OS_CLOUD: "", OS_CLIENT_CONFIG_FILE: join(stage.dir, "clouds.yaml") };
  const started = causeway(args, { env });
  expect([args, await started.ended, started.output()]).toEqual([args, 0, expect.anything()]);
  return started.output();
}

/** Kinds of what the project has: "server", "loadbalancer", … */
const kinds = (): Set<string> => new Set(stage.inventory().map((line) => line.slice(0, line.indexOf(" "))));

test("a cluster without workers has an API that serves, and no server, volume or load balancer", async () => {
  const before = stage.inventory();
  await run("create", "cluster", "web", "--cloud", "simulator", "--replicas", "0");
  const tenant = createClient(loadKubeconfig({ text: await run("kubeconfig", "cluster", "web") }));
  try {
    const metadata = { namespace: "default", name: "kept" };
    await tenant.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} });
    expect((await tenant.get(ConfigMap, metadata)).metadata.uid).toBeTypeOf("string");
  } finally {
    await tenant.close();
  }
  // Its network is there for workers to come.
  expect([...kinds()]).toEqual(expect.arrayContaining(["network", "router"]));
  for (const costly of ["server", "volume", "loadbalancer", "floatingip"]) expect([...kinds()]).not.toContain(costly);
  await run("delete", "cluster", "web", "--yes");
  expect(await settled(stage, before)).toEqual(before);
});
