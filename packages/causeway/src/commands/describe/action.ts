import { systemClock } from "@causeway/foundation";
import {
  HostedControlPlane,
  Machine,
  MachineDeployment,
  MachineSet,
  OpenStackCluster,
  OpenStackMachine,
} from "@causeway/api";
import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import { findCluster } from "../../clusters/find.ts";
import { withManagement } from "../../clusters/place.ts";
import { renderTree, treeOf } from "../../clusters/tree.ts";
import { documentOf } from "../../terminal/documents.ts";
import type { DescribeClusterOptions } from "./command.ts";

const KINDS: readonly ResourceType<KubeObject>[] = [
  OpenStackCluster,
  HostedControlPlane,
  MachineDeployment,
  MachineSet,
  Machine,
  OpenStackMachine,
];

/**
 * Shows a cluster as a tree.
 * @throws CLUSTER_NOT_FOUND
 */
export async function describeCluster(
  name: string,
  options: DescribeClusterOptions,
  signal: AbortSignal,
): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const cluster = await findCluster(client, { namespace, name }, signal);
    const labelSelector = `cluster.x-k8s.io/cluster-name=${name}`;
    const lists = await Promise.all(KINDS.map((kind) => client.list(kind, { namespace, labelSelector, signal })));
    const objects = lists.flatMap(({ items }) => items);
    const tree = treeOf(cluster, objects);
    process.stdout.write(documentOf(tree, options.output) ?? renderTree(tree, systemClock.now()));
  });
}
