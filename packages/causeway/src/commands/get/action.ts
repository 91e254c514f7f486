import { systemClock } from "@causeway/foundation";
import { Cluster, HostedControlPlane } from "@causeway/api";
import { findCluster } from "../../clusters/find.ts";
import { withManagement } from "../../clusters/place.ts";
import { clusterNames, clusterTable } from "../../clusters/table.ts";
import type { GetClustersOptions } from "./command.ts";
import { documentOf, listOf } from "../../terminal/documents.ts";

/**
 * Lists clusters, or shows one.
 * @throws CLUSTER_NOT_FOUND
 */
export async function getClusters(
  name: string | undefined,
  options: GetClustersOptions,
  signal: AbortSignal,
): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const scope = options.allNamespaces ? { signal } : { namespace, signal };
    const clusters =
      name === undefined
        ? (await client.list(Cluster, scope)).items
        : [await findCluster(client, { namespace, name }, signal)];
    const result = name === undefined ? listOf(clusters) : clusters[0];
    const document = documentOf(result, options.output);
    if (document !== undefined) return void process.stdout.write(document);
    if (options.output === "name") return void process.stdout.write(clusterNames(clusters));
    const planes = (await client.list(HostedControlPlane, scope)).items;
    const listed = clusters.map((cluster) => {
      const { namespace: place } = cluster.metadata;
      const { name: plane } = cluster.spec.controlPlaneRef ?? {};
      const controlPlane = planes.find(({ metadata }) => metadata.namespace === place && metadata.name === plane);
      return { cluster, controlPlane };
    });
    process.stdout.write(clusterTable(listed, { now: systemClock.now(), wide: options.output === "wide" }));
  });
}
