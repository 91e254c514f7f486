import { systemClock } from "@causeway/foundation";
import { closeSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { sync } from "./sync.ts";

/**
 * How far a restored store's revisions are ahead of those in the backup: more than a server writes between its last
 * backup and its end, so that no revision that a client has seen represents anything else (as etcdutl's
 * --bump-revision).
 */
const AHEAD = 1_000_000_000;
/** Pages copied at a time; between two lots the writer may write, and what it writes is copied too. */
const PAGES = 512;
/** Milliseconds in which a copy must have been begun. */
const READ_TIMEOUT = 30_000;

/**
 * Copies the database to a file, consistent as of one moment, while it is written to. Resolves with the copy's
 * revision.
 */
export async function snapshotInto(database: DatabaseSync, path: string): Promise<number> {
  closeSync(openSync(path, "w", 0o600));
  await copied(database, path);
  const copy = new DatabaseSync(path);
  try {
    // One file, with no log next to it.
    copy.exec("PRAGMA journal_mode = DELETE");
    return Number(copy.prepare("SELECT revision FROM state").get()?.["revision"]);
  } finally {
    copy.close();
    sync(path);
  }
}

/**
 * SQLite copies nothing while the same connection is in the middle of a transaction. Node continues after that, but not
 * when it meets the first lot of pages: then it fails with the code of no error (0), and the copy has to be started
 * again. Between two transactions it gets its turn.
 */
async function copied(database: DatabaseSync, path: string): Promise<void> {
  for (const end = systemClock.now() + READ_TIMEOUT; ;) {
    try {
      await backup(database, path, { rate: PAGES });
      return;
    } catch (error) {
      if ((error as { errcode?: unknown }).errcode !== 0 || systemClock.now() > end) throw error;
      await systemClock.sleep(1);
    }
  }
}

/**
 * Makes a copied database one that clients of the original can continue with: its next revision is one that was never
 * given out, and all history is gone, so that earlier watches must list again. Resolves to the new revision.
 */
export function raiseRevision(path: string): number {
  const database = new DatabaseSync(path);
  try {
    database.exec(`BEGIN;
      DELETE FROM log WHERE revision NOT IN (SELECT revision FROM latest);
      UPDATE log SET previous = NULL;
      UPDATE state SET revision = revision + ${AHEAD}, floor = revision + ${AHEAD};
      COMMIT; VACUUM`);
    return Number(database.prepare("SELECT revision FROM state").get()?.["revision"]);
  } finally {
    database.close();
    sync(path);
  }
}
