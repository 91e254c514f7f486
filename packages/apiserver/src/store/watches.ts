import { expired } from "./errors.ts";
import type { Charge, Store, StoreEvent } from "./interface.ts";
import { ADDED, collectionKey, DELETED, withRevision, type Records } from "./records.ts";

type WatchQuery = Parameters<Store["watch"]>[0];
type Listener = Parameters<Store["watch"]>[1];

/** Events read from the log in one turn of the event loop, and about how long they may be together. */
const REPLAY_STEP = 500;
const REPLAY_BYTES = 512 * 1024;

interface Watcher {
  readonly query: WatchQuery;
  readonly listener: Listener;
  /** Everything up to here was handed over. While it lives on the log, the writer's events pass it by. */
  position: number;
  replaying: boolean;
  stopped: boolean;
}

/** All watchers. Each first reads the log up to the newest revision, a step per turn, and is then fed by the writer. */
export class Watches {
  readonly #records: Records;
  readonly #charge: Charge;
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #replaying = new Set<Watcher>();
  /** Revisions whose state is still being read. */
  readonly #held = new Set<{ readonly revision: number }>();

  constructor(records: Records, charge: Charge) {
    this.#records = records;
    this.#charge = charge;
  }

  start(query: WatchQuery, listener: Listener): { stop(): void; readonly revision: number } {
    const floor = this.#records.floorOf(query.cluster);
    if (query.fromRevision < floor) throw expired(query.fromRevision, floor);
    const watcher: Watcher = { query, listener, position: query.fromRevision, replaying: false, stopped: false };
    const key = collectionKey(query.cluster, query.resource);
    const siblings = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, siblings.add(watcher));
    if (watcher.position < this.#records.revision) this.#replayLater(watcher);
    const records = this.#records;
    return {
      stop: () => this.#stop(watcher),
      get revision() {
        return watcher.replaying ? watcher.position : Math.max(watcher.position, records.revision);
      },
    };
  }

  has(of: { readonly cluster: string; readonly resource: string }): boolean {
    return this.#watchers.has(collectionKey(of.cluster, of.resource));
  }

  /** History after this revision is still to be read by a watch or a list. */
  oldestNeeded(): number {
    let oldest = Infinity;
    for (const watcher of this.#replaying) oldest = Math.min(oldest, watcher.position);
    for (const { revision } of this.#held) oldest = Math.min(oldest, revision);
    return oldest;
  }

  hold(revision: number): () => void {
    const held = { revision };
    this.#held.add(held);
    return () => this.#held.delete(held);
  }

  /** Hands committed events, in order, to the watchers that have read everything before them. */
  dispatch(events: readonly StoreEvent[]): void {
    if (this.#watchers.size === 0) return;
    for (const [key, batch] of grouped(events)) {
      const watchers = this.#watchers.get(key);
      const [first] = batch;
      if (watchers === undefined || first === undefined) continue;
      this.#charge(first.key.cluster, `watches of ${first.key.resource}`, () => {
        for (const watcher of watchers) {
          if (watcher.replaying) continue;
          const room = this.#deliver(watcher, batch);
          // Who cannot keep up reads the log at its own pace, so that nothing is kept for it in memory.
          if (room !== undefined && !watcher.stopped) this.#replayLater(watcher, room);
        }
      });
    }
  }

  close(): void {
    for (const siblings of this.#watchers.values()) for (const watcher of siblings) watcher.stopped = true;
    this.#watchers.clear();
    this.#replaying.clear();
  }

  #stop(watcher: Watcher): void {
    watcher.stopped = true;
    this.#replaying.delete(watcher);
    const key = collectionKey(watcher.query.cluster, watcher.query.resource);
    const siblings = this.#watchers.get(key);
    siblings?.delete(watcher);
    if (siblings?.size === 0) this.#watchers.delete(key);
  }

  #replayLater(watcher: Watcher, room?: Promise<unknown>): void {
    watcher.replaying = true;
    this.#replaying.add(watcher);
    const { cluster, resource } = watcher.query;
    const replay = (): unknown =>
      setImmediate(() => this.#charge(cluster, `history of ${resource}`, () => this.#replay(watcher)));
    if (room) void room.finally(replay);
    else replay();
  }

  #replay(watcher: Watcher): void {
    if (watcher.stopped) return;
    const read = this.#readOn(watcher);
    if (read === undefined) return;
    const { events, caughtUp } = read;
    const position = caughtUp ? this.#records.revision : (events.at(-1)?.revision ?? watcher.position);
    const room = this.#deliver(watcher, events);
    watcher.position = position;
    if (watcher.stopped) return;
    if (!caughtUp || room !== undefined) return this.#replayLater(watcher, room);
    watcher.replaying = false;
    this.#replaying.delete(watcher);
  }

