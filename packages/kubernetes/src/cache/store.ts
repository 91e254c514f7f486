import type { Change, Indexes } from "./interface.ts";
import { isReleased } from "../types/identity.ts";
import type { KubeObject, ObjectKey } from "../types/meta.ts";

type IndexFunction<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly of: IndexFunction<T>;
  readonly buckets: Map<string, Map<string, T>>;
}

/**
 * The objects of one type with their indexes. Its inputs may arrive out of order (a watch, and the responses to
 * our own writes): it keeps the newest revision of each object. Revisions are compared as numbers, which
 * Kubernetes allows within one resource type (KEP-5504).
 */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  /** All events up to this revision have arrived: an object that is absent at or below it has been deleted. */
  #seen = -1;

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(idOf(key));
  }

  list(namespace?: string): readonly T[] {
    const all = [...this.#objects.values()];
    return namespace ? all.filter((object) => object.metadata.namespace === namespace) : all;
  }

  byIndex(index: string, value: string): readonly T[] {
    const bucket = this.#indexes.get(index)?.buckets.get(value);
    return bucket ? [...bucket.values()] : [];
  }

  addIndexes(indexes: Indexes<T>): void {
    for (const [name, of] of Object.entries(indexes)) {
      if (this.#indexes.has(name)) continue;
      const index: Index<T> = { of, buckets: new Map() };
      this.#indexes.set(name, index);
      for (const [id, object] of this.#objects) enter(index, id, object);
    }
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** Takes in a complete list, read at `revision`; what it does not hold has been deleted. */
  replace(items: readonly T[], revision: string): Change<T>[] {
    const at = numberOf(revision);
    // A server restored from a backup counts from an older revision: then only its list is true.
    const restored = at < this.#seen;
    this.#seen = at;
    const listed = new Map(items.map((item) => [idOfObject(item), item]));
    const changes: Change<T>[] = [];
    for (const [id, object] of this.#objects) {
      const newer = !restored && revisionOf(object) > at;
      if (!listed.has(id) && !newer) changes.push(this.#remove(id, object));
    }
    for (const [id, item] of listed) {
      const change = this.#put(id, item, restored);
      if (change) changes.push(change);
    }
    return changes;
  }

  /** Applies a watch event. */
  observeEvent(type: "ADDED" | "MODIFIED" | "DELETED", object: T): Change<T> | undefined {
    const id = idOfObject(object);
    this.#seen = Math.max(this.#seen, revisionOf(object));
    if (type !== "DELETED") return this.#put(id, object, false);
    const held = this.#objects.get(id);
    if (!held || revisionOf(held) > revisionOf(object)) return undefined;
    return this.#remove(id, object);
  }

  /** Takes in a revision up to which nothing else has happened. */
  bookmark(revision: string): void {
    const at = numberOf(revision);
    if (at > this.#seen) this.#seen = at;
  }

  /** Applies the response to a write of ours, unless a newer event has arrived since. */
  observe(object: T): Change<T> | undefined {
    const id = idOfObject(object);
    const held = this.#objects.get(id);
    if (!held && revisionOf(object) <= this.#seen) return undefined;
    return this.#put(id, object, held !== undefined && isReleaseOf(held, object));
  }

  #put(id: string, object: T, force: boolean): Change<T> | undefined {
    const previous = this.#objects.get(id);
    if (previous && !force && previous.metadata.resourceVersion === object.metadata.resourceVersion) return undefined;
    if (previous && !force && revisionOf(object) < revisionOf(previous)) return undefined;
    this.#objects.set(id, object);
    for (const index of this.#indexes.values()) {
      if (previous) leave(index, id, previous);
      enter(index, id, object);
    }
    return previous ? { type: "updated", object, previous } : { type: "added", object };
  }

  #remove(id: string, last: T): Change<T> {
    const previous = this.#objects.get(id) ?? last;
    this.#objects.delete(id);
    for (const index of this.#indexes.values()) leave(index, id, previous);
    return { type: "deleted", object: last };
  }
}

/**
 * Whether `object` is the response to the write that removed the last finalizer of `held`: nothing of it is stored any
 * more, so the response has the revision of before. It is cached until the deletion arrives, so that no plan removes
 * the finalizer again.
 */
export function isReleaseOf(held: KubeObject, object: KubeObject): boolean {
  const [before, after] = [held.metadata, object.metadata];
  if (before.uid !== after.uid || before.resourceVersion !== after.resourceVersion) return false;
  return isReleased(object) && !isReleased(held);
}

/** "namespace/name", and "/name" without a namespace. */
export function idOf(key: ObjectKey): string {
  return `${key.namespace}/${key.name}`;
}

function idOfObject(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

function revisionOf(object: KubeObject): number {
  return numberOf(object.metadata.resourceVersion);
}

/** Something that is no number is newer than all: better one change too many than one lost. */
function numberOf(revision: string | undefined): number {
  const number = Number(revision || Number.NaN);
  return Number.isNaN(number) ? Number.POSITIVE_INFINITY : number;
}

function enter<T>(index: Index<T>, id: string, object: T): void {
  for (const value of index.of(object)) {
    index.buckets.getOrInsertComputed(value, () => new Map<string, T>()).set(id, object);
  }
}

function leave<T>(index: Index<T>, id: string, object: T): void {
  for (const value of index.of(object)) {
    const bucket = index.buckets.get(value);
    bucket?.delete(id);
    if (bucket?.size === 0) index.buckets.delete(value);
  }
}
