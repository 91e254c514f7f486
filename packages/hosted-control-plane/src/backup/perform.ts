import type { Log } from "@causeway/foundation";
import type { Backups } from "./backups.ts";
import type { Observed } from "./gather.ts";
import { isFull } from "./points.ts";
import { backupSecrets } from "./secrets.ts";
import type { Step } from "./steps.ts";

/** Where backups are kept. */
export interface PerformContext {
  readonly backups: Backups;
  readonly log: Log;
}

/**
 * Does one step. A copy that was not completed has no point: the next plan begins it again, and the sweep deletes its
 * data.
 */
export async function perform(
  { backups, log }: PerformContext,
  step: Step,
  { spec, keyspace, encryption }: Observed,
  signal: AbortSignal,
): Promise<void> {
  const { backup } = spec;
  if (backup === undefined) return;
  if (step.type === "sweep") return backups.sweep(backup.folder, signal);
  if (step.type === "delete") return backups.delete(backup.folder, step.point, signal);
  if (keyspace === undefined || encryption === undefined) return;
  const parent = step.parent === undefined ? {} : { parent: step.parent };
  const from = { folder: backup.folder, keyspace, secrets: backupSecrets(spec, encryption), ...parent };
  const point = await backups.take(from, signal);
  log.info("control plane backed up", { id: spec.id, point: point.id, full: isFull(point) });
}
