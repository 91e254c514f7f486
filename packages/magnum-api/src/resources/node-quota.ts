import { MagnumCluster, type MagnumNodeGroup } from "@causeway/api";
import { keyOf } from "@causeway/kubernetes";
import type { Api } from "../call/call.ts";
import { forbidden } from "../wire/error.ts";
import { isAutoscaled } from "./cluster-view.ts";

/** Nodes that a cluster may come to without another request: where an autoscaler decides, its upper bound. */
function nodesOf({ spec }: MagnumCluster): number {
  const most = ({ labels = spec.labels ?? {}, nodeCount, maxNodeCount }: MagnumNodeGroup): number =>
    isAutoscaled(labels) ? Math.max(nodeCount, maxNodeCount ?? Number(labels["max_node_count"] ?? 0)) : nodeCount;
  return spec.nodeGroups.reduce((sum, group) => sum + most(group), 0);
}

/** Refuses more nodes than the project may have; fewer than before are always accepted. @throws MagnumError 403 */
export function requireNodes(
  { store, maxNodes }: Pick<Api, "store" | "maxNodes">,
  before: MagnumCluster | undefined,
  after: MagnumCluster,
): void {
  const wanted = nodesOf(after);
  if (maxNodes === 0 || wanted <= (before === undefined ? 0 : nodesOf(before))) return;
  const { projectID, uuid } = after.spec;
  const others = store.rowsOf(projectID).filter(({ spec }) => spec.uuid !== uuid);
  const elsewhere = others.reduce((sum, cluster) => sum + nodesOf(cluster), 0);
  if (elsewhere + wanted <= maxNodes) return;
  throw forbidden(
    `Resource limit exceeded: You have reached the maximum nodes per project, ${maxNodes}: this cluster would have ${wanted}, and the others have ${elsewhere}. You may resize or delete a cluster to make room.`,
  );
}

/** Changes a cluster within its project's limit of nodes: changes of a project come one after the other. */
export function changeNodes(
  api: Api,
  cluster: MagnumCluster,
  change: (current: MagnumCluster) => MagnumCluster,
  signal: AbortSignal,
): Promise<MagnumCluster> {
  const checked = (current: MagnumCluster): MagnumCluster => {
    const next = change(current);
    requireNodes(api, current, next);
    return next;
  };
  return api.inTurn(cluster.spec.projectID, () => api.store.change(MagnumCluster, keyOf(cluster), checked, signal));
}
