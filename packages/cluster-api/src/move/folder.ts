import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CausewayError, isRecord } from "@causeway/foundation";
import type { KubeObject, KubernetesClient, ResourceType } from "@causeway/kubernetes";
import { parse, stringify } from "yaml";
import { graphOf, isCluster, marks, type Member } from "./graph.ts";
import { refuseUnmovable, resultOf, type MoveResult } from "./move.ts";
import { movedTypes, readMembers, refuseMissingKinds } from "./read.ts";
import {
  annotate,
  compare,
  copy,
  createNamespace,
  keyOf,
  nameOf,
  pause,
  release,
  settled,
  type Source,
} from "./transfer.ts";

/** Where the clusters of a namespace are saved. */
export interface SaveOptions extends Source {
  /** Does not exist yet, or is empty. */
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

/** What the clusters of the source are marked with while they are saved. */
const TARGET = "directory";
const MANIFEST = "move.json";
/** Bytes of one object, and number of objects, that a folder may have. */
const LARGEST = 4 * 2 ** 20;
const MOST = 100_000;

/** One file of a folder, in the order in which objects are created. */
interface Entry {
  readonly file: string;
  readonly type: ResourceType<KubeObject>;
  readonly sha256: string;
}

interface Manifest {
  readonly format: 1;
  readonly namespace: string;
  readonly entries: readonly Entry[];
}

/**
 * Saves every Cluster of a namespace, with all that belongs to it, as files. Clusters are paused meanwhile, and are as
 * before afterwards; the files say whether each was paused. The folder appears whole or not at all; what an attempt
 * that ended left next to it is replaced. Files contain credentials: they have mode 0600.
 * @throws MOVE_NOTHING, MOVE_FOLDER_IN_USE, MOVE_UNDER_WAY, MOVE_OBJECT_DELETED, MOVE_CONTROL_PLANE_STAYS,
 * MOVE_NOT_PAUSED
 */
export async function saveClusters(options: SaveOptions, signal: AbortSignal): Promise<MoveResult> {
  const { from, namespace, folder, report } = options;
  await refuseUsed(folder);
  const types = await movedTypes(from, signal);
  const found = graphOf(await readMembers(from, types, namespace, signal));
  const clusters = found.filter(isCluster);
  if (clusters.length === 0)
    throw new CausewayError("MOVE_NOTHING", `namespace ${namespace} of the source has no Cluster`, {
      hint: "Name the namespace of the Clusters with --namespace.",
    });
  refuseUnmovable(found, TARGET);
  if (options.dryRun === true) return resultOf(found);
  report(`pausing ${clusters.length} clusters of the source`);
  for (const member of clusters) await pause(from, member, TARGET, signal);
  const graph = await settled(options, types, signal);
  report(`writing ${graph.length} objects to ${folder}`);
  await writeFolder(folder, namespace, graph);
  report("unpausing the clusters of the source");
  const again = graphOf(await readMembers(from, types, namespace, signal));
  for (const member of again) if (isCluster(member)) await release(from, member, signal);
  return resultOf(graph);
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
  if (!clusters.some(({ object }) => object.metadata.annotations?.[marks.copied] === TARGET)) {
    report(`creating ${members.length} objects`);
    const uids = new Map<string, string>();
    for (const member of members) uids.set(member.object.metadata.uid ?? "", await copy(to, member, uids, signal));
    report("comparing the cluster with the files");
    await compare({ from: members, copied: members, to }, uids, signal);
    for (const member of members) if (isCluster(member)) await annotate(to, member, { [marks.copied]: TARGET }, signal);
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

async function refuseUsed(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new CausewayError("MOVE_FOLDER_IN_USE", `${folder} cannot be used as a folder: ${error.message}`, {
      hint: "Name a folder that does not exist yet.",
      cause: error,
    });
  });
  if (names.length === 0) return;
  throw new CausewayError("MOVE_FOLDER_IN_USE", `the folder ${folder} has files`, {
    hint: "Name a folder that does not exist yet, or one that is empty. Nothing was changed.",
  });
}

async function writeFolder(folder: string, namespace: string, graph: readonly Member[]): Promise<void> {
  const partial = `${folder.replace(/\/+$/, "")}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true, mode: 0o700 });
  const entries: Entry[] = [];
  for (const { type, object } of graph) {
    const file = fileOf(object, type);
    const text = stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
    await writeFile(join(partial, file), text, { mode: 0o600, flush: true });
    entries.push({ file, type: typeOf(type), sha256: digest(text) });
  }
  const manifest: Manifest = { format: 1, namespace, entries };
  await writeFile(join(partial, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(partial, folder);
}

/** A name for people that is no other object's, and that file systems take. */
function fileOf({ kind, metadata }: KubeObject, { group }: ResourceType<KubeObject>): string {
  const name = [kind, group, metadata.namespace, metadata.name].filter(Boolean).join("_");
  return name.length <= 200 ? `${name}.yaml` : `${name.slice(0, 180)}_${digest(name).slice(0, 16)}.yaml`;
}

/** The type without what else a kind may carry. */
function typeOf({ group, version, kind, plural, namespaced }: ResourceType<KubeObject>): ResourceType<KubeObject> {
  return { group, version, kind, plural, namespaced };
}

async function readFolder(folder: string): Promise<{ readonly namespace: string; readonly members: Member[] }> {
  const manifest = manifestOf(folder, await readBounded(folder, MANIFEST, 64 * 2 ** 20));
  const members: Member[] = [];
  for (const { file, type, sha256 } of manifest.entries) {
    const text = await readBounded(folder, file, LARGEST);
    if (digest(text) !== sha256) throw invalid(folder, `${file} is not as it was saved`);
    const object = parse(text) as KubeObject;
    if (object.metadata.namespace !== manifest.namespace)
      throw invalid(folder, `${nameOf(object)} is not of namespace ${manifest.namespace}`);
    members.push({ type, object });
  }
  return { namespace: manifest.namespace, members };
}

function manifestOf(folder: string, text: string): Manifest {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (cause) {
    throw invalid(folder, `${MANIFEST} is no JSON`, cause);
  }
  const { format, namespace, entries } = isRecord(read) ? read : {};
  if (format !== 1 || typeof namespace !== "string" || !Array.isArray(entries) || entries.length > MOST)
    throw invalid(folder, `${MANIFEST} is not of format 1`);
  if (!entries.every(isEntry)) throw invalid(folder, `${MANIFEST} lists what is no file of an object`);
  return { format, namespace, entries };
}

function isEntry(value: unknown): value is Entry {
  const { file, type, sha256 } = isRecord(value) ? value : {};
  const names = isRecord(type) ? [type["group"], type["version"], type["kind"], type["plural"]] : [undefined];
  // A file of this folder: the name leads nowhere else.
  return (
    typeof file === "string" &&
    /^[\w.-]+\.yaml$/.test(file) &&
    typeof sha256 === "string" &&
    names.every((name) => typeof name === "string" && /^[\w.-]*$/.test(name))
  );
}

async function readBounded(folder: string, file: string, most: number): Promise<string> {
  const path = join(folder, file);
  try {
    const { size } = await stat(path);
    if (size > most) throw new Error(`it has ${size} bytes, and may have ${most}`);
    return await readFile(path, "utf8");
  } catch (cause) {
    throw invalid(folder, `${file} cannot be read`, cause);
  }
}

function invalid(folder: string, why: string, cause?: unknown): CausewayError {
  return new CausewayError("MOVE_FOLDER_INVALID", `the folder ${folder} was not written by causeway move: ${why}`, {
    hint: "Name the folder that was given to --to-directory, with all its files. Nothing was changed.",
    cause,
  });
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
