import { join } from "node:path";
import { mkdirSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { openDatabase, STATE_FILE } from "./database.ts";
import { sync } from "./sync.ts";

/**
 * The database of a state folder whose clusters are moved to others. It is locked until it is closed: no other process
 * can open the folder.
 */
export class SplitSource {
  readonly #database: DatabaseSync;

  /** Throws STATE_LOCKED, STATE_TOO_NEW or STATE_UNREADABLE. */
  constructor(dir: string) {
    this.#database = openDatabase(dir);
  }

  /** The clusters that it has anything of. */
  get clusters(): readonly string[] {
    const rows = this.#database.prepare("SELECT DISTINCT cluster FROM collections").all();
    return rows.map((row) => String(row["cluster"]));
  }

  /**
   * Copies logical clusters to a new state folder, with the revisions they have, history included. On disk when it
   * returns.
   */
  copy(to: string, clusters: readonly string[]): void {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    openDatabase(to).close();
    const path = join(to, STATE_FILE);
    const database = this.#database;
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
    // What was committed goes from the log into the file.
    openDatabase(to).close();
    sync(path);
    sync(to);
  }

  /** Removes logical clusters, history included. Nothing to do is success. */
  remove(clusters: readonly string[]): void {
    const database = this.#database;
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
  }

  close(): void {
    this.#database.close();
  }
}
