import { randomUUID } from "node:crypto";
import { systemClock, type Clock } from "@causeway/foundation";
import { StoredTimers, type TimerEntry } from "./timers.ts";
import type { Identified, Kernel, Table } from "./interface.ts";
import { delaysOf } from "./delays.ts";
import { MovableClock } from "./movable-clock.ts";
import { Settings } from "./settings.ts";
import { restoreSnapshot, takeSnapshot, type Snapshot } from "./snapshot.ts";
import { memoryStore, openStore, type Store } from "./store.ts";
import { StoredTable, type UndoLog } from "./table.ts";

/** How to make a kernel; `delays` override those of `profile`, by operation, in milliseconds. */
export interface KernelOptions {
  /** State folder; undefined keeps all in memory. */
  readonly dir?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly newId?: (() => string) | undefined;
  readonly profile?: "instant" | "real" | undefined;
  readonly delays?: Readonly<Record<string, number>> | undefined;
}

/** The kernel with what only its owner may do. */
export interface OwnedKernel extends Kernel {
  readonly store: Store;
  readonly settings: Settings;
  readonly failures: readonly string[];
  /** "type id name" of everything in tables that are not internal, sorted; of one project, by its id. */
  inventory(projectId?: string): readonly string[];
  /** Lets the timers run. Call it when every service is made. */
  start(): void;
  /** Commits what has changed since the last flush. */
  flush(): void;
  /** Calls `changed` after each flush, whether anything has changed or not. */
  onFlush(changed: () => void): void;
  /** How many changes the tables have seen: what was computed from them is current while this is the same. */
  changes(): number;
  /** What is in every table now. */
  snapshot(): Snapshot;
  /** Puts back what was there; tables in `kept` only gain what they have lost. */
  restore(snapshot: Snapshot, kept?: readonly string[]): void;
  /** Puts the cloud's clock forward, and what is due by then happens. */
  advance(milliseconds: number): void;
  close(): void;
}

/** The base of all simulated services. Errors: STATE_TOO_NEW, STATE_IN_USE, STATE_UNREADABLE. */
export function createKernel(options: KernelOptions = {}): OwnedKernel {
  const clock = new MovableClock(options.clock ?? systemClock);
  const store = options.dir === undefined ? memoryStore() : openStore(options.dir);
  const undo: UndoLog = { current: undefined };
  const tables = new Map<string, StoredTable<Identified>>();
  let changes = 0;

  function table<T extends Identified>(name: string, indexes: readonly string[] = []): Table<T> {
    const known = tables.get(name);
    if (known) {
      known.index(indexes);
      return known as unknown as Table<T>;
    }
    const made = new StoredTable<T>(name, indexes, { store, undo, changed: () => void changes++ });
    tables.set(name, made as unknown as StoredTable<Identified>);
    return made;
  }

  const watchers: (() => void)[] = [];
  const flush = (): void => {
    store.flush();
    for (const changed of watchers) changed();
  };
  const timers = new StoredTimers({ clock, table: table<TimerEntry>("_agenda"), flush });
  const settings = new Settings(table("_quota"), { ...delaysOf(options.profile ?? "instant"), ...options.delays });

  return {
    clock,
    table,
    timers,
    store,
    settings,
    failures: timers.failures,
    delay: (operation) => settings.delays.get(operation) ?? 0,
    quota: (projectId, resource) => settings.quota(projectId, resource),
    ownQuotas: () => settings.quotas(),
    setQuota: (projectId, resource, limit) => settings.setQuota(projectId, resource, limit),
    outcome: (operation, ...names) => settings.outcome(operation, names),
    atomic: (work) => atomic(undo, work),
    newId: options.newId ?? randomUUID,
    timestamp: () => `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
    inventory: (projectId) => inventory([...tables.values()], projectId),
    start: () => timers.start(),
    flush,
    onFlush: (changed) => void watchers.push(changed),
    changes: () => changes,
    snapshot: () => takeSnapshot(tables, clock.now()),
    restore(snapshot, kept = []) {
      restoreSnapshot(tables, snapshot, { now: clock.now(), kept });
      timers.wake();
    },
    advance(milliseconds) {
      clock.advance(milliseconds);
      timers.wake();
    },
    close() {
      timers.stop();
      store.close();
    },
  };
}

function atomic<R>(undo: UndoLog, work: () => R): R {
  const outer = undo.current;
  const mine: (() => void)[] = [];
  undo.current = mine;
  try {
    const result = work();
    undo.current = outer;
    outer?.push(...mine);
    return result;
  } catch (error) {
    undo.current = undefined;
    for (const back of mine.toReversed()) back();
    undo.current = outer;
    throw error;
  }
}

function inventory(tables: readonly StoredTable<Identified>[], projectId: string | undefined): readonly string[] {
  const lines: string[] = [];
  for (const table of tables) {
    if (table.name.startsWith("_")) continue;
    for (const object of table.all() as readonly InventoryObject[]) {
      if (projectId !== undefined && (object.project_id ?? object.tenant_id) !== projectId) continue;
      lines.push(`${table.name} ${object.id} ${object.name ?? ""}`.trimEnd());
    }
  }
  return lines.sort();
}

interface InventoryObject extends Identified {
  readonly name?: string | null;
  readonly project_id?: string;
  readonly tenant_id?: string;
}
