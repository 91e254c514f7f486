import { chmodSync, closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CausewayError, messageOf, InputError } from "@causeway/foundation";
import { sync } from "./sync.ts";

/** Layout version of the state file; raised with every change that an older Causeway could not read. */
export const STATE_VERSION = 3;
/** "CWAY": distinguishes our files from any other SQLite file. */
const APPLICATION_ID = 0x43574159;
/** The database's file in a state folder. */
export const STATE_FILE = "state.sqlite";

/*
 * `log` holds every state of every object under the revision that made it, and `previous` points to the state before,
 * so that history can be dropped exactly: passing a row at compaction frees the row it replaced. A deletion holds no
 * value, its `previous` does. `latest` names the living rows in list order. A cluster's `floor` is the revision below
 * which its history is gone.
 */
const LAYOUT = `
  CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), revision INTEGER NOT NULL, floor INTEGER NOT NULL);
  INSERT INTO state VALUES (1, 0, 0);
  CREATE TABLE cluster_floors (cluster TEXT PRIMARY KEY, floor INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE collections (id INTEGER PRIMARY KEY, cluster TEXT NOT NULL, resource TEXT NOT NULL, UNIQUE (cluster, resource));
  CREATE TABLE log (
    revision INTEGER PRIMARY KEY, collection INTEGER NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    type INTEGER NOT NULL, previous INTEGER, value TEXT);
  CREATE INDEX log_by_key ON log (collection, namespace, name, revision);
  CREATE TABLE latest (
    collection INTEGER NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (collection, namespace, name)) WITHOUT ROWID;
`;

/**
 * Opens (or makes) the state file in `dir` and holds it alone; `undefined` opens a database in memory.
 * Throws STATE_LOCKED, STATE_TOO_NEW or STATE_UNREADABLE.
 */
export function openDatabase(dir: string | undefined): DatabaseSync {
  if (dir === undefined) return prepared(new DatabaseSync(":memory:"));
  const path = join(dir, STATE_FILE);
  const database = openFile(dir, path);
  try {
    // Exclusive before WAL: the lock lasts as long as the process, and no shared-memory file is needed.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("BEGIN EXCLUSIVE; COMMIT");
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216");
    return prepared(database, path);
  } catch (error) {
    database.close();
    throw explained(error, path);
  }
}

/** The file exists with its mode before SQLite sees it. */
function openFile(dir: string, path: string): DatabaseSync {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!existsSync(path)) createFile(path);
    chmodSync(path, 0o600);
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw explained(error, path);
  }
}

/**
 * A new file takes its name when it is whole and on disk, with one sync instead of one for each step of SQLite's: a
 * crash leaves none. The name is on disk with the first commit: SQLite syncs the folder before it, for the log that it
 * makes there. Of two that start at once one gives the name; what the other made is thrown away.
 */
function createFile(path: string): void {
  const made = `${path}.new-${process.pid}`;
  rmSync(made, { force: true });
  closeSync(openSync(made, "wx", 0o600));
  try {
    const database = new DatabaseSync(made);
    try {
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL");
      lay(database);
    } finally {
      database.close();
    }
    sync(made);
    linkSync(made, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(made, { force: true });
  }
}

function lay(database: DatabaseSync): void {
  database.exec(
    `BEGIN; ${LAYOUT} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STATE_VERSION}; COMMIT`,
  );
}

function prepared(database: DatabaseSync, path = ":memory:"): DatabaseSync {
  database.exec("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192");
  const version = pragma(database, "user_version");
  const application = pragma(database, "application_id");
  if (version === 0 && application === 0 && isEmpty(database)) {
    lay(database);
    return database;
  }
  if (application !== APPLICATION_ID) {
    throw new InputError("STATE_UNREADABLE", `${path} is a SQLite file, but not one of Causeway's`, {
      hint: "Choose another state folder, or move the file away.",
    });
  }
  if (version > STATE_VERSION) {
    throw new InputError(
      "STATE_TOO_NEW",
      `${path} has layout version ${version}; this Causeway knows ${STATE_VERSION}`,
      {
        hint: "Start the newer Causeway that wrote it, or choose another state folder.",
        details: { version, known: STATE_VERSION },
      },
    );
  }
  // Of version 1 is what may have no encrypted values; of version 2 what has all clusters in one file.
  if (version < STATE_VERSION) database.exec(`PRAGMA user_version = ${STATE_VERSION}`);
  return database;
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function explained(error: unknown, path: string): CausewayError {
  if (error instanceof CausewayError) return error;
  if (/locked|busy/.test(messageOf(error))) {
    return new InputError("STATE_LOCKED", `${path} is in use by another process`, {
      cause: error,
      hint: "Stop the other Causeway that runs on this state folder, or choose another with --state.",
    });
  }
  if (isCorrupt(error)) return corrupt(path, error);
  return new InputError("STATE_UNREADABLE", `${path} cannot be read: ${messageOf(error)}`, {
    cause: error,
    hint: "Restore the state folder from a copy, or choose another with --state.",
  });
}

/** Whether SQLite found a page that is not what was written. */
export function isCorrupt(error: unknown): boolean {
  return /database disk image is malformed|malformed database schema/.test(messageOf(error));
}

/** STATE_CORRUPT: SQLite cannot read what is in the file. */
export function corrupt(path: string, cause: unknown): CausewayError {
  return new CausewayError("STATE_CORRUPT", `${path} is damaged: ${messageOf(cause)}`, {
    cause,
    hint: "Restore the state folder from a backup; check the disk, and the memory of the machine.",
    details: { path },
  });
}
