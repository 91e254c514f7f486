/**
 * `npm run test:openstack`: the suites that need a real OpenStack. Brings up tools/devcloud (Debian's own packages) unless
 * OS_CLIENT_CONFIG_FILE names another cloud, then runs test/openstack on it. Arguments go to the test runner.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const clouds = "/var/lib/devcloud/clouds.yaml";
function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((done, reject) => {
    const child = spawn(file, args, { cwd: root, stdio: "inherit", env });
    child.on("error", reject);
    child.on("close", (code) => done(code ?? 1));
  });
}

/** Why a real OpenStack cannot be had here; undefined when it can. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "it needs root, to install packages and make network namespaces";
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  if (!/^VERSION_ID="?12"?$/m.test(release) || !/^ID=debian$/m.test(release))
    return "it needs Debian 12, whose packages it is made of";
  return undefined;
}

async function main(): Promise<number> {
  const env = { ...process.env };
  if (env["OS_CLIENT_CONFIG_FILE"] === undefined) {
    const why = obstacle();
    if (why !== undefined) {
      console.log(`skipped: no real OpenStack here: ${why}`);
      console.log("0 passed, 0 failed, 1 skipped");
      return 0;
    }
    console.log("bringing up the real OpenStack (tools/devcloud/up)");
    const code = await run(resolve(root, "tools/devcloud/up"), [], env);
    if (code !== 0) {
      console.log(`the devcloud did not come up: exit code ${code}`);
      return code;
    }
    env["OS_CLIENT_CONFIG_FILE"] = clouds;
  }
  if (spawnSync("kubectl", ["version", "--client"]).error !== undefined) {
    console.log("installing kubectl (Debian's kubernetes-client)");
    await run("apt-get", ["install", "-y", "-q", "kubernetes-client"], env);
  }
  return run(
    resolve(root, "node_modules/.bin/vitest"),
    ["run", "--config", "vitest.openstack.config.ts", ...process.argv.slice(2)],
    env,
  );
}

process.exitCode = await main();
