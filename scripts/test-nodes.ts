/**
 * `npm run test:nodes`: real containers on real kubelets, in the namespaces of a real OpenStack's servers (tools/node,
 * tools/devcloud). Installs and builds what is missing. `-- process`: the control plane is Kubernetes' own (etcd,
 * kube-apiserver, kube-controller-manager, kube-scheduler) instead of the embedded one. `-- overlay`: pods of different
 * nodes reach each other by VXLAN (flannel) instead of routes of the cloud. Other arguments go to the test runner.
 */
import { resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import { controlPlanePrograms, kubernetesBinaries, root, run } from "./kubernetes-programs.ts";
import { nodeEnvironment } from "./node/environment.ts";

const PROCESS = "process";
const OVERLAY = "overlay";

async function main(): Promise<number> {
  const cloud = await realCloud();
  const nodes = "reason" in cloud ? cloud : await nodeEnvironment();
  const client = "reason" in nodes ? nodes : await kubernetesBinaries(["kubectl"]);
  const isProcess = process.argv.includes(PROCESS);
  const plane = !isProcess || "reason" in client ? client : await controlPlanePrograms();
  if ("reason" in cloud || "reason" in nodes || "reason" in client || "reason" in plane) {
    const reason = [cloud, nodes, client, plane].find((part) => "reason" in part) as { readonly reason: string };
    console.log(`skipped: no real nodes here: ${reason.reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const env = {
    ...process.env,
    OS_CLIENT_CONFIG_FILE: cloud.clouds,
    CAUSEWAY_NODE_KUBELET: nodes.kubelet,
    CAUSEWAY_NODE_IMAGES: nodes.images,
    CAUSEWAY_NODE_VERSION: nodes.version,
    ...(process.argv.includes(OVERLAY) && { CAUSEWAY_NODES_OVERLAY: "1" }),
    ...(isProcess && { CAUSEWAY_NODES_PROGRAMS: plane.dir }),
    PATH: `${client.dir}:${process.env["PATH"] ?? ""}`,
  };
  const vitest = resolve(root, "node_modules/.bin/vitest");
  return run(
    vitest,
    [
      "run",
      "--config",
      "vitest.nodes.config.ts",
      ...process.argv.slice(2).filter((arg) => arg !== PROCESS && arg !== OVERLAY),
    ],
    { cwd: root, env },
  );
}

process.exitCode = await main();
