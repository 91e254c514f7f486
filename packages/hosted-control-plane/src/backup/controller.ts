import {
  canonicalJson,
  CausewayError,
  hasCode,
  messageOf,
  type Clock,
  type Log,
  type Metrics,
} from "@causeway/foundation";
import {
  runController,
  runPipeline,
  type ObjectKey,
  type Pipeline,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import { keyOfId, type BackupState } from "../runtime.ts";
import type { Backups } from "./backups.ts";
import { gather, type BackupTarget, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";
import { notOffered } from "./store.ts";

/** The control planes to back up, and where what is known of their backups goes. */
export interface BackupControllerOptions {
  /** Undefined: control planes that want backups have a condition that says so. */
  readonly backups: Backups | undefined;
  /** Of a control plane that was requested; undefined: there is none. */
  readonly observe: (id: string, signal: AbortSignal) => Promise<BackupTarget | undefined>;
  readonly ids: () => readonly string[];
  /** Of the controller, for metrics: "pods-backup". */
  readonly name: string;
  readonly publish: (id: string, state: BackupState | undefined) => void;
  /** The namespaces of the management cluster that this process works on. Default: all. */
  readonly shards?: Shards | undefined;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The controller of backups. */
export interface BackupController {
  /** A control plane was requested, or serves now. */
  wake(id: string): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Backs control planes up by their schedules, next to what runs them: a long backup holds nothing up. */
export function createBackupController(options: BackupControllerOptions): BackupController {
  const { name, ids, shards, clock, log, metrics } = options;
  let wake: (id: string) => void = () => {};
  return {
    wake: (id) => wake(id),
    run(signal) {
      const requests: Source = (enqueue) => {
        wake = (id) => enqueue(keyOfId(id));
        for (const id of ids()) wake(id);
        return () => (wake = () => {});
      };
      const reconcile = runPipeline(pipelineOf(options), { clock, log, name, ...(metrics ? { metrics } : {}) });
      const ready = async () => {};
      return runController({ name, reconcile, sources: [requests], clock, log, ready, shards }, signal);
    },
  };
}

function pipelineOf(options: BackupControllerOptions): Pipeline<Observed, Step, BackupState | undefined> {
  const { backups, observe, publish, log } = options;
  const fail = (id: string, error: unknown, folder = ""): void =>
    publish(id, { folder, points: 0, problem: problemOf(error) });
  return {
    async gather({ name: id }: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
      const target = await observe(id, signal);
      if (target === undefined) return undefined;
      const { backup } = target.spec;
      if (backup === undefined) return (publish(id, undefined), undefined);
      if (backups === undefined) return (fail(id, notOffered()), undefined);
      try {
        return await gather(backups, target, signal);
      } catch (error) {
        fail(id, error, backup.folder);
        throw error;
      }
    },
    plan,
    async perform(step, observed, signal) {
      if (backups !== undefined) await perform({ backups, log }, step, observed, signal);
    },
    publish: async ({ spec }, state) => publish(spec.id, state),
    failed: (_observed, { status }, _step, error) => ({
      status: status && { ...status, problem: problemOf(error) },
      events: [],
    }),
    isRefusal: (error) => hasCode(error, "CLOUD_DELETIONS_HELD"),
    epochOf: ({ spec }) => canonicalJson(spec.backup ?? null),
  };
}

function problemOf(error: unknown) {
  const code = error instanceof CausewayError ? error.code : "BACKUP_FAILED";
  const hint = error instanceof CausewayError && error.hint !== undefined ? `. ${error.hint}` : "";
  return { code, message: `${messageOf(error)}${hint}`, actor: "operator" } as const;
}
