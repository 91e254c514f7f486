import { randomBytes } from "node:crypto";
import type { Clock } from "@causeway/foundation";
import { openReader, type DatastoreReader, type Keyspace, type KeyList, type Value } from "./datastore.ts";
import { pointName, type Point } from "./points.ts";
import type { SealedStore } from "./store.ts";

/**
 * What a control plane cannot be restored without, next to its data: its roots, and the configuration with the key of
 * encryption at rest.
 */
export type BackupSecrets = Readonly<Record<string, string>>;

/** What is known of a point: written last, so that a point without it does not exist. */
export interface Manifest {
  readonly format: 1;
  /** Of the point that the changes are since; undefined: all data. */
  readonly parent?: Point;
  readonly revision: number;
  readonly cluster: string;
  /** Number of parts with values. */
  readonly parts: number;
  readonly keys: number;
  readonly secrets: BackupSecrets;
}

/** What a point is taken of, and where it is stored. */
export interface TakeFrom {
  readonly store: SealedStore;
  readonly folder: string;
  readonly keyspace: Keyspace;
  readonly secrets: BackupSecrets;
  /** The newest point; changes are taken since it. Undefined: all data is taken. */
  readonly parent?: Point;
  readonly clock: Clock;
}

/** Bytes of values in one part, about. */
const PART = 8 * 2 ** 20;

/**
 * Takes a point: the data at one revision. Nothing of an earlier point is written over, so that a crash, or two
 * programs at once, leave at most parts without a manifest.
 */
export async function takePoint(from: TakeFrom, signal: AbortSignal): Promise<Point> {
  const { store, folder, keyspace, clock, secrets } = from;
  const reader = await openReader(keyspace, { clock, signal });
  const list = await reader.keys();
  const time = clock.now();
  const id = randomBytes(8).toString("hex");
  const since = await parentOf(from, list, signal);
  const changed = since && changedKeys(list, since);
  const values = changed === undefined ? reader.values(list.revision) : readEach(reader, changed, list.revision);
  let parts = 0;
  for await (const part of inParts(values)) await store.put(dataName(folder, id, `${parts++}`), part, signal);
  await store.put(
    dataName(folder, id, "keys"),
    list.keys.map(({ key }) => key),
    signal,
  );
  const parent = changed === undefined ? undefined : from.parent;
  const manifest: Manifest = {
    format: 1,
    ...(parent === undefined ? {} : { parent }),
    revision: list.revision,
    cluster: list.cluster,
    parts,
    keys: list.keys.length,
    secrets,
  };
  const point = { id, time, full: parent?.full ?? id };
  await store.put(pointName(folder, point), manifest, signal);
  return point;
}

/** Deletes a point: its manifest first, so that none is left without its data. */
export async function deletePoint(
  store: SealedStore,
  folder: string,
  point: Point,
  signal: AbortSignal,
): Promise<void> {
  await store.delete(pointName(folder, point), signal);
  for (const name of await store.list(`${folder}/data/${point.id}/`, signal)) await store.delete(name, signal);
}

/** The name in the store of the data of the point `id`; `part` is a number, or "keys". */
export function dataName(folder: string, id: string, part: string): string {
  return `${folder}/data/${id}/${part}`;
}

interface Since {
  readonly revision: number;
  readonly keys: ReadonlySet<string>;
}

/** Undefined: all data is to be taken, since the parent's revisions say nothing of this etcd. */
async function parentOf(
  { store, folder, parent }: TakeFrom,
  list: KeyList,
  signal: AbortSignal,
): Promise<Since | undefined> {
  if (parent === undefined) return undefined;
  const manifest = (await store.get(pointName(folder, parent), signal)) as Manifest;
  if (manifest.cluster !== list.cluster || manifest.revision > list.revision) return undefined;
  const keys = (await store.get(dataName(folder, parent.id, "keys"), signal)) as readonly string[];
  return { revision: manifest.revision, keys: new Set(keys) };
}

/** Undefined: so many that all data is taken in place of them. */
function changedKeys({ keys }: KeyList, since: Since): readonly string[] | undefined {
  const changed = keys.filter(({ key, modified }) => modified > since.revision || !since.keys.has(key));
  return changed.length > 2_000 && changed.length > keys.length / 2 ? undefined : changed.map(({ key }) => key);
}

async function* readEach(
  reader: DatastoreReader,
  keys: readonly string[],
  revision: number,
): AsyncIterable<readonly Value[]> {
  for (const key of keys) {
    const value = await reader.value(key, revision);
    if (value !== undefined) yield [{ key, value }];
  }
}

async function* inParts(pages: AsyncIterable<readonly Value[]>): AsyncIterable<readonly Value[]> {
  let [part, size]: [Value[], number] = [[], 0];
  for await (const page of pages)
    for (const each of page) {
      part.push(each);
      size += each.key.length + each.value.length;
      if (size < PART) continue;
      yield part;
      [part, size] = [[], 0];
    }
  if (part.length > 0) yield part;
}