  #readOn(watcher: Watcher): Past | undefined {
    try {
      // What a client did not read in time may be gone.
      const floor = this.#records.floorOf(watcher.query.cluster);
      if (watcher.position < floor) throw expired(watcher.position, floor);
      return readEvents(this.#records, watcher.query, watcher.position);
    } catch (error) {
      this.#stop(watcher);
      watcher.listener.onFailure?.(error);
      return undefined;
    }
  }

  /** Answers what the listener does: a promise when it wants to wait. */
  #deliver(watcher: Watcher, events: readonly StoreEvent[]): Promise<unknown> | undefined {
    if (watcher.stopped) return undefined;
    const { namespace } = watcher.query;
    const first = events[0];
    const wanted =
      namespace === undefined && first !== undefined && first.revision > watcher.position
        ? events
        : events.filter(
            (e) => e.revision > watcher.position && (namespace === undefined || e.key.namespace === namespace),
          );
    if (wanted.length === 0) return undefined;
    watcher.position = wanted.at(-1)?.revision ?? watcher.position;
    try {
      const answer = watcher.listener.onEvents(wanted);
      return answer instanceof Promise ? answer : undefined;
    } catch (error) {
      // One listener's defect must not take the writer, or the other listeners, with it.
      this.#stop(watcher);
      process.emitWarning(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }
}

function grouped(events: readonly StoreEvent[]): Map<string, StoreEvent[]> {
  const groups = new Map<string, StoreEvent[]>();
  for (const event of events) {
    const key = collectionKey(event.key.cluster, event.key.resource);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
  }
  return groups;
}

interface Past {
  readonly events: readonly StoreEvent[];
  /** There is nothing after them. */
  readonly caughtUp: boolean;
}

function readEvents(records: Records, query: WatchQuery, after: number): Past {
  const collection = records.collection(query.cluster, query.resource);
  if (collection === undefined) return { events: [], caughtUp: true };
  const inNamespace = query.namespace === undefined ? "" : " AND e.namespace = ?";
  const sql = `SELECT e.revision, e.namespace, e.name, e.type, e.value, e.previous, p.value
     FROM log e LEFT JOIN log p ON p.revision = e.previous
     WHERE e.revision > ? AND +e.collection = ?${inNamespace} ORDER BY e.revision LIMIT ${REPLAY_STEP}`;
  const inside = query.namespace === undefined ? [] : [query.namespace];
  const rows = records.rowsUpTo({ sql, column: 4, bytes: REPLAY_BYTES }, after, collection, ...inside);
  const caughtUp = rows.length < REPLAY_STEP && !rows.isCut;
  return { events: rows.map((row) => eventOf(records, query, row)), caughtUp };
}

function eventOf(records: Records, query: WatchQuery, row: readonly unknown[]): StoreEvent {
  const [revisionValue, namespace, name, type, value, previousRevision, previousValue] = row;
  const revision = Number(revisionValue);
  const key = { cluster: query.cluster, resource: query.resource, namespace: String(namespace), name: String(name) };
  if (type === ADDED) {
    return { type: "ADDED", key, revision, object: records.parse({ key, revision, value }, false) };
  }
  const previous = records.parse({ key, revision: Number(previousRevision), value: previousValue }, false);
  if (type === DELETED) return { type: "DELETED", key, revision, object: withRevision(previous, revision), previous };
  return { type: "MODIFIED", key, revision, object: records.parse({ key, revision, value }, false), previous };
}
