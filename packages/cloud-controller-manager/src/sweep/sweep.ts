import { messageOf, type Clock } from "@causeway/foundation";
import { gatherSweep, type SweepFrom } from "./gather.ts";
import { removeOrphan, type PerformContext } from "./perform.ts";
import { clustersOf } from "./clusters.ts";
import { planSweep, type Orphan, type SweepOptions } from "./plan.ts";

/** An orphan, and what became of it. */
export interface Swept extends Orphan {
  readonly outcome: "kept" | "found" | "removed" | "failed";
  /** Why it could not be removed. */
  readonly error?: string;
}

/** The cluster whose orphans are searched, and whether they are deleted. */
export interface SweepRequest extends SweepFrom, SweepOptions {
  /** Only lists what would be deleted. */
  readonly dryRun: boolean;
  readonly clock: Clock;
  /** Only orphans of Services of this namespace. Default: of all. */
  readonly namespace?: string | undefined;
  /**
   * Is given what would be deleted, before anything is; false: nothing is deleted. Default: delete without
   * confirmation.
   */
  readonly confirm?: (orphans: readonly Orphan[]) => Promise<boolean>;
  /** Is given the names of the clusters that have load balancers, addresses or security groups in the project. */
  readonly onClusters?: (names: readonly string[]) => void;
}

/**
 * Finds, and removes, what this cluster's Services left in the cloud: load balancers, floating IPs, security groups.
 * One that cannot be removed holds up no other. Throws SWEEP_OTHER_CLUSTER.
 */
export async function sweepOrphans(request: SweepRequest, signal: AbortSignal): Promise<readonly Swept[]> {
  const observed = await gatherSweep(request, signal);
  request.onClusters?.(clustersOf(observed));
  const orphans = planSweep(observed, request).filter(
    ({ service }) => request.namespace === undefined || service.startsWith(`${request.namespace}/`),
  );
  const going = orphans.filter(({ kept }) => kept === undefined);
  const isDry = request.dryRun || (going.length > 0 && (await request.confirm?.(going)) === false);
  if (isDry) return orphans.map((orphan) => ({ ...orphan, outcome: orphan.kept === undefined ? "found" : "kept" }));
  return removeAll({ ...request, ports: observed.ports }, orphans, signal);
}

/** Removes those that are not kept. One that cannot be removed holds up no other. */
export async function removeAll(
  using: PerformContext,
  orphans: readonly Orphan[],
  signal: AbortSignal,
): Promise<readonly Swept[]> {
  const swept: Swept[] = [];
  for (const orphan of orphans) {
    if (orphan.kept !== undefined) {
      swept.push({ ...orphan, outcome: "kept" });
      continue;
    }
    const error = await removeOrphan(using, orphan, signal).then(
      () => undefined,
      (reason: unknown) => messageOf(reason),
    );
    signal.throwIfAborted();
    swept.push({ ...orphan, ...(error === undefined ? { outcome: "removed" } : { outcome: "failed", error }) });
  }
  return swept;
}
