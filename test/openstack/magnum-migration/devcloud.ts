/** The devcloud's own files and processes, which a cluster's operator would have. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const TOOLS = resolve(import.meta.dirname, "../../../tools/devcloud");

export const devcloudFolder = (): string => process.env["DEVCLOUD_DIR"] ?? "/var/lib/devcloud";

/** What `--magnum-sql` is given. */
export const magnumSql = (): string =>
  `mariadb --no-defaults --socket=${join(devcloudFolder(), "run/mysql.sock")} -uroot --batch magnum`;

/**
 * How often ovs-vswitchd 3.1.0 has ended at an assertion so far: until it is started again and servers have their
 * interfaces, which takes up to a minute, no packet of any server arrives.
 */
export function networkEnds(): number {
  const log = join(devcloudFolder(), "log/ovs-vswitchd.log");
  return existsSync(log) ? (readFileSync(log, "utf8").match(/crashes?: pid \d+ died/g) ?? []).length : 0;
}

async function sql(statement: string): Promise<readonly string[]> {
  const [program = "", ...args] = magnumSql().split(" ");
  const { stdout } = await run(program, [...args, "--skip-column-names", `--execute=${statement}`]);
  return stdout.split("\n").filter((line) => line !== "");
}

/** Magnum's rows of clusters, by table and UUID. */
export async function magnumRows(): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const table of ["cluster", "nodegroup", "cluster_template", "x509keypair"])
    for (const uuid of await sql(`SELECT uuid FROM ${table}`)) lines.push(`${table} ${uuid}`);
  return lines;
}

/** Magnum 15 keeps two of the four key pairs of a cluster that it deletes. */
export async function deleteKeys(projectId: string): Promise<void> {
  await sql(`DELETE FROM x509keypair WHERE project_id = '${projectId.replaceAll(/[^0-9a-f]/g, "")}'`);
}

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
  const script = `. "$0/lib/settings.sh"; stop heat-engine; start heat-engine heat-engine --config-file "$ETC/heat/heat.conf" ${more}`;
  await run("bash", ["-c", script, TOOLS]);
}
