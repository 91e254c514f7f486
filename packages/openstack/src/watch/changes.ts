/**
 * How a service lists what changed lately: objects have the time of their last change, and a list can be limited to it.
 */
export interface ChangeMarks<T> {
  /** As the service sends it, in UTC without a zone; null for what never changed. */
  readonly changedAt: (object: T) => string | null | undefined;
  /** Its next change is not shown by such a list: it ends, or its time does not change with it. */
  readonly needsAll: (object: T) => boolean;
}

/** Fewer objects than this are as cheap to list whole. */
const FEW = 50;
/**
 * Milliseconds: a whole list after so long at the latest while something changes, and while nothing does, whatever the
 * marks show.
 */
const WHOLE_AGAIN = { changing: 60_000, still: 30 * 60_000 };
/**
 * Milliseconds: the clocks of a service's processes, and transactions that are committed later than they are stamped.
 */
const MARGIN = 60_000;

/**
 * Since when a list of changes is enough, in place of a list of all. Times are those of the service: its clock may
 * differ from ours.
 */
export class ChangeWindow<T> {
  readonly #marks: ChangeMarks<T>;
  #newest = Number.NEGATIVE_INFINITY;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #isRefused = false;

  constructor(marks: ChangeMarks<T>) {
    this.#marks = marks;
  }

  /** The time for the next list; undefined: all have to be listed. `changing` are the objects in transition. */
  since(now: number, count: number, changing: Iterable<T>): string | undefined {
    if (this.#isRefused || count < FEW || !Number.isFinite(this.#newest)) return undefined;
    let again = WHOLE_AGAIN.still;
    for (const object of changing) {
      if (this.#marks.needsAll(object)) return undefined;
      again = WHOLE_AGAIN.changing;
    }
    if (now - this.#wholeAt >= again) return undefined;
    return new Date(this.#newest - MARGIN).toISOString().slice(0, 19);
  }

  /** A list has come, which began at `begunAt`. */
  listed(objects: readonly T[], begunAt: number, isWhole: boolean): void {
    if (isWhole) this.#wholeAt = begunAt;
    for (const object of objects) {
      const mark = Date.parse(`${(this.#marks.changedAt(object) ?? "").slice(0, 19)}Z`);
      if (mark > this.#newest) this.#newest = mark;
    }
  }

  /** The service cannot limit its list so. */
  refused(): void {
    this.#isRefused = true;
  }
}
