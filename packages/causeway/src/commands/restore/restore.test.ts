import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { expect, test, vi } from "vitest";
import type { RestoreControlPlaneOptions } from "./command.ts";
import { restoreControlPlane } from "./control-plane.ts";

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
