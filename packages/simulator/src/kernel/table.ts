import type { Identified, Table } from "./interface.ts";
import type { Store } from "./store.ts";

/** Remembers how to take back the changes of the running `Kernel.atomic`. */
export interface UndoLog {
  /** Undefined outside of atomic work. */
  current: (() => void)[] | undefined;
}

/** What all tables of a kernel share. */
export interface TableContext {
  readonly store: Store;
  readonly undo: UndoLog;
  /** Called with each change of the table. */
  readonly changed: () => void;
}

/** The one implementation of `Table`. */
export class StoredTable<T extends Identified> implements Table<T> {
  readonly name: string;
  readonly #context: TableContext;
  readonly #objects = new Map<string, T>();
  readonly #indexes: Map<string, Map<string, Set<string>>>;
  #list: readonly T[] | undefined;

  constructor(name: string, indexes: readonly string[], context: TableContext) {
    this.name = name;
    this.#context = context;
    this.#indexes = new Map(indexes.map((field) => [field, new Map()]));
    // What the store gives back is what this table put there.
    for (const object of context.store.load(name) as readonly T[]) this.#place(object);
  }

  get(id: string): T | undefined {
    return this.#objects.get(id);
  }

  all(): readonly T[] {
    this.#list ??= [...this.#objects.values()];
    return this.#list;
  }

  by(field: string, value: string): readonly T[] {
    const index = this.#values(field);
    const out: T[] = [];
    for (const id of index.get(value) ?? []) {
      const object = this.#objects.get(id);
      if (object) out.push(object);
    }
    return out;
  }

  count(field: string, value: string): number {
    return this.#values(field).get(value)?.size ?? 0;
  }

  insert(object: T): T {
    if (this.#objects.has(object.id)) throw new TypeError(`Table ${this.name} already has ${object.id}`);
    this.#set(object.id, object);
    return object;
  }

  update(id: string, change: Partial<T>): T {
    const old = this.#objects.get(id);
    if (!old) throw new TypeError(`Table ${this.name} has no ${id}`);
    const object = { ...old, ...change, id };
    this.#set(id, object);
    return object;
  }

  remove(id: string): void {
    if (this.#objects.has(id)) this.#set(id, undefined);
  }

  /** Makes these all there is, in this order. A row that is the same object remains untouched. */
  replace(rows: readonly T[]): void {
    const wanted = new Map(rows.map((row) => [row.id, row]));
    for (const id of this.#objects.keys()) if (!wanted.has(id)) this.#set(id, undefined);
    for (const row of rows) if (this.#objects.get(row.id) !== row) this.#set(row.id, row);
    // The order in which lists come is the map's.
    for (const row of rows) {
      this.#objects.delete(row.id);
      this.#objects.set(row.id, row);
    }
    this.#list = undefined;
  }

  /** Adds an index to a table that is already there. */
  index(fields: readonly string[]): void {
    for (const field of fields) {
      if (this.#indexes.has(field)) continue;
      this.#indexes.set(field, new Map());
      for (const object of this.#objects.values()) this.#enter(field, object);
    }
  }

  #values(field: string): ReadonlyMap<string, ReadonlySet<string>> {
    const index = this.#indexes.get(field);
    if (!index) throw new TypeError(`Table ${this.name} has no index on ${field}`);
    return index;
  }

  #set(id: string, object: T | undefined): void {
    const old = this.#objects.get(id);
    this.#context.undo.current?.push(() => this.#set(id, old));
    this.#context.changed();
    if (old) this.#leave(old);
    if (object) {
      this.#place(object);
      this.#context.store.put(this.name, id, object);
    } else {
      this.#objects.delete(id);
      this.#context.store.remove(this.name, id);
    }
    this.#list = undefined;
  }

  #place(object: T): void {
    this.#objects.set(object.id, object);
    for (const field of this.#indexes.keys()) this.#enter(field, object);
  }

  #enter(field: string, object: T): void {
    const index = this.#indexes.get(field);
    for (const key of keysOf(object, field)) {
      const ids = index?.get(key);
      if (ids) ids.add(object.id);
      else index?.set(key, new Set([object.id]));
    }
  }

  #leave(object: T): void {
    for (const [field, index] of this.#indexes) {
      for (const key of keysOf(object, field)) {
        const ids = index.get(key);
        ids?.delete(object.id);
        if (ids?.size === 0) index.delete(key);
      }
    }
  }
}

function keysOf(object: object, field: string): readonly string[] {
  const value: unknown = (object as Readonly<Record<string, unknown>>)[field];
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [`${value}`] : [];
}
