import { InputError, systemClock } from "@causeway/foundation";
import { sweepOrphans, type Orphan } from "@causeway/cloud-controller-manager";
import { createClient } from "@causeway/kubernetes";
import { connectCloud } from "@causeway/openstack";
import { chosenCloud, chosenCluster } from "../../composition/chosen.ts";
import { confirm } from "../../terminal/confirm.ts";
import type { SweepOptions } from "./command.ts";
import { ownerOf, renderSwept, sweptStatus } from "./render.ts";
import type { OrphanVolume } from "./volumes/plan.ts";
import { sweepVolumes, type SweptVolume, type VolumeSweep } from "./volumes/sweep.ts";
import { commandLog } from "../../terminal/text-log.ts";

/**
 * Deletes orphans of deleted Services, and of claims with --volumes; exit status 1 when some of them could not be
 * deleted.
 * @throws SWEEP_NOT_CONFIRMED, SWEEP_OTHER_CLUSTER, SWEEP_NAME_SHARED
 */
export async function sweep(options: SweepOptions, signal: AbortSignal): Promise<void> {
  const log = commandLog(options.logLevel);
  const { output, clusterName, dryRun, floatingIps, namespace } = options;
  const client = createClient(chosenCluster(options));
  const cloud = connectCloud(chosenCloud(options), { clock: systemClock, log });
  const request = { client, cloud, clusterName, dryRun, floatingIps, namespace, clock: systemClock };
  let clusters: readonly string[] = [];
  try {
    const swept = await sweepOrphans(
      {
        ...request,
        onClusters: (names) => (clusters = names),
        ...(options.yes ? {} : { confirm: (orphans: readonly Orphan[]) => confirmed(orphans, signal) }),
      },
      signal,
    );
    const volumes = options.volumes ? await sweepOwnVolumes(options, { client, cloud }, signal) : undefined;
    process.stdout.write(renderSwept([...swept, ...(volumes ?? [])], { output, withVolumes: options.volumes }));
    if (!clusters.includes(clusterName) && clusters.length > 0)
      process.stderr.write(
        `Nothing in this project has the cluster name ${clusterName}. Clusters that have: ${clusters.join(", ")}.\n`,
      );
    process.exitCode = sweptStatus([...swept, ...(volumes ?? [])], options);
  } finally {
    await Promise.all([cloud.close(), client.close()]);
  }
}

/** Shows what would be deleted on standard error, and asks there. */
async function confirmed(orphans: readonly (Orphan | OrphanVolume)[], signal: AbortSignal): Promise<boolean> {
  const list = orphans.map((each) => `  ${each.kind} ${each.name} (${each.id}) of ${ownerOf(each)}`);
  const answer = await confirm(`${list.join("\n")}\nDelete these?`, signal);
  if (answer !== undefined) return answer;
  throw new InputError("SWEEP_NOT_CONFIRMED", `${orphans.length} orphans would be deleted, and there is no terminal.`, {
    hint: "See them with --dry-run; delete them with --yes.",
  });
}

function sweepOwnVolumes(
  { clusterName, dryRun, namespace, yes }: SweepOptions,
  { client, cloud }: Pick<VolumeSweep, "client" | "cloud">,
  signal: AbortSignal,
): Promise<readonly SweptVolume[]> {
  const request = { client, cloud, clusterName, dryRun, namespace, clock: systemClock };
  const confirm = (orphans: readonly OrphanVolume[]) => confirmed(orphans, signal);
  return sweepVolumes({ ...request, ...(yes ? {} : { confirm }) }, signal);
}
