import type { TimerEntry } from "./timers.ts";
import type { Identified } from "./interface.ts";
import type { StoredTable } from "./table.ts";

/**
 * Everything that was in the cloud at an instant. Rows are never changed in place, so a snapshot is lists of
 * references.
 */
export interface Snapshot {
  /** By the cloud's clock. */
  readonly at: number;
  readonly rows: ReadonlyMap<string, readonly Identified[]>;
}

const timerTable = "_agenda";

/** All rows of all tables; `at` is the instant that the timers' entries are relative to. */
export function takeSnapshot(tables: ReadonlyMap<string, StoredTable<Identified>>, at: number): Snapshot {
  return { at, rows: new Map([...tables].map(([name, table]) => [name, [...table.all()]])) };
}

/** Puts back what was there. What was to happen N seconds after the snapshot happens N seconds from now. */
export function restoreSnapshot(
  tables: ReadonlyMap<string, StoredTable<Identified>>,
  snapshot: Snapshot,
  { now, kept }: { readonly now: number; readonly kept: readonly string[] },
): void {
  const late = now - snapshot.at;
  for (const [name, table] of tables) {
    const rows = snapshot.rows.get(name) ?? [];
    if (name === timerTable) table.replace((rows as TimerEntry[]).map((entry) => ({ ...entry, at: entry.at + late })));
    else if (kept.includes(name))
      table.replace([...rows, ...table.all().filter(({ id }) => !rows.some((r) => r.id === id))]);
    else table.replace(rows);
  }
}
