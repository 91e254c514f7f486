import { randomBytes } from "node:crypto";
import type { Clock } from "@causeway/foundation";
import { collect } from "./collect.ts";
import {
  openReader,
  type DatastoreReader,
  type Keyspace,
  type KeyList,
  type StoredKey,
  type Value,
} from "./datastore.ts";
import { pointId, pointName, type Point } from "./points.ts";
import type { SealedStore } from "./store.ts";

/**
 * What a control plane cannot be restored without, next to its data: its roots, and the configuration with the key of
 * encryption at rest.
 */
export type BackupSecrets = Readonly<Record<string, string>>;

/** What is known of a point: written last, so that a point without it does not exist. */
export interface Manifest {
  /** 1: values have no revisions, and there is one of each key in a point. */
  readonly format: 1 | 2;
  /** Of the point that the changes are since; undefined: all data. */
  readonly parent?: Point;
  readonly revision: number;
  readonly cluster: string;
  /** Number of parts with values. */
  readonly parts: number;
  readonly keys: number;
  readonly secrets: BackupSecrets;
}

/** What a point is a copy of, and where it is stored. */
export interface TakeFrom {
  readonly store: SealedStore;
  readonly folder: string;
  readonly keyspace: Keyspace;
  readonly secrets: BackupSecrets;
  /** The newest point; changes since it are copied. Undefined: all data is copied. */
  readonly parent?: Point;
  readonly clock: Clock;
}

/** Bytes of values in one part, about. */
const PART = 8 * 2 ** 20;

/**
 * Takes a point: the data at one revision. Nothing of an earlier point is written over, so that a crash, or two
 * programs at once, leave at most parts without a manifest.
 * @throws BACKUP_DATA_CHANGING, and what the etcd and the store throw
 */
export async function takePoint(from: TakeFrom, signal: AbortSignal): Promise<Point> {
  const { keyspace, clock, store, folder } = from;
  const reader = await openReader(keyspace, { clock, signal });
  const id = pointId(clock.now(), randomBytes(4).toString("hex"));
  try {
    return await take(from, { reader, id }, signal);
  } catch (error) {
    // What a crash leaves in place of this is never read, and deleted after a day.
    if (!signal.aborted)
      await deletePart(store, folder, id, signal).catch(() => {
        // The store may be what failed.
      });
    throw error;
  } finally {
    reader.close();
  }
}

async function take(
  from: TakeFrom,
  { reader, id }: { reader: DatastoreReader; id: string },
  signal: AbortSignal,
): Promise<Point> {
  const { store, folder, clock, secrets } = from;
  const list = from.parent === undefined ? undefined : await reader.keys();
  const parentData = list && (await parentOf(from, list, signal));
  const changed = list && parentData && changedKeys(list, parentData);
  // So many changed that all data is copied in place of them.
  const since = changed === undefined || isMost(changed, list) ? undefined : parentData;
  const parts = partWriter((part, values) => store.put(dataName(folder, id, `${part}`), values, signal));
  let time = 0;
  const found = await collect(
    {
      ...reader,
      async keys() {
        const keys = await reader.keys();
        // No write after this is in the list.
        time = clock.now();
        return keys;
      },
      async writtenSince(revision) {
        const read = await reader.writtenSince(revision);
        time = clock.now();
        return read;
      },
    },
    {
      first: since === undefined ? reader.values() : readEach(reader, changed ?? []),
      needed: (keys) => (since === undefined ? keys.keys : changedKeys(keys, since)),
      write: (values) => parts.add(values),
      clock,
      signal,
    },
  );
  await parts.end();
  await store.put(
    dataName(folder, id, "keys"),
    found.keys.map(({ key, modified }) => [key, modified]),
    signal,
  );
  const parent = since === undefined ? undefined : from.parent;
  const manifest: Manifest = {
    format: 2,
    ...(parent === undefined ? {} : { parent }),
    revision: found.revision,
    cluster: found.cluster,
    parts: parts.count(),
    keys: found.keys.length,
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
  await deletePart(store, folder, point.id, signal);
}

async function deletePart(store: SealedStore, folder: string, id: string, signal: AbortSignal): Promise<void> {
  for (const name of await store.list(`${folder}/data/${id}/`, signal)) await store.delete(name, signal);
}

/** The keys of a point with the revisions of their values, which points of format 1 do not have. */
export async function keysOf(
  store: SealedStore,
  folder: string,
  id: string,
  signal: AbortSignal,
): Promise<Map<string, number | undefined>> {
  const keys = (await store.get(dataName(folder, id, "keys"), signal)) as readonly (string | [string, number])[];
  return new Map(keys.map((each) => (typeof each === "string" ? [each, undefined] : each)));
}

/** The name in the store of the data of the point `id`; `part` is a number, or "keys". */
export function dataName(folder: string, id: string, part: string): string {
  return `${folder}/data/${id}/${part}`;
}

interface Since {
  readonly revision: number;
  readonly keys: ReadonlyMap<string, unknown>;
}

/** Undefined: all data is to be copied, since the parent's revisions say nothing of this etcd. */
async function parentOf(
  { store, folder, parent }: TakeFrom,
  list: KeyList,
  signal: AbortSignal,
): Promise<Since | undefined> {
  if (parent === undefined) return undefined;
  const manifest = (await store.get(pointName(folder, parent), signal)) as Manifest;
  if (manifest.cluster !== list.cluster || manifest.revision > list.revision) return undefined;
  return { revision: manifest.revision, keys: await keysOf(store, folder, parent.id, signal) };
}

function changedKeys({ keys }: KeyList, since: Since): readonly StoredKey[] {
  return keys.filter(({ key, modified }) => modified > since.revision || !since.keys.has(key));
}

function isMost(changed: readonly StoredKey[], list: KeyList | undefined): boolean {
  return changed.length > 2_000 && changed.length > (list?.keys.length ?? 0) / 2;
}

async function* readEach(reader: DatastoreReader, keys: readonly StoredKey[]): AsyncIterable<readonly Value[]> {
  for (const { key } of keys) {
    const value = await reader.value(key);
    if (value !== undefined) yield [value];
  }
}

/** Puts values together to parts of about one size. */
function partWriter(put: (part: number, values: readonly Value[]) => Promise<void>) {
  let [values, size, count]: [Value[], number, number] = [[], 0, 0];
  const end = async (): Promise<void> => {
    if (values.length === 0) return;
    const part = values;
    [values, size] = [[], 0];
    await put(count++, part);
  };
  return {
    async add(more: readonly Value[]): Promise<void> {
      for (const each of more) {
        values.push(each);
        size += each.key.length + each.value.length;
        if (size >= PART) await end();
      }
    },
    end,
    count: () => count,
  };
}
