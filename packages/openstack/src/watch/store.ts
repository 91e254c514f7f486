import { sameResource } from "./difference.ts";
import type { CloudChange } from "./interface.ts";

/** What an object is found by: index name to the values an object has in it. */
export type Indexes<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

interface Entry<T> {
  readonly object: T;
  /** When it was first seen in this shape. */
  readonly changedAt: number;
}

const NOTHING: readonly never[] = [];

/** Objects by id and by index. Every mutation returns the change that it made, if any. */
export class ObjectStore<T extends { id: string }> {
  readonly #indexes: Indexes<T>;
  readonly #marksCount: boolean;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #byValue = new Map<string, Map<string, Set<string>>>();
  readonly #isChanging: (object: T) => boolean;
  readonly #changing = new Set<string>();
  #list: readonly T[] | undefined;

  /** `isChanging` says of an object that has just been put whether it may change by itself. */
  constructor(indexes: Indexes<T>, marksCount = false, isChanging: (object: T) => boolean = () => false) {
    this.#indexes = indexes;
    this.#isChanging = isChanging;
    this.#marksCount = marksCount;
    for (const name of Object.keys(indexes)) this.#byValue.set(name, new Map());
  }

  get(id: string): T | undefined {
    return this.#entries.get(id)?.object;
  }

  list(): readonly T[] {
    this.#list ??= [...this.#entries.values()].map((e) => e.object);
    return this.#list;
  }

  byIndex(index: string, value: string): readonly T[] {
    const values = this.#byValue.get(index);
    if (values === undefined) throw new RangeError(`There is no index "${index}".`);
    const found = values.get(value);
    return found === undefined ? NOTHING : [...found].flatMap((id) => this.get(id) ?? NOTHING);
  }

  get size(): number {
    return this.#entries.size;
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  /** Those that may change by themselves: few of many, as a rule. */
  *changing(): Iterable<Entry<T>> {
    for (const id of this.#changing) {
      const entry = this.#entries.get(id);
      if (entry) yield entry;
    }
  }

  put(object: T, now: number): CloudChange<T> | undefined {
    const entry = this.#entries.get(object.id);
    this.#list = undefined;
    if (this.#isChanging(object)) this.#changing.add(object.id);
    else this.#changing.delete(object.id);
    if (entry !== undefined && sameResource(entry.object, object, this.#marksCount)) {
      this.#entries.set(object.id, { object, changedAt: entry.changedAt });
      return undefined;
    }
    if (entry) this.#unindex(entry.object);
    this.#entries.set(object.id, { object, changedAt: now });
    this.#index(object);
    return entry ? { type: "updated", object, previous: entry.object } : { type: "added", object };
  }

  remove(id: string): CloudChange<T> | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#list = undefined;
    this.#entries.delete(id);
    this.#changing.delete(id);
    this.#unindex(entry.object);
    return { type: "deleted", object: entry.object };
  }

  #index(object: T): void {
    for (const [name, valuesOf] of Object.entries(this.#indexes)) {
      const values = this.#byValue.get(name);
      for (const value of valuesOf(object)) {
        const found = values?.get(value);
        if (found) found.add(object.id);
        else values?.set(value, new Set([object.id]));
      }
    }
  }

  #unindex(object: T): void {
    for (const [name, valuesOf] of Object.entries(this.#indexes)) {
      const values = this.#byValue.get(name);
      for (const value of valuesOf(object)) {
        const found = values?.get(value);
        found?.delete(object.id);
        if (found?.size === 0) values?.delete(value);
      }
    }
  }
}
