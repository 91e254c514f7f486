import type { Clock } from "@causeway/foundation";
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

/** Work on one key. */
export interface Turn {
  /** It takes long: its group is slow from now on. */
  slow(): void;
  /** Returns the keys that were set aside and are to be worked on now. */
  end(): readonly ObjectKey[];
}

interface Group {
  readonly name: string;
  readonly aside: Map<string, ObjectKey>;
  underWay: number;
  /** Of those under way, the ones that take long. */
  slowUnderWay: number;
  /** From when on (ms since epoch) work that ends soon shows that it is slow no longer. */
  slowUntil: number;
}

/** Milliseconds after the last long work of a group during which it counts as slow in any case. */
const REMEMBERED = 60_000;

/**
 * Keeps the workers for all groups: a key whose group has as many under way as it may is set aside until one ends.
 * Groups that were slow lately have half as many each, and at most `mostSlow` together.
 */
export class Turns {
  readonly #groups: KeyGroups;
  readonly #mostSlow: number;
  readonly #clock: Pick<Clock, "now">;
  readonly #all = new Map<string, Group>();
  /** Those that were slow lately; the one that waits longest for a turn first. */
  readonly #slow = new Set<Group>();
  #slowUnderWay = 0;
  /** The group whose turn a key that was set aside has received. */
  readonly #received = new Map<string, Group>();

  constructor(groups: KeyGroups, { mostSlow, clock }: { mostSlow: number; clock: Pick<Clock, "now"> }) {
    this.#groups = groups;
    this.#mostSlow = mostSlow;
    this.#clock = clock;
  }

  /** Begins work on a key; undefined: it was set aside. */
  enter(key: ObjectKey): Turn | undefined {
    const id = idOf(key);
    const name = this.#groups.of(key);
    // An object that was deleted since has no group, but hands on the turn that it received.
    const received = this.#received.get(id);
    if (received) {
      this.#received.delete(id);
      return this.#turn(received, received.name === name);
    }
    if (name === undefined) return noTurn;
    const group = this.#groupOf(name);
    if (!this.#hasRoom(group)) {
      group.aside.set(id, key);
      return undefined;
    }
    this.#count(group, 1);
    return this.#turn(group, true);
  }

  #groupOf(name: string): Group {
    const known = this.#all.get(name);
    if (known) return known;
    const group = { name, aside: new Map<string, ObjectKey>(), underWay: 0, slowUnderWay: 0, slowUntil: 0 };
    this.#all.set(name, group);
    return group;
  }

  #turn(group: Group, isOfGroup: boolean): Turn {
    let isSlow = false;
    return {
      slow: () => {
        if (isSlow || !isOfGroup) return;
        isSlow = true;
        group.slowUnderWay += 1;
        if (!this.#slow.has(group)) this.#slowUnderWay += group.underWay;
        this.#slow.add(group);
        group.slowUntil = this.#clock.now() + REMEMBERED;
      },
      end: () => {
        this.#count(group, -1);
        if (isSlow) {
          group.slowUnderWay -= 1;
          group.slowUntil = this.#clock.now() + REMEMBERED;
        } else if (isOfGroup && this.#isOver(group)) this.#setQuick(group);
        return this.#wake(group);
      },
    };
  }

  #count(group: Group, change: 1 | -1): void {
    group.underWay += change;
    if (this.#slow.has(group)) this.#slowUnderWay += change;
  }

  /** No work of it took long lately. */
  #isOver({ slowUnderWay, slowUntil }: Group): boolean {
    return slowUnderWay === 0 && slowUntil <= this.#clock.now();
  }

  #setQuick(group: Group): void {
    if (this.#slow.delete(group)) this.#slowUnderWay -= group.underWay;
  }

  #hasRoom(group: Group): boolean {
    const { most } = this.#groups;
    if (!this.#slow.has(group)) return group.underWay < most;
    return group.underWay < Math.ceil(most / 2) && this.#slowUnderWay < this.#mostSlow;
  }

  /**
   * Hands turns to keys that were set aside: of the group whose turn has ended, and of slow ones, which share theirs.
   */
  #wake(ended: Group): ObjectKey[] {
    const ready = this.#slow.has(ended) ? [] : this.#next(ended);
    const slow = [...this.#slow];
    for (const group of slow) {
      const next = this.#next(group);
      ready.push(...next);
      if (group.underWay === 0 && group.aside.size === 0 && this.#isOver(group)) {
        this.#setQuick(group);
        this.#forget(group);
      } else if (next.length > 0) {
        this.#slow.delete(group);
        this.#slow.add(group);
      }
    }
    this.#forget(ended);
    return ready;
  }

  #next(group: Group): ObjectKey[] {
    const ready: ObjectKey[] = [];
    for (const [id, key] of group.aside) {
      if (!this.#hasRoom(group)) break;
      group.aside.delete(id);
      if (this.#received.has(id)) continue;
      this.#received.set(id, group);
      this.#count(group, 1);
      ready.push(key);
    }
    return ready;
  }

  #forget(group: Group): void {
    if (group.underWay === 0 && group.aside.size === 0 && !this.#slow.has(group)) this.#all.delete(group.name);
  }
}

/** Work that no limit is for. */
export const noTurn: Turn = { slow: () => {}, end: () => [] };
