import type { Clock } from "@causeway/foundation";
import type { Keyspace } from "./datastore.ts";
import type { RestoreSpec } from "../backup-spec.ts";
import { abandonedData, type Point } from "./points.ts";
import { pointsOf, restoreData, secretsAt } from "./restore.ts";
import { sealedStore, type ObjectStore } from "./store.ts";
import { deletePoint, takePoint, type BackupSecrets } from "./take.ts";

/** Takes and restores the points of control planes in one object store. */
export interface Backups {
  points(folder: string, signal: AbortSignal): Promise<Point[]>;
  /** All data, or what changed since `parent`. */
  take(
    spec: { folder: string; keyspace: Keyspace; secrets: BackupSecrets; parent?: Point },
    signal: AbortSignal,
  ): Promise<Point>;
  delete(folder: string, point: Point, signal: AbortSignal): Promise<void>;
  /** Deletes data that killed programs left, a day after they began. */
  sweep(folder: string, signal: AbortSignal): Promise<void>;
  secrets(restore: RestoreSpec, signal: AbortSignal): Promise<BackupSecrets>;
  restore(restore: RestoreSpec, keyspace: Keyspace, signal: AbortSignal): Promise<void>;
}

/** The object store of all control planes of a process, and how it is used. */
export interface BackupsOptions {
  readonly store: ObjectStore;
  /** 32 bytes of the operator: every object is encrypted with it. */
  readonly key: Uint8Array;
  readonly clock: Clock;
}

/** @throws BACKUP_KEY_INVALID */
export function createBackups({ store: raw, key, clock }: BackupsOptions): Backups {
  const store = sealedStore(raw, key);
  return {
    points: (folder, signal) => pointsOf(store, folder, signal),
    take: (spec, signal) => takePoint({ ...spec, store, clock }, signal),
    delete: (folder, point, signal) => deletePoint(store, folder, point, signal),
    async sweep(folder, signal) {
      const names = await store.list(`${folder}/data/`, signal);
      const points = await pointsOf(store, folder, signal);
      for (const name of abandonedData(names, points, clock.now())) await store.delete(name, signal);
    },
    secrets: (restore, signal) => secretsAt({ ...restore, store }, signal),
    restore: (restore, keyspace, signal) => restoreData({ ...restore, store }, keyspace, { clock, signal }),
  };
}
