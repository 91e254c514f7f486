/** clusterctl, unmodified, with the repository of our providers that `causeway generate provider` writes. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { certManager } from "./cluster-api/cert-manager.ts";
import { apply } from "./cluster-api/install.ts";
import { items, type Json } from "./cluster-api/world.ts";
import { kubectlOn } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { execute } from "./run.ts";
import { startServer } from "./servers.ts";

const { clusterApi, kubectls } = programs();
const minutes = 60_000;
const root = join(import.meta.dirname, "../..");

describe("the repository of our providers", { timeout: 3 * minutes }, () => {
  if ("reason" in clusterApi) test.skip(`all (${clusterApi.reason})`);
  else scenario(clusterApi.dir);
});

function scenario(dir: string): void {
  test("clusterctl installs the core, bootstrap and control-plane providers from it", async () => {
    const server = await startServer("causeway");
    try {
      const k = kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "", minor: 34 });
      const repository = join(server.dir, "providers");
      const start = join(root, "packages/causeway/src/start.js");
      const made = spawnSync(process.execPath, [start, "generate", "provider", repository], { encoding: "utf8" });
      expect([made.status, made.stderr]).toEqual([0, ""]);
      await apply(k, certManager);
      await k.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
      const config = join(repository, "clusterctl.yaml");
      const chosen = [
        "--core",
        "cluster-api:v0.1.0",
        "--bootstrap",
        "kubeadm:v0.1.0",
        "--control-plane",
        "kubeadm:v0.1.0",
      ];
      const done = await execute(join(dir, "clusterctl"), ["init", "--config", config, ...chosen], {
        env: { KUBECONFIG: server.kubeconfig, HOME: server.dir },
      });
      expect(done.code, done.stderr).toBe(0);
      const providers = await items(k, "providers.clusterctl.cluster.x-k8s.io", "-A");
      expect(providers.map((one) => `${String(one["type"])} ${String(one["providerName"])}`).toSorted()).toEqual([
        "BootstrapProvider kubeadm",
        "ControlPlaneProvider kubeadm",
        "CoreProvider cluster-api",
      ]);
      await k.run("wait", "--for=condition=Established", "crd/machines.cluster.x-k8s.io", "--timeout=60s");
      // No manager runs here that would answer.
      await k.run("delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "--all");
      const machines = (await items(k, "crd")).find(
        (crd) => ((crd["spec"] as Json)["names"] as Json)["kind"] === "Machine",
      );
      expect(machines?.["spec"]).toMatchObject({ conversion: { strategy: "Webhook" } });

      // The tree is read from every kind of the core provider, MachinePool among them.
      const version = { apiVersion: "cluster.x-k8s.io/v1beta2" };
      const template = {
        spec: {
          clusterName: "demo",
          bootstrap: { dataSecretName: "data" },
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "Stub", name: "pool" },
        },
      };
      await apply(k, [
        { ...version, kind: "Cluster", metadata: { name: "demo", namespace: "default" }, spec: { paused: true } },
        {
          ...version,
          kind: "MachinePool",
          metadata: {
            name: "pool",
            namespace: "default",
            labels: { "cluster.x-k8s.io/cluster-name": "demo" },
          },
          spec: { clusterName: "demo", replicas: 2, template },
        },
      ]);
      const tree = await execute(join(dir, "clusterctl"), ["describe", "cluster", "demo", "--namespace", "default"], {
        env: { KUBECONFIG: server.kubeconfig, HOME: server.dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" },
      });
      expect(tree.code, tree.stderr).toBe(0);
      expect(tree.stdout).toMatch(/Cluster\/demo/);
      expect(tree.stdout).toMatch(/MachinePool\/pool/);
    } finally {
      await server.close();
    }
  });
}
