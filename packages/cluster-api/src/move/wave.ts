import { CausewayError, messageOf } from "@causeway/foundation";
import { keyOf, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { deletionOrder, graphOf, isCluster, isCopyOf, marks, type Member } from "./graph.ts";
import type { MoveOptions } from "./move.ts";
import { belongings, membersOf, type Wave } from "./parts.ts";
import { movedTypes, readMembers } from "./read.ts";
import { isControlPlane, refuseUnmovable } from "./refusals.ts";
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
  sharedDigest,
  type Source,
} from "./transfer.ts";

/** A move that was begun. */
export interface MoveContext extends MoveOptions {
  readonly types: Parameters<typeof readMembers>[1];
  /** The uids of namespace kube-system of the two management clusters. */
  readonly source: string;
  readonly target: string;
}

/** Milliseconds in which the clusters of the source are unpaused after a refusal. */
const RELEASE = 30_000;

/** What there is to be moved in the source. */
export async function readGraph({ from, types, namespace }: MoveContext, signal: AbortSignal): Promise<Member[]> {
  return graphOf(await readMembers(from, types, namespace, signal));
}

/** Afterwards nothing of its clusters is in the source. */
export async function moveWave(moving: MoveContext, wave: Wave, signal: AbortSignal): Promise<void> {
  const { report, controlPlanes, measure, target } = moving;
  const measurement = await measure?.(wave.clusters, signal);
  try {
    const begun = await copiesOf(moving, signal);
    const isIn = (uids: ReadonlySet<string>) => (member: Member) => uids.has(member.object.metadata.uid ?? "");
    const isCopied = wave.isCopied && belongings(await readGraph(moving, signal), wave).every(isIn(begun));
    if (!isCopied) await copyWave(moving, wave, signal);
    const compared = isIn(isCopied ? begun : await copiesOf(moving, signal));
    const left = belongings(await readGraph(moving, signal), wave);
    const late = left.find((member) => !compared(member));
    if (late) throw tooLate(late);
    refuseUnmovable(left, target, controlPlanes !== undefined);
    const planes = left.filter(({ object }) => isControlPlane(object));
    if (planes.length > 0) report(`handing over ${planes.length} hosted control planes`);
    await Promise.all(planes.map(async ({ object }) => controlPlanes?.handOver(object, signal)));
    report(`deleting ${left.length} objects of the source`);
    for (const member of deletionOrder(left)) await remove(moving.from, member, signal);
    await gone(moving, left, signal);
  } finally {
    for (const line of (await measurement?.end()) ?? []) report(line);
  }
}

/** When the move is repeated, it is copied. */
function tooLate({ object }: Member): CausewayError {
  return new CausewayError("MOVE_NOT_EQUAL", `${nameOf(object)} came after both sides were compared`, {
    hint: "Repeat the command: it is copied then. Nothing was deleted.",
  });
}

async function copyWave(moving: MoveContext, wave: Wave, signal: AbortSignal): Promise<void> {
  const { to, source, namespace, target, report } = moving;
  const graph = await pauseWave(moving, wave, signal);
  await createNamespace(to, namespace, signal);
  report(`copying ${graph.length} objects`);
  const uids = new Map<string, string>();
  for (const member of graph)
    uids.set(member.object.metadata.uid ?? "", await copy({ client: to, source }, member, uids, signal));
  report("comparing both sides");
  const all = await readGraph(moving, signal);
  const again = membersOf(all, wave);
  await compare({ from: again, copied: graph, to }, uids, signal);
  const own = new Set(belongings(all, wave));
  // From now on the target's controllers may write to what it shares with clusters that come later.
  for (const member of again)
    if (!own.has(member)) await annotate(to, member, { [marks.copied]: sharedDigest(member.object) }, signal);
  for (const member of again)
    if (isCluster(member)) await annotate(moving.from, member, { [marks.copied]: target }, signal);
}

/** Returns what is copied. What is refused before anything of it is in the target is unpaused again. */
async function pauseWave(moving: MoveContext, wave: Wave, signal: AbortSignal): Promise<Member[]> {
  const { from, target, report, controlPlanes } = moving;
  report(`pausing ${wave.clusters.length} clusters of the source: ${wave.clusters.join(", ")}`);
  try {
    for (const member of await readGraph(moving, signal))
      if (isCluster(member) && (wave.isWhole || wave.clusters.includes(member.object.metadata.name)))
        await pause(from, member, target, signal);
    const concerned = (all: readonly Member[]): Member[] => belongings(all, wave);
    const graph = membersOf(await settled({ ...moving, concerned }, moving.types, signal), wave);
    refuseUnmovable(graph, target, controlPlanes !== undefined);
    return graph;
  } catch (error) {
    // Also when it was interrupted: nothing heals a paused cluster.
    await unpause(moving, wave, AbortSignal.timeout(RELEASE)).catch((why: unknown) => {
      report(`clusters of the source are still paused: ${messageOf(why)}. Repeat the command.`);
    });
    throw error;
  }
}

async function unpause(moving: MoveContext, { clusters, isWhole }: Wave, signal: AbortSignal): Promise<void> {
  const copies = await copiesOf(moving, signal);
  for (const member of await readGraph(moving, signal)) {
    const { name, uid = "", annotations = {} } = member.object.metadata;
    if (!isCluster(member) || !(isWhole || clusters.includes(name)) || copies.has(uid)) continue;
    if (annotations[marks.target] === moving.target) await release(moving.from, member, signal);
  }
}

/** Uids of the source of what a move from it created in the target. */
async function copiesOf(moving: MoveContext, signal: AbortSignal): Promise<Set<string>> {
  const here = await marked(moving, signal);
  return new Set(here.map(({ object }) => object.metadata.annotations?.[marks.from] ?? ""));
}

/** Members of the target that a move from this source created, and which the source no longer has. */
export async function marked(
  { to, source, namespace }: MoveContext,
  signal: AbortSignal,
  left: readonly Member[] = [],
): Promise<Member[]> {
  const here = graphOf(await readMembers(to, await movedTypes(to, signal), namespace, signal));
  const uids = new Set(left.map(({ object }) => object.metadata.uid));
  return here.filter(({ object }) => isCopyOf(object, source) && !uids.has(object.metadata.annotations?.[marks.from]));
}

/** Lets the controllers of the target act on what the source no longer has. */
export async function releaseMoved(
  moving: MoveContext,
  left: readonly Member[],
  signal: AbortSignal,
): Promise<Member[]> {
  const moved = await marked(moving, signal, left);
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

/**
 * A server that leaves what it owned to its garbage collector deletes an object a moment later.
 * @throws MOVE_OBJECT_DELETED
 */
async function gone(
  { from, clock, pauseTimeout = 60_000 }: Pick<Source, "from" | "clock" | "pauseTimeout">,
  removed: readonly Member[],
  signal: AbortSignal,
): Promise<void> {
  const until = clock.now() + pauseTimeout;
  for (const { type, object } of removed)
    while ((await from.find<KubeObject>(type, keyOf(object), { signal }))?.metadata.uid === object.metadata.uid) {
      if (clock.now() >= until)
        throw new CausewayError("MOVE_OBJECT_DELETED", `${nameOf(object)} of the source is still being deleted`, {
          hint: "Wait until it is gone, and repeat the command. The cluster remains paused in the target until then.",
        });
      await clock.sleep(250, signal);
    }
}
