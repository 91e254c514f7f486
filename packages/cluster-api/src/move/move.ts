import { CausewayError } from "@causeway/foundation";
import type { KubeObject, KubernetesClient } from "@causeway/kubernetes";
import { isCluster, type Member } from "./graph.ts";
import { nextWave } from "./parts.ts";
import { clusterId, movedTypes, refuseMissingKinds } from "./read.ts";
import { isControlPlane, refuseUnmovable } from "./refusals.ts";
import type { Source } from "./transfer.ts";
import { marked, moveWave, readGraph, releaseMoved } from "./wave.ts";

/** Which objects go from which API server to which. */
export interface MoveOptions extends Source {
  readonly to: KubernetesClient;
  /** Checks, and changes nothing. */
  readonly dryRun?: boolean;
  /** Clusters that move at a time, where there are control planes to hand over. Default: all. */
  readonly wave?: number;
  /** Hosted control planes that run as pods. Default: they are refused. */
  readonly controlPlanes?: ControlPlaneTransfer;
  /** Requests the APIs of the clusters of a wave, from before it is paused until it is released. */
  readonly measure?: (clusters: readonly string[], signal: AbortSignal) => Promise<Measurement>;
  /** What is being done, in words. */
  readonly report: (line: string) => void;
}

/** Makes hosted control planes those of another management cluster, without a change of what runs them. */
export interface ControlPlaneTransfer {
  /** Changes nothing, and throws what `handOver` would. */
  check(controlPlanes: readonly KubeObject[], signal: AbortSignal): Promise<void>;
  /** Returns when the source cannot change it any more, and the target has it. Safe to repeat. */
  handOver(controlPlane: KubeObject, signal: AbortSignal): Promise<void>;
}

/** Requests that are sent to the APIs of clusters. */
export interface Measurement {
  /** Ends it, and reports one line for each cluster. */
  end(): Promise<readonly string[]>;
}

/** How many objects were moved, by their kinds. */
export interface MoveResult {
  readonly clusters: readonly string[];
  readonly objects: number;
}

/**
 * Moves every Cluster of a namespace, with all that belongs to it, from one management cluster to another, in waves.
 * The clusters of a wave are paused in both until nothing of them is left in the source: at no moment do controllers of
 * both act. It may end at any point; the same call again continues.
 * @throws MOVE_SAME_CLUSTER, MOVE_NOTHING, MOVE_UNDER_WAY, MOVE_KIND_MISSING, MOVE_CONTROL_PLANE_STAYS,
 * MOVE_OBJECT_DELETED, MOVE_NOT_PAUSED,
 *   MOVE_TARGET_OCCUPIED, MOVE_NOT_EQUAL, and what `controlPlanes` throws
 */
export async function moveClusters(options: MoveOptions, signal: AbortSignal): Promise<MoveResult> {
  const { from, to, controlPlanes } = options;
  const [source, target] = await Promise.all([clusterId(from, signal), clusterId(to, signal)]);
  if (source === target)
    throw new CausewayError("MOVE_SAME_CLUSTER", "source and target are the same cluster", {
      hint: "Specify the target with --to-kubeconfig and --to-context.",
    });
  const moving = { ...options, source, target, types: await movedTypes(from, signal) };
  const graph = await readGraph(moving, signal);
  refuseUnmovable(graph, target, controlPlanes !== undefined);
  const planes = graph.filter(({ object }) => isControlPlane(object));
  await controlPlanes?.check(
    planes.map(({ object }) => object),
    signal,
  );
  await refuseMissingKinds(to, graph, signal);
  if (options.dryRun === true)
    return refuseNothing(options, graph.some(isCluster) ? graph : await marked(moving, signal));
  // Only control planes are worth several waves: all else moves at once, and is compared as a whole.
  const size = planes.length > 0 ? options.wave : undefined;
  const moved: Member[] = [];
  for (;;) {
    const left = await readGraph(moving, signal);
    // What is gone from the source, also what an attempt that ended had moved.
    moved.push(...(await releaseMoved(moving, left, signal)));
    const wave = nextWave(left, { target, size });
    if (wave === undefined) return refuseNothing(options, moved);
    await moveWave(moving, wave, signal);
  }
}

function refuseNothing({ namespace }: MoveOptions, members: readonly Member[]): MoveResult {
  if (members.length > 0) return resultOf(members);
  throw new CausewayError("MOVE_NOTHING", `namespace ${namespace} of the source has no Cluster`, {
    hint: "Specify the namespace of the Clusters with --namespace.",
  });
}

/** What is reported of a graph that was moved. */
export function resultOf(graph: readonly Member[]): MoveResult {
  const clusters = graph.filter(isCluster).map(({ object }) => object.metadata.name);
  return { clusters, objects: graph.length };
}
