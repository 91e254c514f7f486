import { InputError, messageOf, type Clock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import { gatherVolumes } from "./gather.ts";
import { planVolumes, type OrphanVolume } from "./plan.ts";

/** An orphan, and what became of it. */
export interface SweptVolume extends OrphanVolume {
  readonly outcome: "kept" | "found" | "removed" | "failed";
  /** Why it could not be removed. */
  readonly error?: string;
}

/** What to search, and whether it is deleted. */
export interface VolumeSweep {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  /** In the metadata of the cluster's volumes (--cluster of the driver). */
  readonly clusterName: string;
  readonly namespace?: string | undefined;
  readonly dryRun: boolean;
  readonly clock: Clock;
  /**
   * Is given what would be deleted, before anything is; false: nothing is deleted. Default: delete without
   * confirmation.
   */
  readonly confirm?: (orphans: readonly OrphanVolume[]) => Promise<boolean>;
}

/**
 * Finds, and removes, volumes, snapshots, backups and attachments whose objects in the cluster are gone. Throws
 * SWEEP_NAME_SHARED.
 */
export async function sweepVolumes(request: VolumeSweep, signal: AbortSignal): Promise<readonly SweptVolume[]> {
  const { client, cloud, clusterName, clock, namespace } = request;
  if (clusterName === "kubernetes") {
    throw new InputError("SWEEP_NAME_SHARED", "Every cluster has the name kubernetes that was given no other.", {
      hint: "Give each cluster's driver a name with --cluster; find the orphans of this one with `causeway doctor`.",
    });
  }
  const observed = await gatherVolumes(client, cloud, { signal });
  const orphans = planVolumes(observed, clusterName, clock.now()).filter(
    ({ claim }) => namespace === undefined || claim.startsWith(`${namespace}/`),
  );
  const leaving = orphans.filter(({ kept }) => kept === undefined);
  const isDry = request.dryRun || (leaving.length > 0 && (await request.confirm?.(leaving)) === false);
  const swept: SweptVolume[] = [];
  for (const orphan of orphans) {
    if (orphan.kept !== undefined) swept.push({ ...orphan, outcome: "kept" });
    else if (isDry) swept.push({ ...orphan, outcome: "found" });
    else swept.push(await removed(cloud, orphan, signal));
  }
  return swept;
}

async function removed({ blockStorage }: Cloud, orphan: OrphanVolume, signal: AbortSignal): Promise<SweptVolume> {
  const { attachments, snapshots, backups, volumes } = blockStorage;
  const collection = { attachment: attachments, snapshot: snapshots, backup: backups, volume: volumes }[orphan.kind];
  try {
    await collection.delete(orphan.id, { signal });
    return { ...orphan, outcome: "removed" };
  } catch (error) {
    signal.throwIfAborted();
    return { ...orphan, outcome: "failed", error: messageOf(error) };
  }
}
