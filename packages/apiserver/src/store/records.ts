import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KubeObject } from "@causeway/kubernetes";
import type { RecordCodec, StoreKey } from "./interface.ts";
import { ObjectCache } from "./object-cache.ts";

/** As the `type` column holds it. */
export const ADDED = 0;
/** The object had a state before. */
export const MODIFIED = 1;
/** The row has the last state. */
export const DELETED = 2;

/** Length of the JSON of all parsed objects kept, in characters. */
const CACHE_LIMIT = 8 * 1024 * 1024;

/** One row of the log: the state of a key that a revision made, as it is stored. */
export interface StoredRow {
  readonly key: StoreKey;
  readonly revision: number;
  readonly value: unknown;
}

/** What readers, the writer and the watches share: the database, the committed position, and parsed objects. */
export class Records {
  readonly database: DatabaseSync;
  /** The newest committed revision. */
  revision: number;
  /** History at or before this revision may be gone, in every cluster. */
  floor: number;
  readonly #cache = new ObjectCache(CACHE_LIMIT);
  readonly #statements = new Map<string, StatementSync>();
  readonly #codec: RecordCodec | undefined;
  #collections = new Map<string, number>();
  #clusterFloors = new Map<string, number>();

  constructor(database: DatabaseSync, codec?: RecordCodec) {
    this.database = database;
    this.#codec = codec;
    this.revision = 0;
    this.floor = 0;
    this.reload();
  }

  /** Takes the committed state from the database: at the start, and after a transaction that failed. */
  reload(): void {
    const [revision, floor] = this.row("SELECT revision, floor FROM state");
    this.revision = Number(revision);
    this.floor = Number(floor);
    this.#collections = new Map();
    for (const [id, cluster, resource] of this.rows("SELECT id, cluster, resource FROM collections")) {
      this.#collections.set(collectionKey(String(cluster), String(resource)), Number(id));
    }
    this.#clusterFloors = new Map();
    for (const [cluster, floorOf] of this.rows("SELECT cluster, floor FROM cluster_floors")) {
      this.#clusterFloors.set(String(cluster), Number(floorOf));
    }
  }

  /** The oldest revision whose state, and the events after it, are all still there. */
  floorOf(cluster: string): number {
    return Math.max(this.floor, this.#clusterFloors.get(cluster) ?? 0);
  }

  /** The number a collection has in the tables; undefined when nothing was ever written to it. */
  collection(cluster: string, resource: string): number | undefined {
    return this.#collections.get(collectionKey(cluster, resource));
  }

  /** The same, made when absent; only inside a transaction. */
  ensureCollection(cluster: string, resource: string): number {
    const known = this.collection(cluster, resource);
    if (known !== undefined) return known;
    this.run("INSERT INTO collections (cluster, resource) VALUES (?, ?)", cluster, resource);
    const [id] = this.row("SELECT last_insert_rowid()");
    this.#collections.set(collectionKey(cluster, resource), Number(id));
    return Number(id);
  }

  /** The object that a row holds, with its revision as resourceVersion. `keep` puts it among the parsed ones. */
  parse(row: StoredRow, keep: boolean): KubeObject {
    const { revision } = row;
    const known = this.#cache.get(revision);
    if (known !== undefined) return known;
    const json = this.text(row);
    const object = JSON.parse(json) as KubeObject;
    if (keep) this.#cache.set(revision, object, json.length);
    return object;
  }

  /** What the value column of a row holds for this JSON text. */
  encoded(json: string, key: StoreKey): string | Uint8Array {
    return this.#codec === undefined ? json : this.#codec.encode(json, key);
  }

  /** What a row should hold instead; undefined when it is as it should be. */
  reencoded(row: StoredRow): string | Uint8Array | undefined {
    const value = row.value as string | Uint8Array;
    if (this.#codec?.isCurrent === undefined || this.#codec.isCurrent(value, row.key)) return undefined;
    return this.#codec.encode(this.text(row), row.key);
  }

  /** The JSON text that a row holds. */
  text({ value, key }: StoredRow): string {
    if (this.#codec === undefined) return value as string;
    return this.#codec.decode(value as string | Uint8Array, key);
  }

  remember(revision: number, object: KubeObject, size: number): void {
    this.#cache.set(revision, object, size);
  }

  forget(revision: number): void {
    this.#cache.delete(revision);
  }

  /** The object of a revision that is known to be in the log. */
  load(key: StoreKey, revision: number): KubeObject {
    const known = this.#cache.get(revision);
    if (known !== undefined) return known;
    const [value] = this.row("SELECT value FROM log WHERE revision = ?", revision);
    return this.parse({ key, revision, value }, true);
  }

  latestRevision(key: StoreKey): number | undefined {
    const collection = this.collection(key.cluster, key.resource);
    if (collection === undefined) return undefined;
    const [revision] = this.row(
      "SELECT revision FROM latest WHERE collection = ? AND namespace = ? AND name = ?",
      collection,
      key.namespace,
      key.name,
    );
    return revision === undefined ? undefined : Number(revision);
  }

  run(sql: string, ...values: (string | number | null | Uint8Array)[]): void {
    this.#prepared(sql).run(...values);
  }

  /** The first row as a tuple; empty when there is none. */
  row(sql: string, ...values: (string | number | null)[]): readonly unknown[] {
    return (this.#prepared(sql).get(...values) as unknown as readonly unknown[] | undefined) ?? [];
  }

  rows(sql: string, ...values: (string | number | null)[]): readonly (readonly unknown[])[] {
    return this.#prepared(sql).all(...values) as unknown as readonly (readonly unknown[])[];
  }

  /**
   * The first rows, until the values of a column are `bytes` long together; at least one. `isCut` says that there are
   * more.
   */
  rowsUpTo(
    { sql, column, bytes }: { sql: string; column: number; bytes: number },
    ...values: (string | number | null)[]
  ): readonly (readonly unknown[])[] & { readonly isCut: boolean } {
    const found: (readonly unknown[])[] = [];
    let size = 0;
    for (const row of this.#prepared(sql).iterate(...values) as unknown as Iterable<readonly unknown[]>) {
      if (size >= bytes) return Object.assign(found, { isCut: true });
      found.push(row);
      size += (row[column] as string | Uint8Array | null)?.length ?? 0;
    }
    return Object.assign(found, { isCut: false });
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Notes that nothing of a dropped cluster's past can be read; only inside a transaction. */
  dropCollections(cluster: string, floor: number): void {
    this.run("DELETE FROM collections WHERE cluster = ?", cluster);
    this.run("INSERT OR REPLACE INTO cluster_floors VALUES (?, ?)", cluster, floor);
    for (const key of this.#collections.keys()) {
      if (key.startsWith(`${cluster}\0`)) this.#collections.delete(key);
    }
    this.#clusterFloors.set(cluster, floor);
  }
}

/** Names a collection in memory, also one that has no row yet. */
export function collectionKey(cluster: string, resource: string): string {
  return `${cluster}\0${resource}`;
}

/** The object with another resourceVersion, its type first; shares everything else. */
export function withRevision(object: KubeObject, revision: number): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  return { kind, apiVersion, metadata: { ...metadata, resourceVersion: String(revision) }, ...rest };
}
