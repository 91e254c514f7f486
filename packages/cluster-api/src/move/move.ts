import { CausewayError } from "@causeway/foundation";
import { keyOf, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { deletionOrder, graphOf, isCluster, marks, savedFolder, type Member } from "./graph.ts";
import { clusterId, movedTypes, readMembers, refuseMissingKinds } from "./read.ts";
import {
  annotate,
  compare,
  copy,
  createNamespace,
  fieldManager,
  nameOf,
  pause,
  release,
  settled,
  type Source,
} from "./transfer.ts";

/** Which objects go from which API server to which. */
export interface MoveOptions extends Source {
  readonly to: KubernetesClient;
  /** Checks, and changes nothing. */
  readonly dryRun?: boolean;
  /** What is being done, in words. */
  readonly report: (line: string) => void;
}

/** How many objects were moved, by their kinds. */
export interface MoveResult {
  readonly clusters: readonly string[];
  readonly objects: number;
}

/**
 * Moves every Cluster of a namespace, with all that belongs to it, from one management cluster to another. Clusters are
 * paused in both until nothing is left in the source: at no moment do controllers of both act. It may end at any point;
 * the same call again continues.
 * @throws MOVE_SAME_CLUSTER, MOVE_NOTHING, MOVE_UNDER_WAY, MOVE_KIND_MISSING, MOVE_CONTROL_PLANE_STAYS,
 * MOVE_OBJECT_DELETED, MOVE_NOT_PAUSED,
 *   MOVE_TARGET_OCCUPIED, MOVE_NOT_EQUAL
 */
export async function moveClusters(options: MoveOptions, signal: AbortSignal): Promise<MoveResult> {
  const { from, to, namespace, report } = options;
  const [source, target] = await Promise.all([clusterId(from, signal), clusterId(to, signal)]);
  if (source === target)
    throw new CausewayError("MOVE_SAME_CLUSTER", "source and target are the same cluster", {
      hint: "Specify the target with --to-kubeconfig and --to-context.",
    });
  const types = await movedTypes(from, signal);
  const graph = graphOf(await readMembers(from, types, namespace, signal));
  const clusters = graph.filter(isCluster);
  if (clusters.length > 0) {
    const copied = clusters.every(({ object }) => object.metadata.annotations?.[marks.copied] === target);
    refuseUnmovable(graph, target);
    await refuseMissingKinds(to, graph, signal);
    if (options.dryRun === true) return resultOf(graph);
    if (!copied) await copyAll({ ...options, graph, types, target }, signal);
    const left = graphOf(await readMembers(from, types, namespace, signal));
    report(`deleting ${left.length} objects of the source`);
    for (const member of deletionOrder(left)) await remove(from, member, signal);
  }
  const here = graphOf(await readMembers(to, await movedTypes(to, signal), namespace, signal));
  const moved = here.filter(({ object }) => object.metadata.annotations?.[marks.from] !== undefined);
  if (moved.length === 0 && clusters.length === 0)
    throw new CausewayError("MOVE_NOTHING", `namespace ${namespace} of the source has no Cluster`, {
      hint: "Specify the namespace of the Clusters with --namespace.",
    });
  if (options.dryRun !== true) {
    report("unpausing the clusters in the target");
    // Clusters last: as long as one is marked, an attempt that ended is resumed.
    for (const member of moved.toReversed()) await release(to, member, signal);
  }
  return resultOf(moved);
}

/** What is reported of a graph that was moved. */
export function resultOf(graph: readonly Member[]): MoveResult {
  const clusters = graph.filter(isCluster).map(({ object }) => object.metadata.name);
  return { clusters, objects: graph.length };
}

interface MoveContext extends MoveOptions {
  readonly graph: readonly Member[];
  readonly target: string;
}

/**
 * Everything that can be refused is refused before anything is changed. `target`: where the clusters move.
 * @throws MOVE_UNDER_WAY, MOVE_OBJECT_DELETED, MOVE_CONTROL_PLANE_STAYS
 */
export function refuseUnmovable(graph: readonly Member[], target: string): void {
  for (const { object } of graph) {
    const other = object.metadata.annotations?.[marks.target];
    if (other !== undefined && other !== target) throw underWay(object, other);
    if (object.metadata.deletionTimestamp !== undefined)
      throw new CausewayError("MOVE_OBJECT_DELETED", `${nameOf(object)} is being deleted`, {
        hint: "Wait until it is gone, then move.",
      });
    if (object.kind === "HostedControlPlane")
      throw new CausewayError(
        "MOVE_CONTROL_PLANE_STAYS",
        `${nameOf(object)} cannot be moved: the data of its API server is in the process that runs it, not in objects`,
        { hint: "Clusters with hosted control planes move with causeway backup and restore. Nothing was changed." },
      );
  }
}

function underWay(object: KubeObject, target: string): CausewayError {
  const folder = savedFolder(target);
  return folder === undefined
    ? new CausewayError("MOVE_UNDER_WAY", `${nameOf(object)} is being moved to another management cluster`, {
        hint: "Finish that move first: repeat its command.",
      })
    : new CausewayError("MOVE_UNDER_WAY", `${nameOf(object)} is paused, since it is being saved in ${folder}`, {
        hint: `Finish that first: repeat causeway move --to-directory ${folder}.`,
      });
}

async function copyAll(
  moving: MoveContext & { readonly types: Parameters<typeof readMembers>[1] },
  signal: AbortSignal,
): Promise<void> {
  const { from, to, namespace, target, types, report } = moving;
  report(`pausing ${moving.graph.filter(isCluster).length} clusters of the source`);
  for (const member of moving.graph) if (isCluster(member)) await pause(from, member, target, signal);
  const graph = await settled(moving, types, signal);
  await createNamespace(to, namespace, signal);
  report(`copying ${graph.length} objects`);
  const uids = new Map<string, string>();
  for (const member of graph) uids.set(member.object.metadata.uid ?? "", await copy(to, member, uids, signal));
  report("comparing both sides");
  const again = graphOf(await readMembers(from, types, namespace, signal));
  await compare({ from: again, copied: graph, to }, uids, signal);
  for (const member of again) if (isCluster(member)) await annotate(from, member, { [marks.copied]: target }, signal);
}

/** Deletes one object of the source without its controllers: no finalizer, no cascade. */
async function remove(client: KubernetesClient, { type, object }: Member, signal: AbortSignal): Promise<void> {
  const { uid = "", finalizers = [] } = object.metadata;
  const preconditions = { uid };
  if (finalizers.length > 0)
    await client.patch(
      type,
      keyOf(object),
      { type: "merge", body: { metadata: { uid, finalizers: null } } },
      { fieldManager, signal },
    );
  await client.delete(type, keyOf(object), { preconditions, propagationPolicy: "Orphan", signal });
}
