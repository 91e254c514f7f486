import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpenStackDeployment, type OpenStackDeploymentSpec } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { openStackOperator } from "./action.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function until<T>(check: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await check().catch(() => undefined);
    if (found !== undefined) return found;
    await systemClock.sleep(50);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((done) =>
    server.listen(0, "127.0.0.1", () => done((server.address() as { port: number }).port)),
  );
  await new Promise((done) => server.close(done));
  return port;
}

const spec: OpenStackDeploymentSpec = {
  release: "2025.1",
  region: "RegionOne",
  domain: "cloud.example.org",
  paused: true,
  nodeGroups: [{ name: "all", nodeSelector: { role: "all" }, roles: ["Control", "Compute", "Network"] }],
};
const object = (more: Partial<OpenStackDeploymentSpec>): OpenStackDeployment => ({
  apiVersion: "openstack.causeway.dev/v1alpha1",
  kind: "OpenStackDeployment",
  metadata: { name: "cloud", namespace: "default" },
  spec: { ...spec, ...more },
});
const wrong = (value: string, option = "cpu_allocation_ratio") => ({
  services: [{ name: "nova" as const, configuration: [{ section: "DEFAULT", option, value }] }],
});

test(
  "the operator refuses mistyped options at the write, by its path and with the nearest one, and serves metrics",
  { timeout: 120_000 },
  async () => {
    const server = await startApiServer({});
    closing.push(() => server.close());
    const text = await server.management.kubeconfig();
    const dir = mkdtempSync(join(tmpdir(), "causeway-operator-"));
    closing.push(() => rmSync(dir, { recursive: true }));
    const kubeconfig = join(dir, "kubeconfig");
    writeFileSync(kubeconfig, text);
    const client = createClient(loadKubeconfig({ text }));
    closing.push(() => client.close());
    const metricsAddress = `127.0.0.1:${await freePort()}`;
    const stop = new AbortController();
    const running = openStackOperator(
      {
        kubeconfig,
        installCrds: true,
        printCrds: false,
        webhookHost: "127.0.0.1",
        webhookPort: "0",
        bindAddress: "127.0.0.1",
        metricsAddress,
        leaderElect: "false",
        leaderElectNamespace: "default",
        logLevel: "silent",
      },
      stop.signal,
    );
    closing.push(async () => {
      stop.abort();
      await running;
    });
    const created = await until(() => client.create(OpenStackDeployment, object({})));
    expect(created.spec.paused).toBe(true);
    const key = { namespace: "default", name: "cloud" };
    const change = (more: Partial<OpenStackDeploymentSpec>) =>
      client.patch(OpenStackDeployment, key, { type: "merge", body: { spec: more } });
    await expect(change(wrong("4", "cpu_alocation_ratio"))).rejects.toThrow(
      "spec.services[0].configuration[0]: nova: [DEFAULT] cpu_alocation_ratio: no such option; did you mean cpu_allocation_ratio?",
    );
    await expect(change(wrong("many"))).rejects.toThrow(/"many" is not a number/);
    expect((await client.get(OpenStackDeployment, key)).spec.services).toBeUndefined();
    await change(wrong("4"));
    // What became wrong by another release is still a change that has to be right.
    await expect(change({ release: "2022.2" })).rejects.toThrow(/release cannot be lowered/);
    await client.patch(OpenStackDeployment, key, { type: "merge", body: { metadata: { labels: { a: "b" } } } });
    const metrics = await until(async () => {
      const found = await (await fetch(`http://${metricsAddress}/metrics`)).text();
      return found.includes('deployment="default/cloud"') ? found : undefined;
    });
    expect(metrics).toMatch(/causeway_operator_deployment_ready\{deployment="default\/cloud",phase="[^"]*"\} 0/);
  },
);
