import { idOf } from "../cache/store.ts";
import type { ObjectKey } from "../types/meta.ts";

/** Keys that may wait for the same slow party, such as one workload cluster, and how many of them are worked on at once. */
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

  constructor(groups: KeyGroups) {
    this.#groups = groups;
  }

  /** Begins work on a key, and gives how to end it; undefined: it was set aside. */
  enter(key: ObjectKey): (() => ObjectKey | undefined) | undefined {
    const group = this.#groups.of(key);
    if (group === undefined) return () => undefined;
    const underWay = this.#underWay.get(group) ?? 0;
    if (underWay >= this.#groups.most) {
      const aside = this.#aside.get(group) ?? new Map<string, ObjectKey>();
      this.#aside.set(group, aside.set(idOf(key), key));
      return undefined;
    }
    this.#underWay.set(group, underWay + 1);
    return () => this.#leave(group);
  }

  /** Returns the key that was set aside first, to be worked on now. */
  #leave(group: string): ObjectKey | undefined {
    const underWay = (this.#underWay.get(group) ?? 1) - 1;
    if (underWay === 0) this.#underWay.delete(group);
    else this.#underWay.set(group, underWay);
    const aside = this.#aside.get(group);
    const next = aside?.entries().next().value;
    if (!aside || !next) return undefined;
    aside.delete(next[0]);
    if (aside.size === 0) this.#aside.delete(group);
    return next[1];
  }
}
