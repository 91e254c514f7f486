import { join } from "node:path";
import { mkdirSync } from "node:fs";
import { openDatabase, STATE_FILE } from "./database.ts";
import { sync } from "./sync.ts";

/** The clusters that a state folder that no process has open holds anything of. */
export function clustersIn(dir: string): readonly string[] {
  const database = openDatabase(dir);
  try {
    const rows = database.prepare("SELECT DISTINCT cluster FROM collections").all();
    return rows.map((row) => String(row["cluster"]));
  } finally {
    database.close();
  }
}

/**
 * Copies logical clusters from the state folder `from` to a new one, with the revisions they have, history included. No process may have either open.
 * On disk when it returns.
 */
export function copyClusters(from: string, to: string, clusters: readonly string[]): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  openDatabase(to).close();
  const path = join(to, STATE_FILE);
  const database = openDatabase(from);
  try {
    database.prepare("ATTACH ? AS fresh").run(path);
    const names = JSON.stringify(clusters);
    const chosen = "SELECT id FROM main.collections WHERE cluster IN (SELECT value FROM json_each(?))";
    database.exec("BEGIN IMMEDIATE");
    for (const table of ["collections", "cluster_floors"]) {
      const where = "WHERE cluster IN (SELECT value FROM json_each(?))";
      database.prepare(`INSERT INTO fresh.${table} SELECT * FROM main.${table} ${where}`).run(names);
    }
    for (const table of ["log", "latest"]) {
      const where = `WHERE collection IN (${chosen})`;
      database.prepare(`INSERT INTO fresh.${table} SELECT * FROM main.${table} ${where}`).run(names);
    }
    database.exec(
      "UPDATE fresh.state SET revision = (SELECT revision FROM main.state), floor = (SELECT floor FROM main.state)",
    );
    database.exec("COMMIT; DETACH fresh");
  } finally {
    database.close();
  }
  // What was committed goes from the log into the file.
  openDatabase(to).close();
  sync(path);
  sync(to);
}

/** Removes logical clusters from a state folder that no process has open, history included. Nothing to do is success. */
export function removeClusters(dir: string, clusters: readonly string[]): void {
  const database = openDatabase(dir);
  try {
    const names = JSON.stringify(clusters);
    const chosen = "SELECT id FROM collections WHERE cluster IN (SELECT value FROM json_each(?))";
    database.exec("BEGIN IMMEDIATE");
    for (const table of ["log", "latest"]) {
      database.prepare(`DELETE FROM ${table} WHERE collection IN (${chosen})`).run(names);
    }
    for (const table of ["collections", "cluster_floors"]) {
      database.prepare(`DELETE FROM ${table} WHERE cluster IN (SELECT value FROM json_each(?))`).run(names);
    }
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}
