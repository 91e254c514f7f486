/** Nova's first migration, cut off in its middle. */
import { eventually } from "../support/processes.ts";
import { podsOf } from "./cloud.ts";
import type { Machine, RunningContainer } from "./machines.ts";
import { TIMEOUT, type Rig } from "./rig.ts";

const JOB = "nova-cell-sync";
const CELLS = ["nova_cell0", "nova"];
/** So many tables are no whole schema, and no empty one. */
const SOME = 5;

/** Statements of the database's administrator; the lines that they print. */
export async function sql(rig: Rig, text: string): Promise<string[]> {
  const login = `--socket=/run/mysqld/mysqld.sock --user=root --password="$(cat /run/credentials/database.admin)"`;
  const program = `mysql ${login} --batch --skip-column-names --execute "$0"`;
  const printed = await rig.inContainer("cloud-mariadb-0", "mariadb", "sh", "-c", program, text);
  return printed.split("\n").filter((line) => line !== "");
}

const tablesOf = async (rig: Rig, database: string): Promise<string[]> =>
  sql(rig, `SELECT table_name FROM information_schema.tables WHERE table_schema = '${database}'`);

/** A database whose first migration is under way; undefined: none is. */
async function halfMade(rig: Rig): Promise<{ database: string; tables: number } | undefined> {
  for (const database of CELLS) {
    const tables = await tablesOf(rig, database);
    if (tables.length <= SOME || !tables.includes("alembic_version")) continue;
    const [steps] = await sql(rig, `SELECT COUNT(*) FROM ${database}.alembic_version`);
    if (steps === "0") return { database, tables: tables.length };
  }
  return undefined;
}

/**
 * Waits for Nova's first migration, stops it in its middle, and deletes its Job and its pod at once; what was there
 * then.
 */
export async function cutOffMigration(rig: Rig): Promise<{ pod: string; database: string; tables: number }> {
  const { pod, machine, container } = await eventually(TIMEOUT, () => running(rig));
  for (;;) {
    if ((await halfMade(rig)) === undefined) {
      if ((await machine.container(pod, JOB)) === undefined) throw new Error(`${JOB} ended before it was seen at work`);
      continue;
    }
    // It may have come to its end meanwhile: only what is left when it stands still counts.
    const pids = await machine.processes(container.id);
    await machine.signal("STOP", pids);
    const half = await halfMade(rig);
    if (half) {
      rig.kubectl(
        "delete",
        "job",
        "-l",
        `openstack.causeway.dev/component=${JOB}`,
        "--cascade=background",
        "--wait=false",
      );
      rig.kubectl("delete", "pod", pod, "--grace-period=0", "--force", "--ignore-not-found");
      return { pod, ...half };
    }
    await machine.signal("CONT", pids);
  }
}

interface Found {
  readonly pod: string;
  readonly machine: Machine;
  readonly container: RunningContainer;
}

async function running(rig: Rig): Promise<Found | undefined> {
  for (const pod of podsOf(rig, JOB))
    for (const machine of rig.machines) {
      const container = await machine.container(pod, JOB);
      if (container) return { pod, machine, container };
    }
  return undefined;
}

/** Names of tables of both cells: of the same release they are the same. */
export async function tablesOfCells(rig: Rig): Promise<string[][]> {
  return Promise.all(CELLS.map(async (database) => (await tablesOf(rig, database)).toSorted()));
}
