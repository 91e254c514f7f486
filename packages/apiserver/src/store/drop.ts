import type { StoreEvent } from "./interface.ts";
import { withRevision, type Records } from "./records.ts";

/**
 * Removes a logical cluster, inside the caller's transaction. Every object counts as one deletion, so watchers see each
 * of them go; the history goes too, so older revisions of the cluster are expired from here on.
 */
export function dropCluster(
  records: Records,
  cluster: string,
  startRevision: number,
): { revision: number; events: StoreEvent[] } {
  let revision = startRevision;
  const events: StoreEvent[] = [];
  const collections = records.rows("SELECT id, resource FROM collections WHERE cluster = ?", cluster);
  for (const [id, resource] of collections) {
    const living = records.rows(
      `SELECT k.namespace, k.name, k.revision, l.value FROM latest k JOIN log l ON l.revision = k.revision
       WHERE k.collection = ? ORDER BY k.namespace, k.name`,
      Number(id),
    );
    for (const [namespace, name, lastRevision, value] of living) {
      const key = { cluster, resource: String(resource), namespace: String(namespace), name: String(name) };
      const previous = records.parse({ key, revision: Number(lastRevision), value }, false);
      revision += 1;
      events.push({ type: "DELETED", key, revision, object: withRevision(previous, revision), previous });
    }
    records.run("DELETE FROM latest WHERE collection = ?", Number(id));
    records.run("DELETE FROM log WHERE collection = ?", Number(id));
  }
  if (collections.length > 0) records.dropCollections(cluster, revision);
  return { revision, events };
}
