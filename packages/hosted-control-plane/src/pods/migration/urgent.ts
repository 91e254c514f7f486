import { isAborted, messageOf, type Log } from "@causeway/foundation";
import type { Reconcile } from "@causeway/kubernetes";
import type { MigrationMemory } from "./memory.ts";
import { datastoreWithData, migrationOf, type ServedFrom } from "./served.ts";

/** Milliseconds until what failed while writes are refused is repeated. */
export const FROZEN_AGAIN = 1_000;

/** Writes are refused, or may be: as far as is known they were not accepted again. */
export function mayBeFrozen(from: ServedFrom, memory: MigrationMemory | undefined): boolean {
  const record = migrationOf(from);
  if (record === undefined || datastoreWithData(from) === "Own") return false;
  const isThawed = memory?.attempt === record.attempt && memory.thawed === "Returning";
  return record.stage === "Freezing" || record.stage === "Switching" || (record.stage === "Returning" && !isThawed);
}

/** The pauses of the queue are twice as long each time, up to minutes, in which clients could not write. */
export function withShortPauses(
  reconcile: Reconcile,
  { isFrozen, log }: { readonly isFrozen: (id: string) => boolean; readonly log: Log },
): Reconcile {
  return async (key, signal) => {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (signal.aborted || isAborted(error) || !isFrozen(key.name)) throw error;
      log.warn("a step failed while writes are refused, and is repeated soon", { ...key, reason: messageOf(error) });
      return { after: FROZEN_AGAIN };
    }
  };
}
