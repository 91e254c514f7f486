import { CausewayError } from "@causeway/foundation";
import type { KubeObject, KubernetesClient } from "@causeway/kubernetes";
import { isCluster, isCopyOf, marks, savedFolder } from "./graph.ts";
import { clusterId, movedTypes } from "./read.ts";

/**
 * The namespaces with Clusters of the source, and those where a move from it to the target did not end.
 * @throws MOVE_NOTHING
 */
export async function namespacesToMove(
  { from, to }: { readonly from: KubernetesClient; readonly to: KubernetesClient },
  signal: AbortSignal,
): Promise<string[]> {
  const clustersIn = async (client: KubernetesClient): Promise<KubeObject[]> => {
    const types = (await movedTypes(client, signal)).filter(
      ({ kind, group }) => kind === "Cluster" && group === "cluster.x-k8s.io",
    );
    const lists = await Promise.all(types.map((type) => client.list(type, { signal })));
    return lists.flatMap(({ items }) => items);
  };
  const [id, source, target] = await Promise.all([clusterId(from, signal), clustersIn(from), clustersIn(to)]);
  const begun = target.filter((object) => isCopyOf(object, id));
  const namespaces = [...new Set([...source, ...begun].map(({ metadata }) => metadata.namespace ?? ""))].toSorted();
  if (namespaces.length > 0) return namespaces;
  throw new CausewayError("MOVE_NOTHING", "the source has no Cluster in any namespace", {
    hint: "Specify the management cluster of the Clusters with --kubeconfig and --context.",
  });
}

/**
 * Is this Cluster on its way between two management clusters? Then no controller of either acts on it. One that is
 * saved in a folder remains where it is.
 */
export function isMoving(object: KubeObject): boolean {
  const { [marks.from]: from, [marks.target]: target } = object.metadata.annotations ?? {};
  return isCluster({ object }) && (from !== undefined || (target !== undefined && savedFolder(target) === undefined));
}
