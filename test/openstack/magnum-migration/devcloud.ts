/** The devcloud's own files and processes, which a cluster's operator would have. */
import { execFile } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const TOOLS = resolve(import.meta.dirname, "../../../tools/devcloud");

export const devcloudFolder = (): string => process.env["DEVCLOUD_DIR"] ?? "/var/lib/devcloud";

/** What `--magnum-sql` is given. */
export const magnumSql = (): string =>
  `mariadb --no-defaults --socket=${join(devcloudFolder(), "run/mysql.sock")} -uroot --batch magnum`;

const abandoning = (): string => join(devcloudFolder(), "etc/heat/abandon.conf");

/** enable_stack_abandon, which retirement needs and Heat's own default has off. */
export async function allowAbandon(): Promise<void> {
  writeFileSync(abandoning(), "[DEFAULT]\nenable_stack_abandon = true\n");
  await restartEngine(`--config-file ${abandoning()}`);
}

export async function forbidAbandon(): Promise<void> {
  if (!existsSync(abandoning())) return;
  await restartEngine("");
  rmSync(abandoning());
}

/** Restarts heat-engine as tools/devcloud started it, with more options. */
async function restartEngine(more: string): Promise<void> {
  const script = `. "$0/lib/common.sh"; stop heat-engine; start heat-engine heat-engine --config-file "$ETC/heat/heat.conf" ${more}`;
  await run("bash", ["-c", script, TOOLS]);
}
