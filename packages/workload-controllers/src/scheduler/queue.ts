import type { ClusterEvent } from "./filters/interface.ts";
import { filters } from "./filters/table.ts";
import type { PodInfo } from "../model/pod-info.ts";

/** A pod that waits for a node. */
export interface WaitingPod {
  readonly pod: PodInfo;
  readonly attempts: number;
  /** When it came into the queue, or was last tried. */
  readonly since: number;
  /** Filters that kept it from nodes when it was last tried. */
  readonly failedBy: ReadonlySet<string>;
}

const firstBackOff = 1_000;
const longestBackOff = 10_000;
/** A pod is tried again after this time whatever happens, should an event have been judged wrongly. */
const longestWait = 5 * 60_000;

/**
 * Pods that wait for a node, in three places: `active` to be tried next, the highest priority first and then the
 * longest wait; `backing off` until a time that doubles with each attempt; and `parked` until something happens that
 * may help.
 */
export class SchedulingQueue {
  readonly #active = new Map<string, WaitingPod>();
  readonly #heap: WaitingPod[] = [];
  readonly #backingOff = new Map<string, WaitingPod>();
  readonly #parked = new Map<string, WaitingPod>();

  get length(): { readonly active: number; readonly backingOff: number; readonly parked: number } {
    return { active: this.#active.size, backingOff: this.#backingOff.size, parked: this.#parked.size };
  }

  /** A pod that is new, or has changed in a way that may help it. */
  put(pod: PodInfo, now: number): void {
    const known = this.#find(pod.key);
    this.remove(pod.key);
    this.#release(known ? { ...known, pod } : { pod, attempts: 0, since: now, failedBy: new Set() }, now);
  }

  /** The pod has changed in a way that does not matter here. */
  refresh(pod: PodInfo): void {
    for (const place of [this.#backingOff, this.#parked]) {
      const known = place.get(pod.key);
      if (known) place.set(pod.key, { ...known, pod });
    }
    const active = this.#active.get(pod.key);
    if (active) this.#activate({ ...active, pod });
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  remove(key: string): void {
    this.#active.delete(key);
    this.#backingOff.delete(key);
    this.#parked.delete(key);
  }

  /** The pod to try next. */
  take(): WaitingPod | undefined {
    for (;;) {
      const next = this.#pop();
      if (!next) return undefined;
      if (this.#active.get(next.pod.key) !== next) continue;
      this.#active.delete(next.pod.key);
      return { ...next, attempts: next.attempts + 1 };
    }
  }

  /** No node was found: waits for an event that helps. */
  park(waiting: WaitingPod, failedBy: ReadonlySet<string>, now: number): void {
    this.#parked.set(waiting.pod.key, { ...waiting, failedBy, since: now });
  }

  /** An attempt went wrong for another reason: tried again after its back-off. */
  retry(waiting: WaitingPod, now: number): void {
    this.#backingOff.set(waiting.pod.key, { ...waiting, failedBy: new Set(), since: now });
  }

  /** Something happened: pods that it may help are tried again. */
  wake(event: ClusterEvent, now: number): void {
    for (const waiting of this.#parked.values()) {
      if (!mayHelp(event, waiting)) continue;
      this.#parked.delete(waiting.pod.key);
      this.#release(waiting, now);
    }
  }

  /** Time has passed. */
  tick(now: number): void {
    for (const waiting of this.#backingOff.values()) {
      if (backOffEnd(waiting) > now) continue;
      this.#backingOff.delete(waiting.pod.key);
      this.#activate(waiting);
    }
    for (const waiting of this.#parked.values()) {
      if (waiting.since + longestWait > now) continue;
      this.#parked.delete(waiting.pod.key);
      this.#release(waiting, now);
    }
  }

  /** When `tick` has something to do next. */
  get nextTick(): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of this.#backingOff.values()) next = Math.min(next, backOffEnd(waiting));
    for (const { since } of this.#parked.values()) next = Math.min(next, since + longestWait);
    return Number.isFinite(next) ? next : undefined;
  }

  #find(key: string): WaitingPod | undefined {
    return this.#active.get(key) ?? this.#backingOff.get(key) ?? this.#parked.get(key);
  }

  #release(waiting: WaitingPod, now: number): void {
    if (waiting.attempts > 0 && backOffEnd(waiting) > now) this.#backingOff.set(waiting.pod.key, waiting);
    else this.#activate(waiting);
  }

  #activate(waiting: WaitingPod): void {
    this.#active.set(waiting.pod.key, waiting);
    const heap = this.#heap;
    let at = heap.push(waiting) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[parent])) break;
      swap(heap, at, parent);
      at = parent;
    }
  }

  #pop(): WaitingPod | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    heap[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = isBefore(heap[right], heap[left]) ? right : left;
      if (!isBefore(heap[child], heap[at])) return top;
      swap(heap, at, child);
      at = child;
    }
  }
}

function swap(heap: WaitingPod[], a: number, b: number): void {
  const [x, y] = [heap[a], heap[b]];
  if (x && y) [heap[a], heap[b]] = [y, x];
}

function isBefore(a: WaitingPod | undefined, b: WaitingPod | undefined): boolean {
  if (!a) return false;
  if (!b) return true;
  return a.pod.priority > b.pod.priority || (a.pod.priority === b.pod.priority && a.since < b.since);
}

function backOffEnd({ attempts, since }: WaitingPod): number {
  return since + Math.min(firstBackOff * 2 ** Math.max(0, attempts - 1), longestBackOff);
}

const wokenBy = new Map(filters.map((filter) => [filter.name, new Set(filter.wokenBy)]));

/** A pod that no filter judged (a cluster without nodes) waits for a node. */
function mayHelp(event: ClusterEvent, { failedBy }: WaitingPod): boolean {
  if (failedBy.size === 0) return event === "node-added";
  for (const name of failedBy) if (wokenBy.get(name)?.has(event)) return true;
  return false;
}
