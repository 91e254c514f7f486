import { keyOf, type KubeObject, type ObjectKey } from "@causeway/kubernetes";

/**
 * What objects refer to, by the word for it, so that a change of one object finds those that refer to it without
 * reading the others.
 */
export class ReferenceIndex<T extends KubeObject> {
  readonly #referencesOf: (object: T) => readonly string[];
  readonly #known = new Map<string, { readonly object: T; readonly words: readonly string[] }>();
  readonly #byWord = new Map<string, Set<string>>();

  constructor(referencesOf: (object: T) => readonly string[]) {
    this.#referencesOf = referencesOf;
  }

  /** The object as it is now; undefined: it is gone. */
  set(id: string, object: T | undefined): void {
    for (const word of this.#known.get(id)?.words ?? []) {
      const ids = this.#byWord.get(word);
      ids?.delete(id);
      if (ids?.size === 0) this.#byWord.delete(word);
    }
    this.#known.delete(id);
    if (!object) return;
    const words = [...new Set(this.#referencesOf(object))];
    this.#known.set(id, { object, words });
    for (const word of words) {
      const ids = this.#byWord.get(word) ?? new Set();
      this.#byWord.set(word, ids.add(id));
    }
  }

  of(word: string): T[] {
    return [...(this.#byWord.get(word) ?? [])].flatMap((id) => this.#known.get(id)?.object ?? []);
  }
}

/** The word for an object that is referred to. */
export function word(kind: string, { namespace, name }: ObjectKey): string {
  return `${kind} ${namespace}/${name}`;
}

/** An object's id among objects of several kinds. */
export function idOf(object: KubeObject): string {
  return word(object.kind, keyOf(object));
}
