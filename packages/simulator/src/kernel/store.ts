import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { InputError } from "@causeway/foundation";

/** Version of the layout of the state file. Raise it when an older Causeway could not read what is written. */
const STATE_VERSION = 1;

/** Where tables are kept. Writes gather until `flush`, which commits them as one transaction. */
export interface Store {
  /** Objects of a table, oldest first. */
  load(table: string): readonly unknown[];
  put(table: string, id: string, object: unknown): void;
  remove(table: string, id: string): void;
  flush(): void;
  setting(key: string): string | undefined;
  setSetting(key: string, value: string): void;
  close(): void;
}

/** A store that forgets. */
export const memoryStore = (): Store => {
  const settings = new Map<string, string>();
  return {
    load: () => [],
    put: () => {},
    remove: () => {},
    flush: () => {},
    setting: (key) => settings.get(key),
    setSetting: (key, value) => void settings.set(key, value),
    close: () => {},
  };
};

/**
 * A store in `dir`/simulator.db (folder 0700, file 0600), held by one process at a time.
 * Throws STATE_TOO_NEW if a newer Causeway wrote it, STATE_IN_USE if another process has it.
 */
export function openStore(dir: string): Store {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, "simulator.db");
  const database = openDatabase(file);
  try {
    checkVersion(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
  return new SqliteStore(database);
}

function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    chmodSync(file, 0o600);
    // Exclusive: the lock dies with the process, so a killed cloud starts again at once and two never share a state.
    database.exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
    database.exec(
      "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL); COMMIT;",
    );
    return database;
  } catch (cause) {
    database.close();
    const locked = cause instanceof Error && /locked|busy/i.test(cause.message);
    const [code, message] = locked
      ? ["STATE_IN_USE", `The simulated cloud's state ${file} is in use by another process.`]
      : ["STATE_UNREADABLE", `The simulated cloud's state ${file} cannot be read.`];
    const hint = locked
      ? "Stop the other process, or choose another state folder."
      : "Remove the file, fix its permissions, or choose another state folder.";
    throw new InputError(code ?? "", message ?? "", { cause, hint });
  }
}

function checkVersion(database: DatabaseSync, file: string): void {
  const row = database.prepare("SELECT value FROM settings WHERE key = 'version'").get();
  const version = row ? Number(row["value"]) : STATE_VERSION;
  if (version > STATE_VERSION) {
    throw new InputError(
      "STATE_TOO_NEW",
      `${file} has version ${version}; this Causeway supports ${STATE_VERSION} at most.`,
      {
        hint: "Use the newer Causeway, or choose another state folder.",
        details: { version, known: STATE_VERSION },
      },
    );
  }
  database.exec(
    "CREATE TABLE IF NOT EXISTS objects (kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (kind, id));",
  );
  database.prepare("INSERT OR IGNORE INTO settings VALUES ('version', ?)").run(String(STATE_VERSION));
}

interface Write {
  readonly table: string;
  readonly id: string;
  /** Undefined: removed. */
  readonly object: unknown;
}

class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;
  readonly #pending = new Map<string, Write>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#upsert = database.prepare(
      "INSERT INTO objects (kind, id, value) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value",
    );
    this.#delete = database.prepare("DELETE FROM objects WHERE kind = ? AND id = ?");
  }

  load(table: string): readonly unknown[] {
    const rows = this.#database.prepare("SELECT value FROM objects WHERE kind = ? ORDER BY rowid").all(table);
    return rows.map((row): unknown => JSON.parse(String(row["value"])));
  }

  put(table: string, id: string, object: unknown): void {
    this.#pending.set(`${table}/${id}`, { table, id, object });
  }

  remove(table: string, id: string): void {
    this.#pending.set(`${table}/${id}`, { table, id, object: undefined });
  }

  flush(): void {
    if (this.#pending.size === 0) return;
    this.#database.exec("BEGIN");
    for (const { table, id, object } of this.#pending.values()) {
      if (object === undefined) this.#delete.run(table, id);
      else this.#upsert.run(table, id, JSON.stringify(object));
    }
    this.#database.exec("COMMIT");
    this.#pending.clear();
  }

  setting(key: string): string | undefined {
    const row = this.#database.prepare("SELECT value FROM settings WHERE key = ?").get(key);
    return row ? String(row["value"]) : undefined;
  }

  setSetting(key: string, value: string): void {
    this.#database.prepare("INSERT OR REPLACE INTO settings VALUES (?, ?)").run(key, value);
  }

  close(): void {
    this.flush();
    this.#database.close();
  }
}
