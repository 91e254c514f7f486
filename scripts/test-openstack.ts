/**
 * `npm run test:openstack`: the suites that need a real OpenStack. Brings up tools/devcloud (Debian's own packages)
 * unless OS_CLIENT_CONFIG_FILE names another cloud, then runs test/openstack on it. `-- magnum.test process`: managed
 * clusters have control planes of Kubernetes' own programs, of two minors, which are built at first. `--
 * magnum-migration`: a cluster of the cloud's own Magnum is migrated, with masters and workers of real programs of the
 * minor before, which are built, too. Other arguments go to the test runner.
 */
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import {
  controlPlanePrograms,
  pinnedVersion,
  previousNodePrograms,
  previousPrograms,
  root,
  run,
} from "./kubernetes-programs.ts";
import { nodeEnvironment, releaseEnvironment } from "./node/environment.ts";
import { usageShown } from "./usage.ts";

const PROCESS = "process";
const MIGRATION = "magnum-migration";

/** For magnum.test.ts: the folder with both minors, and their versions. */
async function processRuntime(): Promise<Record<string, string>> {
  const [current, previous] = [await controlPlanePrograms(), await previousPrograms({ build: true })];
  if ("reason" in current) throw new Error(current.reason);
  if ("reason" in previous) throw new Error(previous.reason);
  const newest = pinnedVersion(resolve(root, "tools/kubernetes"), "k8s.io/kubernetes");
  return { CAUSEWAY_MAGNUM_PROGRAMS: current.dir, CAUSEWAY_MAGNUM_VERSIONS: `${previous.version} ${newest}` };
}

/** For magnum-migration.test.ts: programs of the source's minor, its kubelet, and images for its pods. */
async function migrationRig(): Promise<Record<string, string>> {
  if (process.env["CAUSEWAY_MIGRATION_SOURCE"] === "previous") {
    const [previous, node] = [await previousPrograms({ build: true }), await previousNodePrograms()];
    if ("reason" in previous) throw new Error(previous.reason);
    if ("reason" in node) throw new Error(node.reason);
    const { dir, version } = previous;
    const machines = await releaseEnvironment(join(node.dir, "kube-proxy"), version);
    if ("reason" in machines) throw new Error(machines.reason);
    return rigOf({ programs: dirname(dir), version, kubelet: join(node.dir, "kubelet"), images: machines.images });
  }
  const nodes = await nodeEnvironment();
  if ("reason" in nodes) throw new Error(nodes.reason);
  const current = await controlPlanePrograms();
  if ("reason" in current) throw new Error(current.reason);
  return rigOf({ programs: current.dir, version: nodes.version, kubelet: nodes.kubelet, images: nodes.images });
}

const rigOf = (rig: Readonly<Record<"programs" | "version" | "kubelet" | "images", string>>) => ({
  CAUSEWAY_MIGRATION_RIG: JSON.stringify(rig),
});

async function main(): Promise<number> {
  const cloud = await realCloud();
  if ("reason" in cloud) {
    console.log(`skipped: no real OpenStack here: ${cloud.reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const isProcess = process.argv.includes(PROCESS);
  const env = {
    ...process.env,
    OS_CLIENT_CONFIG_FILE: cloud.clouds,
    ...(isProcess ? await processRuntime() : {}),
    ...(process.argv.some((arg) => arg.startsWith(MIGRATION)) ? await migrationRig() : {}),
  };
  if (spawnSync("kubectl", ["version", "--client"]).error !== undefined) {
    console.log("installing kubectl (Debian's kubernetes-client)");
    await run("apt-get", ["install", "-y", "-q", "kubernetes-client"], { cwd: root, env });
  }
  if (spawnSync("mkfs.xfs", ["-V"]).error !== undefined) {
    console.log("installing mkfs.xfs (Debian's xfsprogs)");
    await run("apt-get", ["install", "-y", "-q", "xfsprogs"], { cwd: root, env });
  }
  const vitest = resolve(root, "node_modules/.bin/vitest");
  const args = [
    "run",
    "--config",
    "vitest.openstack.config.ts",
    ...process.argv.slice(2).filter((arg) => arg !== PROCESS),
  ];
  return run(vitest, args, { cwd: root, env });
}

process.exitCode = usageShown(import.meta.filename) ? 0 : await main();
