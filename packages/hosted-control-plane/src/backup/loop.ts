import { canonicalJson, CausewayError, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { runPipeline, runController, type ObjectKey, type Plan, type Shards, type Source } from "@causeway/kubernetes";
import { keyOfId, type BackupState, type ControlPlaneSpec } from "../runtime.ts";
import type { Backups } from "./backups.ts";
import type { Keyspace } from "./datastore.ts";
import { expiredPoints, isFull, nextPoint, type Point } from "./points.ts";
import { backupSecrets } from "./secrets.ts";
import { notOffered } from "./store.ts";

/** A control plane that a runtime runs: what is backed up of it. */
export interface BackupTarget {
  readonly spec: ControlPlaneSpec;
  /** Undefined: the etcd cannot be reached, or nothing was stored yet. */
  readonly keyspace: Keyspace | undefined;
  /** Of encryption at rest. */
  readonly encryption: string | undefined;
}

/** What the plan of one control plane's backups is made from. */
export interface BackupObserved extends BackupTarget {
  readonly points: readonly Point[];
}

/** Take a point: all data, or what changed since `parent`; delete one, or what is left of points that never were. */
export type BackupStep =
  | { readonly type: "take"; readonly parent?: Point }
  | { readonly type: "delete"; readonly point: Point }
  | { readonly type: "sweep" };

/** The rules of backups: what is due is created, and what no time within the retention needs is deleted. */
export function planBackup(
  { spec: { backup }, points, keyspace, encryption }: BackupObserved,
  now: number,
): Plan<BackupStep, BackupState | undefined> {
  if (backup === undefined) return { steps: [], status: undefined };
  const status = stateOf(backup.folder, points);
  const next = nextPoint(points, backup, now);
  const newest = points.toSorted((a, b) => b.time - a.time)[0];
  const canTake = keyspace !== undefined && encryption !== undefined;
  if (!("at" in next)) {
    if (!canTake)
      return { steps: [], status, wait: { for: "the etcd of the control plane", until: now + backup.changesEvery } };
    const parent = next.take === "changes" && newest !== undefined ? { parent: newest } : {};
    // The names of all data are listed as rarely as all data is copied.
    const sweep: BackupStep[] = next.take === "full" ? [{ type: "sweep" }] : [];
    return { steps: [{ type: "take", ...parent }, ...sweep], status };
  }
  const steps = expiredPoints(points, backup, now).map((point): BackupStep => ({ type: "delete", point }));
  return { steps, status, wait: { for: "the next backup", until: next.at } };
}

function stateOf(folder: string, points: readonly Point[]): BackupState {
  const times = (of: readonly Point[]) => of.map(({ time }) => time);
  const all = times(points);
  const fulls = times(points.filter(isFull));
  return {
    folder,
    points: points.length,
    ...(all.length === 0 ? {} : { oldest: Math.min(...all), newest: Math.max(...all) }),
    ...(fulls.length === 0 ? {} : { newestFull: Math.max(...fulls) }),
  };
}

/** The control planes to back up, and where what is known of their backups goes. */
export interface BackupLoopOptions {
  /** Undefined: control planes that want backups have a condition that says so. */
  readonly backups: Backups | undefined;
  /** Of a control plane that was requested; undefined: there is none. */
  readonly observe: (id: string, signal: AbortSignal) => Promise<BackupTarget | undefined>;
  readonly ids: () => readonly string[];
  /** Of the loop, for metrics: "pods-backup". */
  readonly name: string;
  readonly publish: (id: string, state: BackupState | undefined) => void;
  /** The namespaces of the management cluster that this process works on. Default: all. */
  readonly shards?: Shards | undefined;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Backs control planes up by their schedules, next to the loop that runs them: a long backup holds nothing up. */
export function createBackupLoop(options: BackupLoopOptions): {
  wake(id: string): void;
  run(signal: AbortSignal): Promise<void>;
} {
  const { name, backups, observe, ids, publish, shards, clock, log, metrics } = options;
  let wake: (id: string) => void = () => {};
  const pipeline = {
    async gather({ name: id }: ObjectKey, signal: AbortSignal): Promise<BackupObserved | undefined> {
      const target = await observe(id, signal);
      if (target === undefined) return undefined;
      const { spec } = target;
      if (spec.backup === undefined) return (publish(id, undefined), undefined);
      if (backups === undefined) return (fail(id, notOffered()), undefined);
      try {
        return { ...target, points: await backups.points(spec.backup.folder, signal) };
      } catch (error) {
        fail(id, error, spec.backup.folder);
        throw error;
      }
    },
    plan: planBackup,
    async perform(
      step: BackupStep,
      { spec, keyspace, encryption }: BackupObserved,
      signal: AbortSignal,
    ): Promise<void> {
      const { backup } = spec;
      if (backups === undefined || backup === undefined) return;
      if (step.type === "sweep") return backups.sweep(backup.folder, signal);
      if (step.type === "delete") return backups.delete(backup.folder, step.point, signal);
      if (keyspace === undefined || encryption === undefined) return;
      const parent = step.parent === undefined ? {} : { parent: step.parent };
      const from = { folder: backup.folder, keyspace, secrets: backupSecrets(spec, encryption), ...parent };
      const point = await backups.take(from, signal);
      log.info("control plane backed up", { id: spec.id, point: point.id, full: isFull(point) });
    },
    publish: async ({ spec }: BackupObserved, state: BackupState | undefined) => publish(spec.id, state),
    failed: (
      _: BackupObserved,
      { status }: Plan<BackupStep, BackupState | undefined>,
      __: BackupStep,
      error: unknown,
    ) => ({
      status: status && { ...status, problem: problemOf(error) },
      events: [],
    }),
    epochOf: ({ spec }: BackupObserved) => canonicalJson(spec.backup ?? null),
  };
  const fail = (id: string, error: unknown, folder = ""): void =>
    publish(id, { folder, points: 0, problem: problemOf(error) });
  return {
    wake: (id) => wake(id),
    run(signal) {
      const requests: Source = (enqueue) => {
        wake = (id) => enqueue(keyOfId(id));
        for (const id of ids()) wake(id);
        return () => (wake = () => {});
      };
      const reconcile = runPipeline(pipeline, { clock, log, name, ...(metrics ? { metrics } : {}) });
      const ready = async () => {};
      return runController({ name, reconcile, sources: [requests], clock, log, ready, shards }, signal);
    },
  };
}

function problemOf(error: unknown) {
  const code = error instanceof CausewayError ? error.code : "BACKUP_FAILED";
  const hint = error instanceof CausewayError && error.hint !== undefined ? `. ${error.hint}` : "";
  return { code, message: `${messageOf(error)}${hint}`, actor: "operator" } as const;
}
