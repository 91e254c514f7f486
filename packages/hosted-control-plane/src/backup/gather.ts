import type { ControlPlaneSpec } from "../runtime.ts";
import type { Backups } from "./backups.ts";
import type { Keyspace } from "./datastore.ts";
import type { Point } from "./points.ts";

/** A control plane that a runtime runs: what is backed up of it. */
export interface BackupTarget {
  readonly spec: ControlPlaneSpec;
  /** Undefined: the etcd cannot be reached, or nothing was stored yet. */
  readonly keyspace: Keyspace | undefined;
  /** Of encryption at rest. */
  readonly encryption: string | undefined;
}

/** What the plan of one control plane's backups is made from. */
export interface Observed extends BackupTarget {
  readonly points: readonly Point[];
}

/** Reads the points in the folder of a control plane; one that is not to be backed up has none to read. */
export async function gather(
  backups: Pick<Backups, "points">,
  target: BackupTarget,
  signal: AbortSignal,
): Promise<Observed> {
  const { backup } = target.spec;
  return { ...target, points: backup === undefined ? [] : await backups.points(backup.folder, signal) };
}
