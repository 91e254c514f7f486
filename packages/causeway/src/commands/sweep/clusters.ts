import { sweepClusters, type ClusterOrphan, type SweptResource } from "@causeway/cluster-api-openstack";
import { InputError, systemClock } from "@causeway/foundation";
import { connectCloud } from "@causeway/openstack";
import { withManagement } from "../../clusters/place.ts";
import { chosenCloud } from "../../composition/chosen.ts";
import type { OutputFormat } from "../../options/output.ts";
import { confirm } from "../../terminal/confirm.ts";
import { commandLog } from "../../terminal/text-log.ts";
import type { SweepClustersOptions } from "./command.ts";
import { sweptStatus } from "./render.ts";
import { objectKeyOf, type NamespacedKey } from "../../options/object-key.ts";
import { documentOf } from "../../terminal/documents.ts";

/**
 * Lists what deleted Clusters left in a project, and deletes what the named ones left; exit status 1 when some of it
 * could not be deleted.
 * @throws SWEEP_NOT_CONFIRMED, SWEEP_CLUSTER_EXISTS, FLAG_INVALID
 */
export async function sweepOfClusters(
  names: readonly string[],
  options: SweepClustersOptions,
  signal: AbortSignal,
): Promise<void> {
  const { dryRun, running, output, yes } = options;
  const cloud = connectCloud(chosenCloud(options), { clock: systemClock, log: commandLog(options.logLevel) });
  try {
    await withManagement(options, async ({ client, namespace }) => {
      const clusters = names.map((name) => objectKeyOf(name, namespace));
      let found: readonly string[] = [];
      const onClusters = (all: readonly string[]) => void (found = all);
      const request = { client, cloud, clusters, dryRun, running, onClusters, clock: systemClock };
      const ask = (orphans: readonly ClusterOrphan[]) => confirmed(orphans, signal);
      const swept = await sweepClusters({ ...request, ...(yes ? {} : { confirm: ask }) }, signal);
      process.stdout.write(render(swept, output));
      if (clusters.length === 0 && swept.some(({ outcome }) => outcome === "found"))
        process.stderr.write("Name the clusters whose resources are to be deleted.\n");
      process.stderr.write(absentClusters(clusters, found));
      process.exitCode = sweptStatus(swept, options);
    });
  } finally {
    await cloud.close();
  }
}

/** Says which of the named clusters left nothing, and which clusters did: a name may be wrong. */
export function absentClusters(named: readonly NamespacedKey[], found: readonly string[]): string {
  const absent = named.filter(({ namespace, name }) => !found.includes(`${namespace}-${name}`));
  if (absent.length === 0) return "";
  const names = absent.map(({ namespace, name }) => `${namespace}/${name}`).join(", ");
  const others =
    found.length === 0 ? "No deleted cluster left any." : `Deleted clusters that left some: ${found.join(", ")}.`;
  return `There are no orphans of ${names}. ${others}\n`;
}

/** Prints what would be deleted on standard error, and asks there. */
async function confirmed(orphans: readonly ClusterOrphan[], signal: AbortSignal): Promise<boolean> {
  const list = orphans.map(({ kind, name, id, cluster }) => `  ${kind} ${name} (${id}) of cluster ${cluster}`);
  const answer = await confirm(`${list.join("\n")}\nDelete these?`, signal);
  if (answer !== undefined) return answer;
  throw new InputError("SWEEP_NOT_CONFIRMED", `${orphans.length} orphans would be deleted, and there is no terminal.`, {
    hint: "See them with --dry-run; delete them with --yes.",
  });
}

function render(swept: readonly SweptResource[], output: OutputFormat): string {
  const document = documentOf(swept, output);
  if (document !== undefined) return document;
  if (swept.length === 0) return "No orphans of deleted Clusters.\n";
  const lines = swept.map(({ outcome, kind, name, id, cluster, kept, error }) => {
    const why = kept ?? error;
    return `${outcome.padEnd(7)}  ${kind} ${name} (${id}) of cluster ${cluster}${why === undefined ? "" : `: ${why}`}`;
  });
  return `${lines.join("\n")}\n`;
}
