import type { Records } from "./records.ts";

/**
 * One step of writing everything again as the codec would now; between two flushes of the writer, in a transaction of
 * its own.
 */
export function reencode(
  records: Records,
  after: number,
  limit: number,
): { readonly next: number | undefined; readonly changed: number } {
  const { database } = records;
  const rows = records.rows(
    `SELECT l.revision, c.cluster, c.resource, l.namespace, l.name, l.value FROM log l JOIN collections c ON c.id = l.collection
     WHERE l.revision > ? AND l.value IS NOT NULL ORDER BY l.revision LIMIT ?`,
    after,
    limit,
  );
  let changed = 0;
  // Pages that are given back are zeroed, so that what a key was derived from is not left in the file.
  database.exec("PRAGMA secure_delete = ON; BEGIN IMMEDIATE");
  try {
    for (const [revision, cluster, resource, namespace, name, value] of rows) {
      const key = {
        cluster: String(cluster),
        resource: String(resource),
        namespace: String(namespace),
        name: String(name),
      };
      const next = records.reencoded({ key, revision: Number(revision), value });
      if (next === undefined) continue;
      records.run("UPDATE log SET value = ? WHERE revision = ?", next, Number(revision));
      changed += 1;
    }
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  } finally {
    database.exec("PRAGMA secure_delete = OFF");
  }
  const last = rows.at(-1)?.[0];
  if (rows.length === limit) return { next: Number(last), changed };
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return { next: undefined, changed };
}
