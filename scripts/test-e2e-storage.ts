/**
 * `npm run test:e2e:storage`: the external-storage specs of Kubernetes' own e2e suite, unchanged, with our Cinder driver, real kubelets (tools/node)
 * and a real OpenStack (tools/devcloud). Installs and builds what is missing. Arguments: groups of test/e2e/storage/groups.ts, or --all.
 */
import { resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import { e2ePrograms, kubernetesBinaries, root, run } from "./kubernetes-programs.ts";
import { storageEnvironment } from "./node/environment.ts";
import { DRIVER_IMAGE } from "./node/storage-images.ts";

async function main(): Promise<number> {
  const cloud = await realCloud();
  const nodes = "reason" in cloud ? cloud : await storageEnvironment();
  const client = "reason" in nodes ? nodes : await kubernetesBinaries(["kubectl"]);
  const suite = "reason" in client ? client : await e2ePrograms(["e2e-storage"]);
  if ("reason" in cloud || "reason" in nodes || "reason" in client || "reason" in suite) {
    const [found] = [cloud, nodes, client, suite].flatMap((part) => ("reason" in part ? [part.reason] : []));
    console.log(`skipped: no tests of storage here: ${found}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const env = {
    ...process.env,
    OS_CLIENT_CONFIG_FILE: cloud.clouds,
    CAUSEWAY_NODE_KUBELET: nodes.kubelet,
    CAUSEWAY_NODE_IMAGES: nodes.images,
    CAUSEWAY_NODE_VERSION: nodes.version,
    CAUSEWAY_CSI_IMAGE: DRIVER_IMAGE,
    CAUSEWAY_KUBERNETES_BINARIES: client.dir,
    CAUSEWAY_E2E_PROGRAMS: suite.dir,
    PATH: `${client.dir}:${process.env["PATH"] ?? ""}`,
  };
  return run(process.execPath, [resolve(root, "test/e2e/storage/main.ts"), ...process.argv.slice(2)], {
    cwd: root,
    env,
  });
}

process.exitCode = await main();
