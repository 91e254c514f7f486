import { createHash } from "node:crypto";
import { lstat, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CausewayError, isRecord, messageOf } from "@causeway/foundation";
import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import { parse, stringify } from "yaml";
import type { Member } from "./graph.ts";
import { nameOf } from "./transfer.ts";

const MANIFEST = "move.json";
/** Marks a folder that is being written as ours. */
const BEGUN = ".causeway-move";
/** Bytes of one object and of the list of all, and number of objects, that a folder may have. */
const LARGEST = 4 * 2 ** 20;
const MANIFEST_LARGEST = 64 * 2 ** 20;
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

/** What is written to a folder. */
export interface FolderContent {
  readonly namespace: string;
  readonly graph: readonly Member[];
}

const partialOf = (folder: string): string => `${folder}.partial`;

/**
 * Refuses a folder that exists, and one next to it, in which files are written, that is not of an earlier attempt.
 * @throws MOVE_FOLDER_IN_USE, MOVE_FOLDER_FAILED
 */
export async function refuseFolderInUse(folder: string): Promise<void> {
  if (await exists(folder)) throw inUse(folder);
  const partial = partialOf(folder);
  if ((await exists(partial)) && !(await exists(join(partial, BEGUN)))) throw inUse(partial);
}

/** Makes the folder in which files are written, in place of that of an earlier attempt. @throws MOVE_FOLDER_FAILED */
export async function beginFolder(folder: string): Promise<void> {
  const partial = partialOf(folder);
  await written(folder, async () => {
    await rm(partial, { recursive: true, force: true });
    // The folder that it is in exists: Node's recursive mkdir never returns for some.
    await mkdir(partial, { mode: 0o700 });
    await writeFile(join(partial, BEGUN), "", { mode: 0o600 });
  });
}

/** Writes the objects; the folder appears when all are written. @throws MOVE_FOLDER_FAILED */
export async function finishFolder(folder: string, { namespace, graph }: FolderContent): Promise<void> {
  if (graph.length > MOST) throw failed(folder, `${graph.length} objects are more than ${MOST}`);
  const partial = partialOf(folder);
  await written(folder, async () => {
    const entries: Entry[] = [];
    for (const { type, object } of graph) {
      const file = fileOf(object, type);
      const text = stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
      if (Buffer.byteLength(text) > LARGEST) throw new Error(`${nameOf(object)} has more than ${LARGEST} bytes`);
      await writeFile(join(partial, file), text, { mode: 0o600, flush: true });
      entries.push({ file, type: typeOf(type), sha256: digest(text) });
    }
    const manifest: Manifest = { format: 1, namespace, entries };
    const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
    await writeFile(join(partial, MANIFEST), text, { mode: 0o600, flush: true });
    // The mark goes last: an attempt that ends before is recognised by it.
    await rename(partial, folder);
    await rm(join(folder, BEGUN));
  });
}

/** True if the folder was written whole, of that namespace. */
export async function isWhole(folder: string, namespace: string): Promise<boolean> {
  if (!(await exists(join(folder, MANIFEST)))) return false;
  return manifestOf(folder, await readBounded(folder, MANIFEST, MANIFEST_LARGEST)).namespace === namespace;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw failed(path, messageOf(error), error);
    },
  );
}

function inUse(folder: string): CausewayError {
  return new CausewayError("MOVE_FOLDER_IN_USE", `${folder} exists`, {
    hint: "Specify a folder that does not exist yet, in one that can be written. Nothing was changed.",
  });
}

function failed(folder: string, why: string, cause?: unknown): CausewayError {
  return new CausewayError("MOVE_FOLDER_FAILED", `the folder ${folder} cannot be written: ${why}`, {
    hint: "Specify a folder on a file system that has room and can be written.",
    cause,
  });
}

async function written(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw failed(folder, messageOf(error), error);
  }
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

/**
 * What a folder has, in the order in which it is created.
 * @throws MOVE_FOLDER_INVALID
 */
export async function readFolder(
  folder: string,
): Promise<{ readonly namespace: string; readonly members: readonly Member[] }> {
  const manifest = manifestOf(folder, await readBounded(folder, MANIFEST, MANIFEST_LARGEST));
  const members: Member[] = [];
  for (const { file, type, sha256 } of manifest.entries) {
    const text = await readBounded(folder, file, LARGEST);
    if (digest(text) !== sha256) throw invalid(folder, `${file} was changed after it was saved`);
    members.push({ type, object: objectOf(folder, { file, text, type, namespace: manifest.namespace }) });
  }
  return { namespace: manifest.namespace, members };
}

interface ReadFile {
  readonly file: string;
  readonly text: string;
  readonly type: ResourceType<KubeObject>;
  readonly namespace: string;
}

function objectOf(folder: string, { file, text, type, namespace }: ReadFile): KubeObject {
  let read: unknown;
  try {
    read = parse(text);
  } catch (cause) {
    throw invalid(folder, `${file} is not YAML`, cause);
  }
  const { apiVersion, kind, metadata } = isRecord(read) ? read : {};
  const { group, version } = type;
  if (kind !== type.kind || apiVersion !== (group === "" ? version : `${group}/${version}`))
    throw invalid(folder, `${file} is no ${type.kind} of ${group}/${version}`);
  if (!isRecord(metadata) || typeof metadata["name"] !== "string" || metadata["namespace"] !== namespace)
    throw invalid(folder, `${file} has no object of namespace ${namespace}`);
  return read as KubeObject;
}

function manifestOf(folder: string, text: string): Manifest {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (cause) {
    throw invalid(folder, `${MANIFEST} is not JSON`, cause);
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
    // Parts of a path of the API.
    names.every((name) => typeof name === "string" && /^(?:[A-Za-z0-9][\w.-]*)?$/.test(name))
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
    hint: "Specify the folder that was given to --to-directory, with all its files. Nothing was changed.",
    cause,
  });
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
