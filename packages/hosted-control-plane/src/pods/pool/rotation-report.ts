import { canonicalJson, type Log, type Metrics } from "@causeway/foundation";
import type { PoolState } from "./state.ts";

/** Names in one line of the log. */
const MOST_NAMES = 20;

/**
 * Reports how a rotation of the shared authority continues, and which control planes it waits for: one whose
 * spec is refused, or whose pods do not start, holds it back until it is repaired or deleted.
 */
export function rotationReport({ metrics, log }: { readonly metrics: Metrics | undefined; readonly log: Log }) {
  const waiting = metrics?.gauge({
    name: "causeway_shared_etcd_rotation_waiting",
    help: "Control planes that the rotation of the shared authority waits for.",
  });
  let reported = canonicalJson(null);
  return (rotation: PoolState["rotation"]): void => {
    waiting?.set(rotation?.waitsFor.length ?? 0);
    const now = canonicalJson(rotation ?? null);
    if (now === reported) return;
    reported = now;
    if (rotation === undefined) return log.info("the rotation of the shared etcd's authority has ended");
    const { stage, waitsFor } = rotation;
    log.info("the rotation of the shared etcd's authority continues", {
      stage,
      waiting: waitsFor.length,
      waitsFor: waitsFor.slice(0, MOST_NAMES).join(", "),
    });
  };
}
