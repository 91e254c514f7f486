import { openDatabase } from "./database.ts";
import type { Charge, Store, Stored, StoreOptions } from "./interface.ts";
import { isAsCreated, readOne, readPage, readTexts, usageOf } from "./reads.ts";
import { reencode } from "./reencode.ts";
import { Records } from "./records.ts";
import { snapshotInto } from "./snapshot.ts";
import { Watches } from "./watches.ts";
import { Writer } from "./writer.ts";

const DEFAULT_HISTORY = 20_000;
const free: Charge = (_cluster, _what, work) => work();

/**
 * Opens the store and holds its file alone until `close`.
 * Throws STATE_LOCKED (another process has it), STATE_TOO_NEW (a newer Causeway wrote it), STATE_UNREADABLE.
 * Writes fail with STATE_WRITE_FAILED when the disk does, and with STATE_CLOSED after `close`.
 */
export function openStore(options: StoreOptions = {}): Store {
  const database = openDatabase(options.dir);
  const records = new Records(database, options.codec);
  const { charge = free, history = DEFAULT_HISTORY } = options;
  const watches = new Watches(records, charge);
  const writer = new Writer(records, watches, { history, charge });
  const stored = async (write: Parameters<Writer["submit"]>[0]): Promise<Stored> =>
    (await writer.submit(write)) as Stored;
  return {
    get revision() {
      return records.revision;
    },
    get failure() {
      return writer.failure;
    },
    get: (key, atRevision) => readOne(records, key, atRevision),
    has: (key) => records.latestRevision(key) !== undefined,
    isAsCreated: (key) => isAsCreated(records, key),
    list: (query) => readPage(records, query),
    texts: (query) => readTexts(records, query),
    create: (key, object) => stored({ kind: "create", key, object }),
    update: (key, object, expected) => stored({ kind: "update", key, object, expected }),
    remove: (key, expected) => stored({ kind: "remove", key, expected }),
    watch: (query, listener) => watches.start(query, listener),
    hold: (revision) => watches.hold(revision),
    drop: async (cluster) => {
      await writer.submit({ kind: "drop", cluster });
    },
    snapshot: (path) => snapshotInto(database, path),
    usage: (cluster) => usageOf(records, cluster),
    clusters: () =>
      records
        .rows(
          `SELECT DISTINCT c.cluster FROM collections c
           WHERE EXISTS (SELECT 1 FROM latest k WHERE k.collection = c.id) ORDER BY c.cluster`,
        )
        .map(([cluster]) => String(cluster)),
    reencode: (after, limit) => reencode(records, after, limit),
    close: () => {
      if (!database.isOpen) return Promise.resolve();
      writer.close();
      watches.close();
      database.close();
      return Promise.resolve();
    },
  };
}
