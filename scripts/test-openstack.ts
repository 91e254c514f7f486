/**
 * `npm run test:openstack`: the suites that need a real OpenStack. Brings up tools/devcloud (Debian's own packages)
 * unless OS_CLIENT_CONFIG_FILE names another cloud, then runs test/openstack on it. `-- magnum.test process`: managed
 * clusters have control planes of Kubernetes' own programs, of two minors, which are built at first. Other arguments go
 * to the test runner.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import { controlPlanePrograms, pinnedVersion, previousPrograms, root, run } from "./kubernetes-programs.ts";

const PROCESS = "process";

/** For magnum.test.ts: the folder with both minors, and their versions. */
async function processRuntime(): Promise<Record<string, string>> {
  const [current, previous] = [await controlPlanePrograms(), await previousPrograms({ build: true })];
  if ("reason" in current) throw new Error(current.reason);
  if ("reason" in previous) throw new Error(previous.reason);
  const newest = pinnedVersion(resolve(root, "tools/kubernetes"), "k8s.io/kubernetes");
  return { CAUSEWAY_MAGNUM_PROGRAMS: current.dir, CAUSEWAY_MAGNUM_VERSIONS: `${previous.version} ${newest}` };
}

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

process.exitCode = await main();
