/**
 * `npm run test:nodes`: real containers on real kubelets, in the namespaces of a real OpenStack's servers (tools/node,
 * tools/devcloud). Installs and builds what is missing. `-- process`: the control plane is Kubernetes' own (etcd,
 * kube-apiserver, kube-controller-manager, kube-scheduler) instead of the embedded one. `-- overlay`: pods of different
 * nodes reach each other by VXLAN (flannel) instead of routes of the cloud. In place of the life of a cluster, on one
 * of these control planes: `-- verbs` has what kubectl does through the tunnel, `-- repairs` what becomes of deleted
 * and broken add-ons. `-- kubeadm`: a control plane of machines that kubeadm makes, of two minors, in place of all
 * that. `-- service-cluster`: HostedControlPlanes of runtime Pods on three such workers. Other arguments go to the
 * test runner.
 */
import { resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import { controlPlanePrograms, kubernetesBinaries, root, run } from "./kubernetes-programs.ts";
import { nodeEnvironment, processEnvironment, serviceEnvironment } from "./node/environment.ts";
import { machineImages } from "./node/machine-images.ts";
import { usageShown } from "./usage.ts";

const PROCESS = "process";
const OVERLAY = "overlay";
const KUBEADM = "kubeadm";
const SERVICE = "service-cluster";

/** What is tested, if not the life of a cluster. */
const STORIES = [KUBEADM, SERVICE, "verbs", "repairs"];

/** The test that the arguments name: a file in test/nodes. */
const story = STORIES.find((name) => process.argv.includes(name)) ?? "nodes";
const [isKubeadm, isService] = [story === KUBEADM, story === SERVICE];

async function main(): Promise<number> {
  const cloud = await realCloud();
  const isProcess = process.argv.includes(PROCESS) || isService;
  const environment = isService ? serviceEnvironment : isProcess ? processEnvironment : nodeEnvironment;
  const nodes = "reason" in cloud ? cloud : await environment();
  const client = "reason" in nodes ? nodes : await kubernetesBinaries(["kubectl"]);
  const machines = !isKubeadm || "reason" in client ? [] : await machineImages();
  const plane = !isProcess || "reason" in client ? client : await controlPlanePrograms();
  if ("reason" in cloud || "reason" in nodes || "reason" in client || "reason" in plane || "reason" in machines) {
    const reason = [cloud, nodes, client, plane, machines].find((part) => "reason" in part) as {
      readonly reason: string;
    };
    console.log(`skipped: no real nodes here: ${reason.reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const env = {
    ...process.env,
    OS_CLIENT_CONFIG_FILE: cloud.clouds,
    CAUSEWAY_NODE_KUBELET: nodes.kubelet,
    CAUSEWAY_NODE_IMAGES: nodes.images,
    CAUSEWAY_NODE_VERSION: nodes.version,
    ...(nodes.previous && { CAUSEWAY_NODE_PREVIOUS: nodes.previous }),
    ...(process.argv.includes(OVERLAY) && { CAUSEWAY_NODES_OVERLAY: "1" }),
    ...(isKubeadm && { CAUSEWAY_NODE_MACHINES: machines.map(({ folder }) => folder).join(":") }),
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
      `test/nodes/${story}.test.ts`,
      ...process.argv.slice(2).filter((arg) => ![PROCESS, OVERLAY, ...STORIES].includes(arg)),
    ],
    { cwd: root, env },
  );
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
