import { rmSync } from "node:fs";
import type { Clock } from "@causeway/foundation";
import type { StateFiles } from "../store/state-files.ts";
import type { Store } from "../store/index.ts";
import { STATE_FILE } from "../store/index.ts";
import { writeArchive, type Source } from "./archive.ts";

/** A backup while it is written: what it contains, and its bytes. */
export interface Backup {
  /** The revision of the store that it holds. */
  readonly revision: number;
  readonly bytes: number;
  /**
   * Logical clusters whose objects it lacks, since their worker process cannot read its database. Absent when it has
   * all.
   */
  readonly missing?: readonly string[];
}

/** What a backup is made of. */
export interface BackupOf {
  readonly store: Store;
  readonly files: StateFiles;
  readonly clock: Clock;
  /** Snapshots of the databases of worker processes, by their place in the state folder. */
  readonly workers?: readonly Source[];
}

/** Writes the database, as of one moment, and all state files (authorities, keys, settings) to one archive. */
export async function backUp(file: string, { store, files, clock, workers = [] }: BackupOf): Promise<Backup> {
  const snapshot = `${file}.${process.pid}.database`;
  try {
    const revision = await store.snapshot(snapshot);
    const kept = files.all().map((name) => ({ name, text: files.read(name) ?? "" }));
    const created = new Date(clock.now()).toISOString();
    const { entries } = await writeArchive(file, { created, revision }, [
      { name: STATE_FILE, path: snapshot },
      ...workers,
      ...kept,
    ]);
    return { revision, bytes: entries.reduce((sum, e) => sum + e.size, 0) };
  } finally {
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(`${snapshot}${suffix}`, { force: true });
  }
}
