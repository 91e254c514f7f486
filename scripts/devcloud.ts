import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { root, run } from "./kubernetes-programs.ts";

const CLOUDS = "/var/lib/devcloud/clouds.yaml";

/** Why a real OpenStack cannot be had here; undefined when it can. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "it needs root, to install packages and make network namespaces";
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  if (!/^VERSION_ID="?12"?$/m.test(release) || !/^ID=debian$/m.test(release))
    return "it needs Debian 12, whose packages it is made of";
  return undefined;
}

/**
 * The clouds.yaml of a real OpenStack: OS_CLIENT_CONFIG_FILE, or that of tools/devcloud, which is brought up. Throws
 * when it does not come up.
 */
export async function realCloud(): Promise<{ readonly clouds: string } | { readonly reason: string }> {
  const given = process.env["OS_CLIENT_CONFIG_FILE"];
  if (given !== undefined) return { clouds: given };
  const reason = obstacle();
  if (reason !== undefined) return { reason };
  console.log("bringing up the real OpenStack (tools/devcloud/up)");
  const code = await run(resolve(root, "tools/devcloud/up"), [], { cwd: root, env: process.env });
  if (code !== 0) throw new Error(`the devcloud did not come up: exit code ${code}`);
  return { clouds: CLOUDS };
}
