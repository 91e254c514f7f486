/**
 * What a run leaves on the devcloud and this host, written down before it is made: a run that was killed is cleaned up
 * by its guard, or by the next run.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { eventually } from "../../support/processes.ts";
import { sweepProject } from "../../support/project-sweep.ts";
import { deleteKeys, devcloudFolder, forbidAbandon } from "./devcloud.ts";
import { requester, type Requester } from "./heat.ts";
import { restorePolicy } from "./policy.ts";

const run = promisify(execFile);
const TIMEOUT = 15 * 60_000;
const GRACE = 60_000;
/** The name of this host's port in the network of a cluster. */
export const LEG = "management";

/** A process by its start, since ids of processes are used again. */
export interface Alive {
  readonly pid: number;
  readonly started: string;
}

export interface Traces {
  /** The run, and its guard. */
  readonly owners: readonly Alive[];
  /** Where the clouds.yaml of the project is, and its name and id. */
  readonly dir?: string;
  readonly project?: { readonly entry: string; readonly clouds: string; readonly id: string };
  /** Magnum's policy of before. */
  readonly policy?: string;
  readonly abandons?: boolean;
  readonly programs?: readonly Alive[];
  /** Interfaces of br-int. */
  readonly devices?: readonly string[];
  /** A network namespace with an interface of br-ex of this name. */
  readonly outside?: { readonly namespace: string; readonly device: string };
}

export const tracesFile = (): string => join(devcloudFolder(), "var/magnum-migration.json");

export function readTraces(): Traces | undefined {
  return existsSync(tracesFile()) ? (JSON.parse(readFileSync(tracesFile(), "utf8")) as Traces) : undefined;
}

export function writeTraces(traces: Traces): void {
  const half = `${tracesFile()}.${process.pid}`;
  writeFileSync(half, JSON.stringify(traces), { mode: 0o600 });
  renameSync(half, tracesFile());
}

/** Adds to what is written down. */
export function trace(more: Partial<Traces>): void {
  writeTraces({ ...(readTraces() ?? { owners: [] }), ...more });
}

/** Field 22 of its stat. */
function startOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /s, "").split(" ")[19];
  } catch {
    return undefined;
  }
}

export const alive = (pid: number): Alive => ({ pid, started: startOf(pid) ?? "" });
export const lives = ({ pid, started }: Alive): boolean => startOf(pid) === started;

/** Undoes everything that is written down, and then the writing itself; safe to do again after it was killed. */
export async function undo(traces: Traces): Promise<void> {
  const { project, dir } = traces;
  await Promise.all((traces.programs ?? []).map((program) => end(program)));
  // Programs of a control plane outlive a command that had no time to end them.
  if (dir !== undefined) await Promise.all(runningFrom(`${dir}/`).map((program) => end(program, "SIGTERM")));
  if (traces.policy !== undefined) restorePolicy(traces.policy);
  for (const device of traces.devices ?? [])
    await run("ovs-vsctl", ["--timeout=20", "--if-exists", "del-port", "br-int", device]);
  if (traces.outside) {
    const { namespace, device } = traces.outside;
    await run("ovs-vsctl", ["--timeout=20", "--if-exists", "del-port", "br-ex", device]);
    if (existsSync(`/run/netns/${namespace}`)) await run("ip", ["netns", "delete", namespace]);
  }
  if (project && existsSync(project.clouds)) await deleteProject(project);
  if (traces.abandons === true) await forbidAbandon();
  if (dir !== undefined && process.env["CAUSEWAY_MIGRATION_KEEP"] === undefined)
    rmSync(dir, { recursive: true, force: true });
  rmSync(tracesFile(), { force: true });
}

/** Processes whose program is in this folder. */
function runningFrom(folder: string): readonly Alive[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.map((id) => alive(Number(id))).filter(({ pid }) => commandOf(pid).startsWith(folder));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

async function end(program: Alive, signal: NodeJS.Signals = "SIGINT"): Promise<void> {
  if (!lives(program)) return;
  process.kill(program.pid, signal);
  for (let waited = 0; waited < GRACE && lives(program); waited += 100) await sleep(100);
  if (lives(program)) process.kill(program.pid, "SIGKILL");
}

async function deleteProject({ entry, clouds, id }: NonNullable<Traces["project"]>): Promise<void> {
  const ask = await requester(entry, clouds);
  const cloud = connectCloud(loadCloudsYaml({ cloud: entry, path: clouds }));
  const admin = connectCloud(loadCloudsYaml({ cloud: `${entry}-admin`, path: clouds }));
  try {
    // Heat cannot delete a network that has ports of others.
    for (const port of await cloud.network.ports.all({ project_id: id, name: LEG }))
      await cloud.network.ports.delete(port.id);
    await deleteClusters(ask, () => sweepProject(cloud, id));
    await deleteKeys(id);
    await sweepProject(cloud, id);
    await admin.identity.projects.delete(id);
  } finally {
    await cloud.close();
    await admin.close();
  }
}

/** Magnum deletes clusters by Heat; where Heat fails, since others use what it made, that is swept before. */
async function deleteClusters(ask: Requester, sweep: () => Promise<void>): Promise<void> {
  type Row = { readonly uuid: string; readonly status?: string };
  const of = async (kind: string) =>
    ((await ask("GET", "container-infra", `/${kind}`)) as Readonly<Record<string, readonly Row[]>>)[kind] ?? [];
  const remove = (path: string) => ask("DELETE", "container-infra", path).catch(() => {});
  for (const { uuid } of await of("clusters")) await remove(`/clusters/${uuid}`);
  await eventually(TIMEOUT, async () => {
    const left = await of("clusters");
    const failed = left.filter(({ status }) => status === "DELETE_FAILED");
    if (failed.length > 0) await sweep();
    for (const { uuid } of failed) await remove(`/clusters/${uuid}`);
    return left.length === 0;
  });
  for (const { uuid } of await of("clustertemplates")) await remove(`/clustertemplates/${uuid}`);
}
