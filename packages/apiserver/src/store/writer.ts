import { CausewayError, messageOf, systemClock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { compactStep } from "./compaction.ts";
import { dropCluster } from "./drop.ts";
import { alreadyExists, conflict, notFound } from "./errors.ts";
import type { Charge, Stored, StoreEvent, StoreKey } from "./interface.ts";
import { ADDED, DELETED, MODIFIED, withRevision, type Records } from "./records.ts";
import type { Watches } from "./watches.ts";

type Write =
  | { readonly kind: "create"; readonly key: StoreKey; readonly object: KubeObject }
  | { readonly kind: "update"; readonly key: StoreKey; readonly object: KubeObject; readonly expected: number }
  | { readonly kind: "remove"; readonly key: StoreKey; readonly expected: number }
  | { readonly kind: "drop"; readonly cluster: string };

interface Queued {
  readonly write: Write;
  readonly resolve: (stored: Stored | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Milliseconds that the renewal of a node's Lease waits at most for other writes to share their commit, and how many
 * may wait. Kubelets renew every ten seconds and have 40, so that a quarter of a second changes nothing; a commit and
 * sync of its own for each were most of what clusters at rest cost.
 */
const RENEWAL_WAIT = 250;
const MOST_RENEWALS = 16;

/** What the open transaction has done so far. */
interface Batch {
  revision: number;
  readonly events: StoreEvent[];
  readonly settled: (() => void)[];
}

/**
 * The only writer. Writes of one turn of the event loop share one transaction and one sync to disk; each is checked
 * against what those before it in the queue left. Answers and events go out only after the commit. Renewals of nodes'
 * Leases wait for the next write, a short while at most.
 */
export class Writer {
  /** Why the last transaction failed, and when; undefined if it did not. */
  failure: { readonly at: number; readonly reason: string } | undefined;
  readonly #records: Records;
  readonly #watches: Watches;
  readonly #history: number;
  readonly #charge: Charge;
  #queue: Queued[] = [];
  #scheduled = false;
  /** While only renewals are queued. */
  #waiting: NodeJS.Timeout | undefined;
  #closed = false;
  #abandoned = false;

  constructor(records: Records, watches: Watches, { history, charge }: { history: number; charge: Charge }) {
    this.#records = records;
    this.#watches = watches;
    this.#history = history;
    this.#charge = charge;
  }

  /** Resolves when the write is on disk. */
  submit(write: Write): Promise<Stored | undefined> {
    if (this.#closed) return Promise.reject(new CausewayError("STATE_CLOSED", "the store is closed"));
    return new Promise((resolve, reject) => {
      this.#queue.push({ write, resolve, reject });
      if (this.#scheduled) return;
      if (isRenewal(write) && this.#queue.length < MOST_RENEWALS) {
        this.#waiting ??= setTimeout(() => this.#flush(), RENEWAL_WAIT);
        return;
      }
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    });
  }

  /** Writes what is queued; later writes are refused. */
  close(): void {
    this.#closed = true;
    this.#flush();
  }

  #flush(): void {
    this.#scheduled = false;
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    const queue = this.#queue;
    if (queue.length === 0) return;
    this.#queue = [];
    const batch: Batch = { revision: this.#records.revision, events: [], settled: [] };
    try {
      this.#recover();
      this.#commit(queue, batch);
    } catch (error) {
      this.#abandon(queue, batch, error);
      return;
    }
    this.failure = undefined;
    this.#watches.dispatch(batch.events);
    for (const settle of batch.settled) settle();
  }

  #commit(queue: readonly Queued[], batch: Batch): void {
    const { database } = this.#records;
    const start = batch.revision;
    database.exec("BEGIN IMMEDIATE");
    for (const queued of queue) {
      try {
        const stored = this.#charge(clusterOf(queued.write), "a write to the store", () =>
          this.#perform(queued.write, batch),
        );
        batch.settled.push(() => queued.resolve(stored));
      } catch (error) {
        if (!(error instanceof CausewayError)) throw error;
        batch.settled.push(() => queued.reject(error));
      }
    }
    if (batch.revision !== start) {
      this.#records.run("UPDATE state SET revision = ?", batch.revision);
      compactStep(this.#records, this.#horizon(batch.revision), batch.revision - start);
    }
    database.exec("COMMIT");
    this.#records.revision = batch.revision;
  }

  /** Up to where history may go: slow readers keep as much again as there always is, and end as expired beyond it. */
  #horizon(revision: number): number {
    const latest = revision - this.#history;
    return Math.min(latest, Math.max(this.#watches.oldestNeeded(), latest - this.#history));
  }

  /** After a failed transaction: undoes it, and takes what is known from the disk again. */
  #recover(): void {
    if (!this.#abandoned) return;
    const { database } = this.#records;
    if (database.isTransaction) database.exec("ROLLBACK");
    this.#records.reload();
    this.#abandoned = false;
  }

  /** Nothing of the batch happened: forget it and say so to every caller. */
  #abandon(queue: readonly Queued[], batch: Batch, error: unknown): void {
    for (const event of batch.events) this.#records.forget(event.revision);
    this.#abandoned = true;
    try {
      this.#recover();
    } catch {
      // The disk cannot even be read: the next write tries again before it does anything.
    }
    this.failure = { at: systemClock.now(), reason: messageOf(error) };
    const failure = new CausewayError("STATE_WRITE_FAILED", `the state could not be written: ${messageOf(error)}`, {
      cause: error,
      hint: "Free space on the disk of the state folder and check that it is writable.",
    });
    for (const queued of queue) queued.reject(failure);
  }

  #perform(write: Write, batch: Batch): Stored | undefined {
    switch (write.kind) {
      case "create":
        return this.#put(write.key, write.object, undefined, batch);
      case "update":
        return this.#put(write.key, write.object, write.expected, batch);
      case "remove":
        return this.#remove(write.key, write.expected, batch);
      case "drop": {
        const dropped = dropCluster(this.#records, write.cluster, batch.revision);
        batch.revision = dropped.revision;
        batch.events.push(...dropped.events);
        return undefined;
      }
    }
  }

  #put(key: StoreKey, object: KubeObject, expected: number | undefined, batch: Batch): Stored {
    const current = this.#records.latestRevision(key);
    if (expected === undefined && current !== undefined) throw alreadyExists(key);
    if (expected !== undefined) checkExpected(key, expected, current);
    // All that may throw for this write alone comes before the first change.
    const previous = current !== undefined && this.#watches.has(key) ? this.#records.load(key, current) : undefined;
    const revision = batch.revision + 1;
    const stored = { key, revision, object: withRevision(object, revision) };
    const json = JSON.stringify(stored.object);
    const value = this.#records.encoded(json, key);
    batch.revision = revision;
    this.#append(key, revision, { type: current === undefined ? ADDED : MODIFIED, previous: current, value });
    this.#records.remember(revision, stored.object, json.length);
    batch.events.push({
      ...stored,
      type: current === undefined ? "ADDED" : "MODIFIED",
      ...(previous === undefined ? {} : { previous }),
    });
    return stored;
  }

  #remove(key: StoreKey, expected: number, batch: Batch): Stored {
    const current = this.#records.latestRevision(key);
    checkExpected(key, expected, current);
    const previous = this.#records.load(key, current);
    const revision = ++batch.revision;
    this.#append(key, revision, { type: DELETED, previous: current, value: null });
    const stored = { key, revision, object: withRevision(previous, revision) };
    batch.events.push({ ...stored, type: "DELETED", previous });
    return stored;
  }

  #append(
    key: StoreKey,
    revision: number,
    entry: { type: number; previous: number | undefined; value: string | Uint8Array | null },
  ): void {
    const records = this.#records;
    const collection = records.ensureCollection(key.cluster, key.resource);
    records.run(
      "INSERT INTO log (revision, collection, namespace, name, type, previous, value) VALUES (?, ?, ?, ?, ?, ?, ?)",
      revision,
      collection,
      key.namespace,
      key.name,
      entry.type,
      entry.previous ?? null,
      entry.value,
    );
    if (entry.type === DELETED) {
      records.run(
        "DELETE FROM latest WHERE collection = ? AND namespace = ? AND name = ?",
        collection,
        key.namespace,
        key.name,
      );
    } else {
      records.run("INSERT OR REPLACE INTO latest VALUES (?, ?, ?, ?)", collection, key.namespace, key.name, revision);
    }
  }
}

/** A Lease that is there already, of those that kubelets renew. */
function isRenewal({ kind, ...write }: Write): boolean {
  if (kind !== "update" || !("key" in write)) return false;
  return write.key.namespace === "kube-node-lease" && write.key.resource === "coordination.k8s.io/leases";
}

function clusterOf(write: Write): string {
  return write.kind === "drop" ? write.cluster : write.key.cluster;
}

function checkExpected(key: StoreKey, expected: number, current: number | undefined): asserts current is number {
  if (current === undefined) throw notFound(key);
  if (current !== expected) throw conflict(key, expected, current);
}
