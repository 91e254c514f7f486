/**
 * `npm run test:openstack`: the suites that need a real OpenStack. Brings up tools/devcloud (Debian's own packages)
 * unless OS_CLIENT_CONFIG_FILE names another cloud, then runs test/openstack on it. Arguments go to the test runner.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { realCloud } from "./devcloud.ts";
import { root, run } from "./kubernetes-programs.ts";

async function main(): Promise<number> {
  const cloud = await realCloud();
  if ("reason" in cloud) {
    console.log(`skipped: no real OpenStack here: ${cloud.reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const env = { ...process.env, OS_CLIENT_CONFIG_FILE: cloud.clouds };
  if (spawnSync("kubectl", ["version", "--client"]).error !== undefined) {
    console.log("installing kubectl (Debian's kubernetes-client)");
    await run("apt-get", ["install", "-y", "-q", "kubernetes-client"], { cwd: root, env });
  }
  if (spawnSync("mkfs.xfs", ["-V"]).error !== undefined) {
    console.log("installing mkfs.xfs (Debian's xfsprogs)");
    await run("apt-get", ["install", "-y", "-q", "xfsprogs"], { cwd: root, env });
  }
  const vitest = resolve(root, "node_modules/.bin/vitest");
  const args = ["run", "--config", "vitest.openstack.config.ts", ...process.argv.slice(2)];
  return run(vitest, args, { cwd: root, env });
}

process.exitCode = await main();
