import type { HostedControlPlane } from "@causeway/api";
import type { WantedCondition } from "@causeway/kubernetes";
import type { BackupSpec, RestoreSpec } from "../backup-spec.ts";
import type { BackupState } from "../runtime.ts";

/** A point with all data is created, if there is none since this time (RFC 3339). */
export const backupRequestAnnotation = "controlplane.causeway.dev/backup-requested";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** The namespace is the object's own: a restore of another namespace's backups is not possible. */
export function backupOf({ metadata, spec }: HostedControlPlane): BackupSpec | undefined {
  if (spec.backup === undefined || metadata.uid === undefined) return undefined;
  const { fullEveryHours = 24, changesEverySeconds = 300, keepDays = 7 } = spec.backup;
  const requestedAt = Date.parse(metadata.annotations?.[backupRequestAnnotation] ?? "");
  return {
    folder: `${metadata.namespace}/${metadata.name}/${metadata.uid}`,
    fullEvery: fullEveryHours * HOUR,
    changesEvery: changesEverySeconds * SECOND,
    keep: keepDays * 24 * HOUR,
    ...(Number.isNaN(requestedAt) ? {} : { requestedAt }),
  };
}

/** What the object says it is created from. */
export function restoreOf({ metadata, spec: { restore } }: HostedControlPlane): RestoreSpec | undefined {
  if (restore === undefined) return undefined;
  const at = restore.at === undefined ? undefined : Date.parse(restore.at);
  return { folder: `${metadata.namespace}/${restore.from}`, ...(at === undefined ? {} : { at }) };
}

/** Is there a point as young as the object wants it? */
export function backedUp(
  { spec: { backup } }: HostedControlPlane,
  state: BackupState | undefined,
  now: number,
): WantedCondition[] {
  if (backup === undefined) return [];
  const type = "BackedUp";
  const { problem, newest } = state ?? {};
  if (problem !== undefined)
    return [{ type, status: "False", reason: "BackupFailed", message: `${problem.message} (${problem.code})` }];
  if (newest === undefined)
    return [{ type, status: "False", reason: "Waiting", message: "the first backup is created when the API serves" }];
  const allowed = 3 * (backup.changesEverySeconds ?? 300) * SECOND;
  if (now - newest <= allowed) return [{ type, status: "True", reason: "BackedUp" }];
  const message = `the newest backup is from ${new Date(newest).toISOString()}: the control plane does not run, or its etcd cannot be reached`;
  return [{ type, status: "False", reason: "BackupOld", message }];
}

/** For the status; times in RFC 3339. */
export function backupStatus(state: BackupState | undefined) {
  if (state === undefined) return {};
  const { folder, points, oldest, newest, newestFull } = state;
  const time = (at: number | undefined) =>
    at === undefined ? undefined : `${new Date(at).toISOString().slice(0, 19)}Z`;
  const [from, to, full] = [time(oldest), time(newest), time(newestFull)];
  return {
    backup: {
      folder,
      points,
      ...(from === undefined ? {} : { oldest: from }),
      ...(to === undefined ? {} : { newest: to }),
      ...(full === undefined ? {} : { newestFull: full }),
    },
  };
}
