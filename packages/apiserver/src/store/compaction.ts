import { DELETED, type Records } from "./records.ts";

/** Revisions that one transaction passes at least while history is too long. */
const MINIMUM_STEP = 64;

/**
 * Drops history up to `horizon`, at most a bounded number of revisions at a time, inside the caller's transaction: so
 * compaction costs no sync of its own and keeps twice the pace of the writes. A row that is passed frees the row it
 * replaced, and itself if it is a deletion; what remains is exactly the state at the horizon and every event after it.
 */
export function compactStep(records: Records, horizon: number, written: number): void {
  const floor = records.floor;
  const to = Math.min(horizon, floor + Math.max(MINIMUM_STEP, 2 * written));
  if (to <= floor) return;
  records.run(
    "DELETE FROM log WHERE revision IN (SELECT previous FROM log WHERE revision > ? AND revision <= ? AND previous IS NOT NULL)",
    floor,
    to,
  );
  records.run(`DELETE FROM log WHERE revision > ? AND revision <= ? AND type = ${DELETED}`, floor, to);
  records.run("UPDATE state SET floor = ?", to);
  records.floor = to;
}
