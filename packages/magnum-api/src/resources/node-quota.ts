import { MagnumCluster, type MagnumNodeGroup } from "@causeway/api";
import { keyOf } from "@causeway/kubernetes";
import type { Api } from "../call/call.ts";
import { refusedCount } from "../cluster/networks.ts";
import { keptGroups } from "../cluster/pools.ts";
import { mostNodes } from "../cluster/scaling.ts";
import { forbidden, invalid } from "../wire/error.ts";

interface Nodes {
  /** What a cluster may come to without another request. */
  readonly all: number;
  /** Those of them that there are only while others are replaced. */
  readonly surging: number;
}

/**
 * Where an autoscaler decides, its upper bound counts. A group whose last upgrade named max_batch_size replaces as many
 * at once whenever its nodes are replaced: all but the first of them count, which every cluster may have in addition. A
 * group that is being deleted neither grows nor has its nodes replaced: what it has counts.
 */
function nodesOf({ spec, status }: MagnumCluster): Nodes {
  const kept = keptGroups({ spec });
  const most = (group: MagnumNodeGroup): number =>
    kept.includes(group)
      ? mostNodes(group, spec.labels ?? {})
      : (status?.nodeGroups?.find(({ uuid }) => uuid === group.uuid)?.nodeCount ?? group.nodeCount);
  const lasting = spec.nodeGroups.reduce((sum, group) => sum + most(group), 0);
  const surging = kept.reduce((sum, group) => sum + Math.max(0, Math.min(group.maxBatchSize ?? 1, most(group)) - 1), 0);
  return { all: lasting + surging, surging };
}

/** Refuses more nodes than the project may have; fewer than before are always accepted. @throws MagnumError 403 */
export function requireNodes(
  { store, maxNodes }: Pick<Api, "store" | "maxNodes">,
  before: MagnumCluster | undefined,
  after: MagnumCluster,
): void {
  const { all: wanted, surging } = nodesOf(after);
  if (maxNodes === 0 || wanted <= (before === undefined ? 0 : nodesOf(before).all)) return;
  const { projectID, uuid } = after.spec;
  const others = store.rowsOf(projectID).filter(({ spec }) => spec.uuid !== uuid);
  const elsewhere = others.reduce((sum, cluster) => sum + nodesOf(cluster).all, 0);
  if (elsewhere + wanted <= maxNodes) return;
  const [of, cure] =
    surging === 0
      ? ["", "resize or delete a cluster"]
      : [` (${surging} of them by max_batch_size)`, "name a smaller max_batch_size, or resize or delete a cluster,"];
  throw forbidden(
    `Resource limit exceeded: You have reached the maximum nodes per project, ${maxNodes}: this cluster would have ${wanted}${of}, and the others have ${elsewhere}. You may ${cure} to make room.`,
  );
}

/** Refuses more nodes than before where its networks have no room for them. @throws MagnumError 400 */
function requireRoom(before: MagnumCluster, { spec }: MagnumCluster): void {
  const countOf = (groups: readonly MagnumNodeGroup[]) => groups.reduce((sum, { nodeCount }) => sum + nodeCount, 0);
  const nodes = countOf(spec.nodeGroups);
  if (nodes <= countOf(before.spec.nodeGroups)) return;
  const refused = refusedCount({ labels: spec.labels ?? {}, isFixed: spec.fixedNetwork !== undefined, nodes });
  if (refused !== undefined) throw invalid(refused);
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
    requireRoom(current, next);
    return next;
  };
  return api.inTurn(cluster.spec.projectID, () => api.store.change(MagnumCluster, keyOf(cluster), checked, signal));
}
