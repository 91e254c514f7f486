import { messageOf, type Clock } from "@causeway/foundation";
import { gatherSweep, type SweepFrom } from "./gather.ts";
import { removeOrphan } from "./perform.ts";
import { planSweep, type Orphan, type SweepOptions } from "./plan.ts";

/** An orphan, and what became of it. */
export interface Swept extends Orphan {
  readonly outcome: "kept" | "found" | "removed" | "failed";
  /** Why it could not be removed. */
  readonly error?: string;
}

export interface SweepRequest extends SweepFrom, SweepOptions {
  /** Only tells what is there. */
  readonly dryRun: boolean;
  readonly clock: Clock;
}

/**
 * Finds, and removes, what this cluster's Services left in the cloud: load balancers, floating IPs, security groups. One that
 * cannot be removed holds up no other. Throws SWEEP_OTHER_CLUSTER.
 */
export async function sweepOrphans(request: SweepRequest, signal: AbortSignal): Promise<readonly Swept[]> {
  const observed = await gatherSweep(request, signal);
  const swept: Swept[] = [];
  for (const orphan of planSweep(observed, request)) {
    if (orphan.kept !== undefined) swept.push({ ...orphan, outcome: "kept" });
    else if (request.dryRun) swept.push({ ...orphan, outcome: "found" });
    else {
      const error = await removeOrphan({ ...request, ports: observed.ports }, orphan, signal).then(
        () => undefined,
        (reason: unknown) => messageOf(reason),
      );
      signal.throwIfAborted();
      swept.push({ ...orphan, ...(error === undefined ? { outcome: "removed" } : { outcome: "failed", error }) });
    }
  }
  return swept;
}
