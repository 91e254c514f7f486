import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { describe, expect, test, vi } from "vitest";
import type { RestoreControlPlaneOptions } from "./command.ts";
import { restoreControlPlane } from "./control-plane.ts";
import { planRestore, type RestoreInput, type RestoreSource } from "./plan-restore.ts";

const input = (changes: Partial<RestoreInput> = {}): RestoreInput => ({
  key: { namespace: "tenants", name: "copy" },
  from: "web",
  withCloud: false,
  ...changes,
});
const network = {
  services: { cidrBlocks: ["10.97.0.0/16"] },
  pods: { cidrBlocks: ["10.98.0.0/16"] },
  serviceDomain: "x",
};
const source: RestoreSource = {
  object: {
    metadata: { namespace: "tenants", name: "web", uid: "uid-1" },
    spec: {
      version: "v1.34.4",
      runtime: "Pods",
      replicas: 0,
      endpoint: { host: "192.0.2.1" },
      limits: { bytes: 2 ** 28 },
      backup: { keepDays: 3 },
      authorities: { rotateAfter: "2026-01-01T00:00:00Z" },
      pods: { size: "Medium", cloudConfigSecret: "web-cloud" },
    },
    status: {
      version: "v1.34.1",
      backup: {
        folder: "tenants/web/uid-1",
        points: 9,
        oldest: "2026-01-01T00:00:00Z",
        newest: "2026-01-09T00:00:00Z",
      },
    },
  } as HostedControlPlane,
  cluster: { spec: { clusterNetwork: network } } as Cluster,
};
const gone: RestoreSource = { object: undefined, cluster: undefined };

describe("a restored control plane", () => {
  test("has the settings of the old one, but not its place, rotation and cloud", () => {
    const { cluster, controlPlane } = planRestore(input({ at: "2026-01-02T03:00:00Z" }), source);
    expect(controlPlane.spec).toEqual({
      version: "v1.34.1",
      runtime: "Pods",
      replicas: 1,
      limits: { bytes: 2 ** 28 },
      backup: { keepDays: 3 },
      pods: { size: "Medium" },
      restore: { from: "web/uid-1", at: "2026-01-02T03:00:00.000Z" },
    });
    expect(cluster.spec.clusterNetwork).toEqual(network);
    expect(cluster.spec.controlPlaneRef?.name).toBe("copy");
  });

  test.each<[string, Partial<RestoreInput>, RestoreSource, object]>([
    [
      "the cloud of the old one, if so requested",
      { withCloud: true },
      source,
      { pods: { cloudConfigSecret: "web-cloud" } },
    ],
    ["another endpoint", { endpoint: "192.0.2.9" }, source, { endpoint: { host: "192.0.2.9" } }],
    ["another runtime", { runtime: "Process" }, source, { runtime: "Process", limits: { bytes: 2 ** 28 } }],
    [
      "what the options say, when the old one is gone",
      { from: "web/uid-1", kubernetesVersion: "v1.34.4", runtime: "Pods" },
      gone,
      { version: "v1.34.4", restore: { from: "web/uid-1" } },
    ],
    [
      "nothing of a new one that has the old one's name",
      { from: "web/uid-0", kubernetesVersion: "v1.33.0", runtime: "Process" },
      source,
      { version: "v1.33.0", runtime: "Process", restore: { from: "web/uid-0" } },
    ],
  ])("has %s", (_, changes, from, expected) => {
    const { controlPlane } = planRestore(input(changes), from);
    expect(controlPlane.spec).toMatchObject(expected);
    if (changes.runtime === "Process") expect(controlPlane.spec).not.toHaveProperty("pods");
  });

  test("has the networks of the options, and default ones without the old one", () => {
    const changes = { from: "web/uid-1", kubernetesVersion: "v1.34.4", runtime: "Pods" } as const;
    const { cluster } = planRestore(input({ ...changes, serviceCidr: "10.50.0.0/16" }), gone);
    expect(cluster.spec.clusterNetwork).toEqual({
      services: { cidrBlocks: ["10.50.0.0/16"] },
      pods: { cidrBlocks: ["10.244.0.0/16"] },
    });
  });

  test.each<[string, Partial<RestoreInput>, RestoreSource, string]>([
    ["a name that is none of a cluster", { key: { namespace: "a", name: "1" } }, source, "CLUSTER_NAME_INVALID"],
    ["another namespace", { from: "other/web/uid" }, source, "FLAG_INVALID"],
    ["a time that is none", { at: "yesterday" }, source, "FLAG_INVALID"],
    ["a day without a time", { at: "2026-01-02" }, source, "FLAG_INVALID"],
    ["a time before the oldest backup", { at: "2025-12-31T23:00:00Z" }, source, "BACKUP_POINT_MISSING"],
    ["a network that is none", { podCidr: "10.0.0.0" }, source, "FLAG_INVALID"],
    ["one that does not exist, by its name", {}, gone, "RESTORE_NOT_POSSIBLE"],
    ["one that does not exist, without a version", { from: "web/uid-1" }, gone, "RESTORE_NOT_POSSIBLE"],
    [
      "one that was never backed up",
      {},
      { ...source, object: { ...source.object, status: {} } as HostedControlPlane },
      "RESTORE_NOT_POSSIBLE",
    ],
  ])("is refused with %s", (_, changes, from, code) => {
    expect(() => planRestore(input(changes), from)).toThrow(expect.objectContaining({ code }) as Error);
  });
});

