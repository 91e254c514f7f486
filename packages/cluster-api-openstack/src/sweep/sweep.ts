import { InputError, messageOf, type Clock } from "@causeway/foundation";
import { clusterResourceName } from "../resources/naming.ts";
import { gatherClusterSweep, livingClusters, type SweepSources } from "./gather.ts";
import type { ClusterOrphan } from "./model.ts";
import { deleteOrphan } from "./perform.ts";
import { planClusterSweep, type SweepChoice } from "./plan.ts";

/** Which orphans of deleted clusters are searched in a project, and which of them are deleted. */
export interface ClusterSweep extends SweepSources, SweepChoice {
  /** The clusters to delete the resources of; none: everything is only listed. */
  readonly clusters: readonly { readonly namespace: string; readonly name: string }[];
  readonly dryRun: boolean;
  readonly clock: Clock;
  /** Called with the names, NAMESPACE-NAME, of all deleted clusters that left something, whichever were named. */
  readonly onClusters?: (names: readonly string[]) => void;
  /** Called with what would be deleted, before it is. Not given: it is deleted without a question. */
  readonly confirm?: (orphans: readonly ClusterOrphan[]) => Promise<boolean>;
}

/** An orphan, and what became of it. */
export interface SweptResource extends ClusterOrphan {
  readonly outcome: "found" | "kept" | "removed" | "failed";
  readonly error?: string;
}

/**
 * Lists what deleted clusters left in a project, and deletes what the named ones left.
 * @throws SWEEP_CLUSTER_EXISTS when the management cluster has an object of a named cluster
 */
export async function sweepClusters(request: ClusterSweep, signal: AbortSignal): Promise<SweptResource[]> {
  const observed = await gatherClusterSweep(request, signal);
  const named = new Set(request.clusters.map(({ namespace, name }) => clusterResourceName(namespace, name)));
  const exists = request.clusters.find(({ namespace, name }) =>
    observed.living.has(clusterResourceName(namespace, name)),
  );
  if (exists) {
    const path = `${exists.namespace}/${exists.name}`;
    throw new InputError("SWEEP_CLUSTER_EXISTS", `The management cluster has objects of cluster ${path}.`, {
      hint: "Delete the Cluster; its deletion removes what it has in the cloud.",
    });
  }
  const all = planClusterSweep(observed, request);
  request.onClusters?.([...new Set(all.map(({ cluster }) => cluster))]);
  const orphans = named.size === 0 ? all : all.filter(({ cluster }) => named.has(cluster));
  const deletable = orphans.filter(({ kept }) => kept === undefined);
  const listed = orphans.map((orphan): SweptResource => ({
    ...orphan,
    outcome: orphan.kept === undefined ? "found" : "kept",
  }));
  if (named.size === 0 || request.dryRun || deletable.length === 0) return listed;
  if (request.confirm && !(await request.confirm(deletable))) return listed;
  return deleteAll(request, orphans, signal);
}

async function deleteAll(
  request: ClusterSweep,
  orphans: readonly ClusterOrphan[],
  signal: AbortSignal,
): Promise<SweptResource[]> {
  // A question may have waited for its answer for long.
  const living = await livingClusters(request.client, signal);
  const swept: SweptResource[] = [];
  for (const orphan of orphans) {
    if (orphan.kept !== undefined || living.has(orphan.cluster)) {
      swept.push({ ...orphan, outcome: "kept", kept: orphan.kept ?? "the management cluster has the cluster again" });
      continue;
    }
    try {
      await deleteOrphan(request, orphan, signal);
      swept.push({ ...orphan, outcome: "removed" });
    } catch (error) {
      signal.throwIfAborted();
      swept.push({ ...orphan, outcome: "failed", error: messageOf(error) });
    }
  }
  return swept;
}
