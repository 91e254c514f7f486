/**
 * `npm run test:e2e:storage`: the external-storage specs of Kubernetes' own e2e suite, unchanged, with our Cinder
 * driver, real kubelets (tools/node) and a real OpenStack (tools/devcloud). Installs and builds what is missing.
 * Arguments: groups of test/e2e/storage/groups.ts, or --all; with --upstream the driver is cinder-csi-plugin with the
 * stock sidecars.
 */
import { join, resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import { e2ePrograms, kubernetesBinaries, root, run, sidecarBinaries, upstreamProgram } from "./kubernetes-programs.ts";
import { storageEnvironment } from "./node/environment.ts";
import { DRIVER_IMAGE, UPSTREAM_IMAGE } from "./node/storage-images.ts";
import { usageShown } from "./usage.ts";

const UPSTREAM = "--upstream";

/**
 * Upstream's driver and the stock sidecars, as the tests read them from the environment; nothing unless
 * `--upstream` is given.
 */
async function upstreamEnvironment(): Promise<NodeJS.ProcessEnv | { readonly reason: string }> {
  if (!process.argv.includes(UPSTREAM)) return {};
  const sidecars = await sidecarBinaries();
  const driver = await upstreamProgram("cinder-csi-plugin");
  if ("reason" in sidecars) return sidecars;
  if ("reason" in driver) return driver;
  return {
    CAUSEWAY_SIDECARS: sidecars.dir,
    CAUSEWAY_UPSTREAM_CSI: join(driver.dir, "cinder-csi-plugin"),
    CAUSEWAY_UPSTREAM_CSI_IMAGE: UPSTREAM_IMAGE,
  };
}

async function main(): Promise<number> {
  const upstream = await upstreamEnvironment();
  const cloud = "reason" in upstream ? { reason: String(upstream.reason) } : await realCloud();
  const plugin = "CAUSEWAY_UPSTREAM_CSI" in upstream ? upstream["CAUSEWAY_UPSTREAM_CSI"] : undefined;
  const nodes = "reason" in cloud ? cloud : await storageEnvironment(plugin);
  const client = "reason" in nodes ? nodes : await kubernetesBinaries(["kubectl"]);
  const suite = "reason" in client ? client : await e2ePrograms(["e2e-storage"]);
  if ("reason" in cloud || "reason" in nodes || "reason" in client || "reason" in suite) {
    const [found] = [cloud, nodes, client, suite].flatMap((part) => ("reason" in part ? [part.reason] : []));
    console.log(`skipped: no tests of storage here: ${found}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const env = {
    ...process.env,
    ...upstream,
    OS_CLIENT_CONFIG_FILE: cloud.clouds,
    CAUSEWAY_NODE_KUBELET: nodes.kubelet,
    CAUSEWAY_NODE_IMAGES: nodes.images,
    CAUSEWAY_NODE_VERSION: nodes.version,
    CAUSEWAY_CSI_IMAGE: DRIVER_IMAGE,
    CAUSEWAY_KUBERNETES_BINARIES: client.dir,
    CAUSEWAY_E2E_PROGRAMS: suite.dir,
    PATH: `${client.dir}:${process.env["PATH"] ?? ""}`,
  };
  const chosen = process.argv.slice(2).filter((arg) => arg !== UPSTREAM);
  return run(process.execPath, [resolve(root, "test/e2e/storage/main.ts"), ...chosen], { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