test("causeway restore control-plane creates both objects or none, and nothing over another", async () => {
  const dir = mkdtempSync(join(tmpdir(), "restore-command-"));
  const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  const text = await server.management.kubeconfig();
  const client = createClient(loadKubeconfig({ text }));
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, text);
  const options = (changes: Partial<RestoreControlPlaneOptions>): RestoreControlPlaneOptions => ({
    from: "web/uid-1",
    kubernetesVersion: "v1.34.4",
    runtime: "Process",
    namespace: "default",
    withCloud: false,
    dryRun: false,
    wait: false,
    timeout: 1,
    output: "table",
    kubeconfig,
    ...changes,
  });
  const signal = new AbortController().signal;
  const written: string[] = [];
  const stdout = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
  try {
    await restoreControlPlane("copy", options({ dryRun: true, output: "yaml" }), signal);
    expect(written.join("")).toMatch(/kind: Cluster[\s\S]*---[\s\S]*restore:\n +from: web\/uid-1/);
    written.length = 0;
    await restoreControlPlane("copy", options({ dryRun: true, output: "json" }), signal);
    expect(JSON.parse(written.join(""))).toMatchObject({ kind: "List", items: [{ kind: "Cluster" }, {}] });
    expect((await client.list(Cluster)).items).toEqual([]);
    await restoreControlPlane("copy", options({}), signal);
    const key = { namespace: "default", name: "copy" };
    const created = await client.get(HostedControlPlane, key);
    expect(created.spec).toMatchObject({ restore: { from: "web/uid-1" }, runtime: "Process" });
    expect(created.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", name: "copy" }]);
    await expect(restoreControlPlane("copy", options({}), signal)).rejects.toMatchObject({
      code: "RESTORE_NOT_POSSIBLE",
    });
    // The schema refuses this version: the Cluster does not remain.
    const refused = restoreControlPlane("other", options({ kubernetesVersion: "v1.10.0" }), signal);
    await expect(refused).rejects.toThrow(/not served/);
    expect((await client.list(Cluster)).items.map(({ metadata }) => metadata.name)).toEqual(["copy"]);
    await expect(
      restoreControlPlane("copy-2", options({ wait: true, kubernetesVersion: "v1.34.4" }), signal),
    ).rejects.toMatchObject({
      code: "RESTORE_TIMEOUT",
    });
  } finally {
    stdout.mockRestore();
    await client.close();
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
