import { idOf } from "../cache/store.ts";
import type { ObjectKey } from "../types/meta.ts";

/**
 * Keys that may wait for the same slow party, such as one workload cluster, and how many of them are worked on at once.
 */
export interface KeyGroups {
  /** The group of a key; undefined: it has none, and no limit. */
  of(key: ObjectKey): string | undefined;
  readonly most: number;
}

/** Keeps the workers for all groups: a key whose group has as many under way as it may is set aside until one ends. */
export class Turns {
  readonly #groups: KeyGroups;
  readonly #underWay = new Map<string, number>();
  readonly #aside = new Map<string, Map<string, ObjectKey>>();
  /** The group whose turn a key that was set aside has received. */
  readonly #received = new Map<string, string>();

  constructor(groups: KeyGroups) {
    this.#groups = groups;
  }

  /** Begins work on a key, and gives how to end it; undefined: it was set aside. */
  enter(key: ObjectKey): (() => ObjectKey | undefined) | undefined {
    const id = idOf(key);
    // An object that was deleted since has no group, but hands on the turn that it received.
    const received = this.#received.get(id);
    if (received !== undefined) {
      this.#received.delete(id);
      return () => this.#leave(received);
    }
    const group = this.#groups.of(key);
    if (group === undefined) return () => undefined;
    const underWay = this.#underWay.get(group) ?? 0;
    if (underWay >= this.#groups.most) {
      const aside = this.#aside.get(group) ?? new Map<string, ObjectKey>();
      this.#aside.set(group, aside.set(id, key));
      return undefined;
    }
    this.#underWay.set(group, underWay + 1);
    return () => this.#leave(group);
  }

  /** Hands the turn to the key that was set aside first, and returns it, to be worked on now. */
  #leave(group: string): ObjectKey | undefined {
    const aside = this.#aside.get(group);
    for (const [id, key] of aside ?? []) {
      aside?.delete(id);
      if (aside?.size === 0) this.#aside.delete(group);
      if (this.#received.has(id)) continue;
      this.#received.set(id, group);
      return key;
    }
    const underWay = (this.#underWay.get(group) ?? 1) - 1;
    if (underWay === 0) this.#underWay.delete(group);
    else this.#underWay.set(group, underWay);
    return undefined;
  }
}
