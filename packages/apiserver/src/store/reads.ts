import { ahead, expired } from "./errors.ts";
import type { ListPage, ListQuery, Stored, StoreKey, TextPage, Usage } from "./interface.ts";
import { ADDED, DELETED, type Records, type StoredRow } from "./records.ts";

/** The state of one key, now or at a revision of the past. */
export function readOne(records: Records, key: StoreKey, atRevision?: number): Stored | undefined {
  if (atRevision !== undefined) checkRevision(records, key.cluster, atRevision);
  if (atRevision === undefined || atRevision === records.revision) {
    const revision = records.latestRevision(key);
    return revision === undefined ? undefined : { key, revision, object: records.load(key, revision) };
  }
  const collection = records.collection(key.cluster, key.resource);
  if (collection === undefined) return undefined;
  const [revision, type, value] = records.row(
    `SELECT revision, type, value FROM log WHERE collection = ? AND namespace = ? AND name = ? AND revision <= ?
     ORDER BY revision DESC LIMIT 1`,
    collection,
    key.namespace,
    key.name,
    atRevision,
  );
  if (revision === undefined || type === DELETED) return undefined;
  return { key, revision: Number(revision), object: records.parse({ key, revision: Number(revision), value }, false) };
}

/** Whether nothing was written to an object since it was created. */
export function isAsCreated(records: Records, key: StoreKey): boolean {
  const revision = records.latestRevision(key);
  if (revision === undefined) return false;
  const [type] = records.row("SELECT type FROM log WHERE revision = ?", revision);
  return type === ADDED;
}

/** One page of a collection, all of one revision. */
export function readPage(records: Records, query: ListQuery): ListPage {
  const { rows, ...page } = readRows(records, query);
  const items = rows.map((row) => ({ key: row.key, revision: row.revision, object: records.parse(row, false) }));
  return { items, ...page };
}

/** The same page without parsing its objects: what is stored, and the oldest revision in it. */
export function readTexts(records: Records, query: ListQuery): TextPage {
  const { rows, ...page } = readRows(records, query);
  let oldest = rows[0]?.revision ?? 0;
  for (const { revision } of rows) oldest = Math.min(oldest, revision);
  return { texts: rows.map((row) => records.text(row)), oldest, ...page };
}

function readRows(records: Records, query: ListQuery): Omit<ListPage, "items"> & { rows: readonly StoredRow[] } {
  const revision = query.atRevision ?? records.revision;
  checkRevision(records, query.cluster, revision);
  const collection = records.collection(query.cluster, query.resource);
  if (collection === undefined) return { rows: [], revision };
  const source = sourceOf(query, revision === records.revision);
  const limit = query.limit !== undefined && query.limit > 0 ? query.limit : -1;
  const values = [collection, ...source.values, ...(source.snapshot ? [revision] : [])];
  const sql = `${source.page} LIMIT ?`;
  const wanted = limit < 0 ? -1 : limit + 1;
  const found =
    query.bytes === undefined
      ? records.rows(sql, ...values, wanted)
      : records.rowsUpTo({ sql, column: 3, bytes: query.bytes }, ...values, wanted);
  const isCut = "isCut" in found && found.isCut;
  const shown = limit > 0 && found.length > limit ? found.slice(0, limit) : found;
  const { cluster, resource } = query;
  const rows = shown.map(([namespace, name, rowRevision, value]): StoredRow => {
    const key = { cluster, resource, namespace: namespace as string, name: name as string };
    return { key, revision: rowRevision as number, value };
  });
  const last = rows.at(-1);
  if (last === undefined || (shown.length === found.length && !isCut)) return { rows, revision };
  const next = `${last.key.namespace}/${last.key.name}`;
  if (limit < 0 || rows.length < limit) return { rows, revision, next };
  const [total] = records.row(source.count, ...values);
  return { rows, revision, next, remaining: Number(total) - rows.length };
}

/** Living objects and their bytes, by resource of one cluster. */
export function usageOf(records: Records, cluster: string): Usage[] {
  const rows = records.rows(
    `SELECT c.resource, count(*), sum(octet_length(l.value)) FROM collections c
     JOIN latest k ON k.collection = c.id JOIN log l ON l.revision = k.revision WHERE c.cluster = ? GROUP BY c.id`,
    cluster,
  );
  return rows.map(([resource, objects, bytes]) => ({
    resource: String(resource),
    objects: Number(objects),
    bytes: Number(bytes),
  }));
}

interface PageSource {
  readonly page: string;
  readonly count: string;
  readonly values: readonly string[];
  readonly snapshot: boolean;
}

/** The living rows when the newest revision is requested; else, per key, the last row of the log up to the revision. */
function sourceOf(query: ListQuery, newest: boolean): PageSource {
  const { where, values } = rangeOf(query);
  if (newest) {
    return {
      page: `SELECT k.namespace, k.name, k.revision, l.value FROM latest k JOIN log l ON l.revision = k.revision
             WHERE k.collection = ?${where} ORDER BY k.namespace, k.name`,
      count: `SELECT count(*) FROM latest k WHERE k.collection = ?${where}`,
      values,
      snapshot: false,
    };
  }
  const keys = `SELECT k.namespace, k.name, max(k.revision) AS revision FROM log k
                WHERE k.collection = ?${where} AND k.revision <= ? GROUP BY k.namespace, k.name`;
  const living = `FROM (${keys} ORDER BY k.namespace, k.name) k CROSS JOIN log l ON l.revision = k.revision WHERE l.type <> ${DELETED}`;
  return {
    page: `SELECT k.namespace, k.name, k.revision, l.value ${living} ORDER BY k.namespace, k.name`,
    count: `SELECT count(*) ${living}`,
    values,
    snapshot: true,
  };
}

function rangeOf(query: ListQuery): { where: string; values: string[] } {
  let where = "";
  const values: string[] = [];
  if (query.namespace !== undefined) {
    where += " AND k.namespace = ?";
    values.push(query.namespace);
  }
  if (query.after !== undefined) {
    const slash = query.after.indexOf("/");
    where += " AND (k.namespace, k.name) > (?, ?)";
    values.push(query.after.slice(0, slash), query.after.slice(slash + 1));
  }
  return { where, values };
}

function checkRevision(records: Records, cluster: string, revision: number): void {
  if (revision > records.revision) throw ahead(revision, records.revision);
  const floor = records.floorOf(cluster);
  if (revision < floor) throw expired(revision, floor);
}
