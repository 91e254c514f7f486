/** First migrations that are cut off in their middle. */
import { eventually } from "../support/processes.ts";
import { podsOf } from "./cloud.ts";
import type { Machine, RunningContainer } from "./machines.ts";
import { TIMEOUT, type Rig } from "./rig.ts";

const CELLS = ["nova_cell0", "nova"];
/** Jobs whose first migrations are cut off, with the databases that these make. */
const MIGRATIONS = {
  "nova-cell-sync": CELLS,
  "neutron-db-sync": ["neutron"],
} as const;
type Migration = keyof typeof MIGRATIONS;
/** So many tables are no whole schema, and no empty one. */
const SOME = 5;

/** Statements of the database's administrator; the lines that they print. */
export async function sql(rig: Rig, text: string): Promise<string[]> {
  const login = `--socket=/run/mysqld/mysqld.sock --user=root --password="$(cat /run/credentials/database.admin)"`;
  const program = `mysql ${login} --batch --skip-column-names --execute "$0"`;
  const printed = await rig.inContainer("cloud-mariadb-0", "mariadb", "sh", "-c", program, text);
  return printed.split("\n").filter((line) => line !== "");
}

export const tablesOf = async (rig: Rig, database: string): Promise<string[]> =>
  sql(rig, `SELECT table_name FROM information_schema.tables WHERE table_schema = '${database}'`);

/** A database whose first migration is under way; undefined: none is. */
async function halfMade(rig: Rig, job: Migration): Promise<{ database: string; tables: number } | undefined> {
  for (const database of MIGRATIONS[job]) {
    const tables = await tablesOf(rig, database);
    if (tables.length <= SOME || !tables.includes("alembic_version")) continue;
    const [steps] = await sql(rig, `SELECT COUNT(*) FROM ${database}.alembic_version`);
    if (steps === "0") return { database, tables: tables.length };
  }
  return undefined;
}

export interface CutOff {
  readonly pod: string;
  readonly database: string;
  readonly tables: number;
}

/**
 * Waits for a first migration, stops it in its middle, and deletes its Job and its pod at once, or ends the processes
 * of its container alone; what was there then.
 */
export async function cutOffMigration(rig: Rig, job: Migration, what: "Job" | "container"): Promise<CutOff> {
  const { pod, machine, container } = await eventually(TIMEOUT, () => running(rig, job));
  for (;;) {
    // It works only between two questions: however long one takes, its middle does not pass meanwhile.
    const pids = await stopped(machine, container);
    if (pids === undefined) {
      if ((await machine.container(pod, job)) === undefined) throw new Error(`${job} ended before it was seen at work`);
      continue;
    }
    const half = await halfMade(rig, job);
    if (half && what === "container") {
      await machine.signal("KILL", pids);
      return { pod, ...half };
    }
    if (half) {
      rig.kubectl(
        "delete",
        "job",
        "-l",
        `openstack.causeway.dev/component=${job}`,
        "--cascade=background",
        "--wait=false",
      );
      rig.kubectl("delete", "pod", pod, "--grace-period=0", "--force", "--ignore-not-found");
      return { pod, ...half };
    }
    await machine.signal("CONT", pids);
  }
}

/** Its processes, which were stopped; undefined: one of them had just ended, and all continue. */
async function stopped(machine: Machine, { id }: RunningContainer): Promise<number[] | undefined> {
  const pids = await machine.processes(id).catch(() => []);
  if (pids.length === 0) return undefined;
  const areStopped = await machine.signal("STOP", pids).then(
    () => true,
    () => false,
  );
  if (areStopped) return pids;
  await machine.signal("CONT", pids).catch(() => {});
  return undefined;
}

interface Found {
  readonly pod: string;
  readonly machine: Machine;
  readonly container: RunningContainer;
}

async function running(rig: Rig, job: Migration): Promise<Found | undefined> {
  for (const pod of podsOf(rig, job))
    for (const machine of rig.machines) {
      const container = await machine.container(pod, job);
      if (container) return { pod, machine, container };
    }
  return undefined;
}

/** Names of tables of both cells: of the same release they are the same. */
export async function tablesOfCells(rig: Rig): Promise<string[][]> {
  return Promise.all(CELLS.map(async (database) => (await tablesOf(rig, database)).toSorted()));
}
