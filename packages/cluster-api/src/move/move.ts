import { CausewayError } from "@causeway/foundation";
import { keyOf, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { deletionOrder, graphOf, isCluster, marks, type Member } from "./graph.ts";
import { membersOf, nextWave, partsOf, type Wave } from "./parts.ts";
import { clusterId, movedTypes, readMembers, refuseMissingKinds } from "./read.ts";
import { isControlPlane, refuseUnmovable } from "./refusals.ts";
import {
  annotate,
  compare,
  copy,
  createNamespace,
  fieldManager,
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
  /** Clusters that move at a time. Default: all. */
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

interface MoveContext extends MoveOptions {
  readonly types: Parameters<typeof readMembers>[1];
  readonly target: string;
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
  const moving = { ...options, target, types: await movedTypes(from, signal) };
  const graph = await readGraph(moving, signal);
  refuseUnmovable(graph, target, controlPlanes !== undefined);
  await controlPlanes?.check(
    graph.filter(({ object }) => isControlPlane(object)).map(({ object }) => object),
    signal,
  );
  await refuseMissingKinds(to, graph, signal);
  if (options.dryRun === true)
    return refuseNothing(options, graph.some(isCluster) ? graph : await marked(moving, signal));
  // What an attempt that ended had moved already.
  const moved = await releaseMoved(moving, graph, signal);
  for (;;) {
    const left = await readGraph(moving, signal);
    const wave = nextWave(left, { target, size: options.wave ?? Infinity });
    if (wave === undefined) return refuseNothing(options, moved);
    moved.push(...(await moveWave(moving, wave, signal)));
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

async function readGraph({ from, types, namespace }: MoveContext, signal: AbortSignal): Promise<Member[]> {
  return graphOf(await readMembers(from, types, namespace, signal));
}

async function moveWave(moving: MoveContext, wave: Wave, signal: AbortSignal): Promise<Member[]> {
  const { report, controlPlanes, measure } = moving;
  const measurement = await measure?.(wave.clusters, signal);
  try {
    if (!wave.isCopied) await copyWave(moving, wave, signal);
    const graph = await readGraph(moving, signal);
    const planes = belongings(graph, wave).filter(({ object }) => isControlPlane(object));
    if (planes.length > 0) report(`handing over ${planes.length} hosted control planes`);
    await Promise.all(planes.map(async ({ object }) => controlPlanes?.handOver(object, signal)));
    const left = wave.isLast ? graph : belongings(graph, wave);
    report(`deleting ${left.length} objects of the source`);
    for (const member of deletionOrder(left)) await remove(moving.from, member, signal);
    return await releaseMoved(moving, await readGraph(moving, signal), signal);
  } finally {
    for (const line of (await measurement?.end()) ?? []) report(line);
  }
}

/** What belongs to clusters of the wave only. */
function belongings(graph: readonly Member[], { clusters }: Wave): Member[] {
  const { own } = partsOf(graph);
  const included = new Set(clusters.flatMap((name) => own.get(name) ?? []));
  return graph.filter((member) => included.has(member));
}

async function copyWave(moving: MoveContext, wave: Wave, signal: AbortSignal): Promise<void> {
  const { from, to, namespace, target, report } = moving;
  report(`pausing ${wave.clusters.length} clusters of the source: ${wave.clusters.join(", ")}`);
  for (const member of await readGraph(moving, signal))
    if (isCluster(member) && wave.clusters.includes(member.object.metadata.name))
      await pause(from, member, target, signal);
  const concerned = (all: readonly Member[]): Member[] => (wave.isLast ? [...all] : belongings(all, wave));
  const graph = membersOf(await settled({ ...moving, concerned }, moving.types, signal), wave);
  await createNamespace(to, namespace, signal);
  report(`copying ${graph.length} objects`);
  const uids = new Map<string, string>();
  for (const member of graph) uids.set(member.object.metadata.uid ?? "", await copy(to, member, uids, signal));
  report("comparing both sides");
  const all = await readGraph(moving, signal);
  const again = membersOf(all, wave);
  await compare({ from: again, copied: graph, to }, uids, signal);
  const own = new Set(belongings(all, wave));
  // From now on the target's controllers may write to what it shares with clusters that come later.
  if (!wave.isLast)
    for (const member of again) if (!own.has(member)) await annotate(to, member, { [marks.copied]: target }, signal);
  for (const member of own) if (isCluster(member)) await annotate(from, member, { [marks.copied]: target }, signal);
}

/** Members of the target that a move created, and which the source no longer has. */
async function marked(
  { to, namespace }: MoveContext,
  signal: AbortSignal,
  source: readonly Member[] = [],
): Promise<Member[]> {
  const here = graphOf(await readMembers(to, await movedTypes(to, signal), namespace, signal));
  const left = new Set(source.map(({ object }) => object.metadata.uid));
  return here.filter(({ object }) => {
    const uid = object.metadata.annotations?.[marks.from];
    return uid !== undefined && !left.has(uid);
  });
}

/** Lets the controllers of the target act on what the source no longer has. */
async function releaseMoved(moving: MoveContext, source: readonly Member[], signal: AbortSignal): Promise<Member[]> {
  const moved = await marked(moving, signal, source);
  if (moved.length > 0) moving.report(`unpausing ${moved.filter(isCluster).length} clusters in the target`);
  // Clusters last: as long as one is marked, an attempt that ended is resumed.
  for (const member of moved.toReversed()) await release(moving.to, member, signal);
  return moved;
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
