import { resolve } from "node:path";
import { CausewayError, messageOf } from "@causeway/foundation";
import { keyOf, type KubernetesClient } from "@causeway/kubernetes";
import { beginFolder, finishFolder, isWhole, readFolder, refuseFolderInUse } from "./folder-files.ts";
import { graphOf, isCluster, marks, targetFolder, type Member } from "./graph.ts";
import { resultOf, type MoveResult } from "./move.ts";
import { movedTypes, readMembers, refuseMissingKinds } from "./read.ts";
import { refuseUnmovable } from "./refusals.ts";
import { annotate, compare, copy, createNamespace, pause, release, settled, type Source } from "./transfer.ts";

/** Where the clusters of a namespace are saved. */
export interface SaveOptions extends Source {
  /** Does not exist yet. */
  readonly folder: string;
  /** Checks, and changes nothing. */
  readonly dryRun?: boolean;
  /** What is being done, in words. */
  readonly report: (line: string) => void;
}

/** From which folder to which API server. */
export interface RestoreOptions {
  readonly to: KubernetesClient;
  readonly folder: string;
  /** Checks, and changes nothing. */
  readonly dryRun?: boolean;
  readonly report: (line: string) => void;
}

/** What the clusters of the target are marked with when all is created and compared. */
const COMPARED = "directory";
/** Milliseconds in which the clusters of the source are unpaused after a failure. */
const RELEASE = 30_000;

/**
 * Saves every Cluster of a namespace, with all that belongs to it, as files. Clusters are paused meanwhile, and are as
 * before afterwards, also after a failure; the files have whether each was paused. The folder appears whole or not at
 * all. It may end at any point; the same call again continues. Files contain credentials: they have mode 0600.
 * @throws MOVE_NOTHING, MOVE_FOLDER_IN_USE, MOVE_FOLDER_FAILED, MOVE_UNDER_WAY, MOVE_OBJECT_DELETED,
 * MOVE_CONTROL_PLANE_STAYS, MOVE_NOT_PAUSED
 */
export async function saveClusters(options: SaveOptions, signal: AbortSignal): Promise<MoveResult> {
  const { from, namespace, report } = options;
  const folder = resolve(options.folder);
  const target = targetFolder(folder);
  const types = await movedTypes(from, signal);
  const found = graphOf(await readMembers(from, types, namespace, signal));
  const clusters = found.filter(isCluster);
  if (clusters.length === 0)
    throw new CausewayError("MOVE_NOTHING", `namespace ${namespace} of the source has no Cluster`, {
      hint: "Specify the namespace of the Clusters with --namespace.",
    });
  refuseUnmovable(found, target);
  const isMarked = clusters.some(({ object }) => object.metadata.annotations?.[marks.target] === target);
  // The marks are of the attempt that made the folder, and ended before it took them off.
  if (isMarked && (await isWhole(folder, namespace))) {
    await unpause(options, types, signal);
    return resultOf((await readFolder(folder)).members);
  }
  await refuseFolderInUse(folder);
  if (options.dryRun === true) return resultOf(found);
  await beginFolder(folder);
  let graph: readonly Member[];
  try {
    report(`pausing ${clusters.length} clusters of the source`);
    for (const member of clusters) await pause(from, member, target, signal);
    graph = await settled(options, types, signal);
    report(`writing ${graph.length} objects to ${folder}`);
    await finishFolder(folder, { namespace, graph });
  } catch (error) {
    // Also when it was interrupted: nothing heals a paused cluster.
    await unpause(options, types, AbortSignal.timeout(RELEASE)).catch((why: unknown) => {
      report(`clusters of the source are still paused: ${messageOf(why)}. Repeat the command.`);
    });
    throw error;
  }
  await unpause(options, types, signal);
  return resultOf(graph);
}

/** Clusters of the source are as before. */
async function unpause(
  { from, namespace, folder, report }: SaveOptions,
  types: Awaited<ReturnType<typeof movedTypes>>,
  signal: AbortSignal,
): Promise<void> {
  report("unpausing the clusters of the source");
  const target = targetFolder(resolve(folder));
  const members = graphOf(await readMembers(from, types, namespace, signal));
  for (const member of members)
    if (isCluster(member) && member.object.metadata.annotations?.[marks.target] === target)
      await release(from, member, signal);
}

/**
 * Creates what `saveClusters` saved in an API server, with statuses and owners, compares it with the files, and lets
 * its controllers act. It may end at any point; the same call again continues.
 * @throws MOVE_FOLDER_INVALID, MOVE_KIND_MISSING, MOVE_TARGET_OCCUPIED, MOVE_NOT_EQUAL
 */
export async function restoreClusters(options: RestoreOptions, signal: AbortSignal): Promise<MoveResult> {
  const { to, folder, report, dryRun = false } = options;
  const { namespace, members } = await readFolder(folder);
  await refuseMissingKinds(to, members, signal);
  if (dryRun) return resultOf(members);
  await createNamespace(to, namespace, signal);
  const clusters = await present(to, members.filter(isCluster), signal);
  // An attempt that ended while it took off the marks has created and compared everything.
  if (!clusters.some(({ object }) => object.metadata.annotations?.[marks.copied] === COMPARED)) {
    report(`creating ${members.length} objects`);
    const uids = new Map<string, string>();
    for (const member of members)
      uids.set(member.object.metadata.uid ?? "", await copy({ client: to }, member, uids, signal));
    report("comparing the cluster with the files");
    await compare({ from: members, copied: members, to }, uids, signal);
    for (const member of members)
      if (isCluster(member)) await annotate(to, member, { [marks.copied]: COMPARED }, signal);
  }
  report("unpausing the clusters");
  // Clusters last: as long as one is marked, an attempt that ended is resumed.
  for (const member of (await present(to, members, signal)).toReversed())
    if (member.object.metadata.annotations?.[marks.from] !== undefined) await release(to, member, signal);
  return resultOf(members);
}

/** Those of the members that exist, as they are there. */
async function present(to: KubernetesClient, members: readonly Member[], signal: AbortSignal): Promise<Member[]> {
  const found: Member[] = [];
  for (const { type, object } of members) {
    const there = await to.find(type, keyOf(object), { signal });
    if (there) found.push({ type, object: there });
  }
  return found;
}
