/** The cluster commands of the program, as an operator uses them next to a running `causeway up`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { causeway, TIMEOUT, type Started } from "../../support/processes.ts";

vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

describe("cluster commands", () => {
  const dir = mkdtempSync(join(tmpdir(), "clusters-"));
  let up: Started;
  beforeAll(async () => {
    up = causeway(["up"], { cwd: dir });
    await up.until(/management\.kubeconfig/);
  });
  afterAll(async () => {
    await up.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function run(...args: readonly string[]): Promise<{ code: number | null; text: string }> {
    const started = causeway(args, { cwd: dir, env: { KUBECONFIG: "", OS_CLOUD: "", OS_CLIENT_CONFIG_FILE: "" } });
    const code = await started.ended;
    return { code, text: started.output() };
  }

  test("a cluster is created, listed, described, used and deleted", async () => {
    const created = await run("create", "cluster", "web", "--replicas", "2");
    expect(created).toEqual({ code: 0, text: expect.stringContaining("cluster default/web is ready") });

    const listed = await run("get", "clusters");
    expect(listed.text).toMatch(/^NAMESPACE +NAME +PHASE +VERSION +WORKERS READY +ENDPOINT +AGE\n/);
    expect(listed.text).toMatch(/\ndefault +web +Provisioned +v1\.34\.0 +2\/2 +\S+:\d+ +\d+s\n/);

    const described = await run("describe", "cluster", "web");
    expect(described.text).toMatch(/\nCluster\/web +True /);
    expect(described.text).toMatch(/─HostedControlPlane\/web +True /);
    expect(described.text.match(/─Machine\/web-workers-\S+ +True /g)).toHaveLength(2);

    const kubeconfig = await run("kubeconfig", "cluster", "web");
    expect(kubeconfig.text).toMatch(/^apiVersion: v1\n[\s\S]*client-certificate-data/);

    const again = await run("create", "cluster", "web");
    expect(again).toEqual({ code: 2, text: expect.stringContaining("CLUSTER_EXISTS") });

    const asked = await run("delete", "cluster", "web");
    expect(asked).toEqual({ code: 2, text: expect.stringContaining("DELETE_NOT_CONFIRMED") });
    expect(await run("delete", "cluster", "web", "--yes")).toEqual({ code: 0, text: "cluster default/web deleted\n" });
    expect(await run("get", "clusters")).toEqual({ code: 0, text: "There is no cluster.\n" });
  });

  test("wrong input makes nothing and says what there is", async () => {
    const flavor = await run("create", "cluster", "typo", "--flavor", "m1.smal");
    expect(flavor).toEqual({ code: 2, text: expect.stringMatching(/there is no flavor m1\.smal .*m1\.small/) });
    const name = await run("create", "cluster", "Upper");
    expect(name).toEqual({ code: 2, text: expect.stringContaining("CLUSTER_NAME_INVALID") });
    const missing = await run("describe", "cluster", "typo");
    expect(missing).toEqual({ code: 2, text: expect.stringContaining("CLUSTER_NOT_FOUND") });
    expect((await run("get", "clusters")).text).toBe("There is no cluster.\n");
  });

  test("generated manifests are those that create applies, the Cluster last", async () => {
    const { code, text } = await run("generate", "cluster", "kept", "--replicas", "1", "-n", "default");
    expect(code).toBe(0);
    const kinds = [...text.matchAll(/^kind: (\S+)$/gm)].map((m) => m[1]);
    expect(kinds).toEqual([
      "Secret",
      "OpenStackCluster",
      "HostedControlPlane",
      "OpenStackMachineTemplate",
      "KubeadmConfigTemplate",
      "MachineDeployment",
      "Cluster",
    ]);
  });
});
