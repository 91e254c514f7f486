import type { Clock } from "@causeway/foundation";
import type { ObjectKey } from "@causeway/kubernetes";

/** What is measured of reconciles, by object. */
export class Record {
  readonly #clock: Clock;
  readonly #queuedAt = new Map<string, number>();
  readonly #toReplace = new Set<string>();
  /** Objects that were found as they should be since the last `reset`. */
  readonly #done = new Set<string>();
  #latencies: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get doneCount(): number {
    return this.#done.size;
  }

  queued(key: ObjectKey): void {
    const id = idOf(key);
    if (!this.#queuedAt.has(id)) this.#queuedAt.set(id, this.#clock.now());
  }

  begun(key: ObjectKey): void {
    const id = idOf(key);
    const at = this.#queuedAt.get(id);
    if (at === undefined) return;
    this.#queuedAt.delete(id);
    this.#latencies.push(this.#clock.now() - at);
  }

  done(key: ObjectKey): void {
    this.#done.add(idOf(key));
  }

  replace(key: ObjectKey): void {
    this.#toReplace.add(idOf(key));
  }

  takeReplacement(key: ObjectKey): boolean {
    return this.#toReplace.delete(idOf(key));
  }

  reset(): void {
    this.#done.clear();
    this.#latencies = [];
  }

  /** Milliseconds between an event and the begin of its reconcile. */
  latency(percentile: number): number {
    const sorted = Float64Array.from(this.#latencies).sort();
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * percentile))] ?? 0;
  }
}

const idOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;
