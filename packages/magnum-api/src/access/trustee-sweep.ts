import { messageOf, type Clock, type Log } from "@causeway/foundation";
import type { Trustees } from "./trustees.ts";

/** Milliseconds between two sweeps, and before the first one. */
const INTERVAL = 60 * 60_000;
const FIRST = 60_000;
/** Users that one sweep deletes at most. */
const MOST = 100;
/** Users that cannot be deleted, after which a sweep ends. */
const MOST_FAILURES = 3;

/** What a sweep of orphaned trustee users reads, and the clock that sets its intervals. */
export interface TrusteeSweep {
  readonly trustees: Pick<Trustees, "own" | "discard">;
  /** Whether there is a cluster with this uuid, as the management cluster has it now, of any state. */
  readonly hasCluster: (uuid: string, signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Deletes users of clusters that are gone: where Keystone is away when a cluster goes, its user remains. A cluster is
 * there before its user is created, so that a user without one has none any longer. Only users with the mark of this
 * installation are deleted. How many were.
 */
export async function sweepTrustees(
  { trustees, hasCluster, log }: Omit<TrusteeSweep, "clock">,
  signal: AbortSignal,
  stuck: Set<string> = new Set(),
): Promise<number> {
  let [deleted, failed] = [0, 0];
  // Those that could not be deleted last time come last, so that they keep no other from its turn.
  const all = (await trustees.own(signal)).toSorted((a, b) => Number(stuck.has(a.id)) - Number(stuck.has(b.id)));
  for (const trustee of all) {
    if (await hasCluster(trustee.uuid, signal)) continue;
    const facts = { user: trustee.id, cluster: trustee.uuid };
    try {
      await trustees.discard(trustee, signal);
      log.warn("deleted the user of a cluster that is gone", facts);
      deleted += 1;
      stuck.delete(trustee.id);
    } catch (error) {
      stuck.add(trustee.id);
      log.warn("the user of a cluster that is gone could not be deleted", { ...facts, error: messageOf(error) });
      failed += 1;
      if (failed === MOST_FAILURES) throw error;
    }
    if (deleted === MOST) break;
  }
  return deleted;
}

/** Sweeps once an hour until the signal aborts. A sweep that fails is logged, and done again at the next time. */
export async function sweepRegularly(options: TrusteeSweep, signal: AbortSignal): Promise<void> {
  const { clock, log } = options;
  const stuck = new Set<string>();
  for (let wait = FIRST; !signal.aborted; wait = INTERVAL) {
    try {
      await clock.sleep(wait, signal);
      await sweepTrustees(options, signal, stuck);
    } catch (error) {
      if (signal.aborted) return;
      log.warn("cannot list or delete the Keystone users of deleted clusters", { error: messageOf(error) });
    }
  }
}
