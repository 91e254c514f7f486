import type { Clock } from "@causeway/foundation";
import type { EventRecorder, KubeObject, PlannedEvent } from "@causeway/kubernetes";

/** A warning whose cause persists is emitted again after this long (ms): events of a cluster expire after an hour. */
const again = 1_800_000;
const remembered = 2_000;

/**
 * Emits planned events. A plan repeats its warnings as long as their cause persists; each warning is emitted once in
 * half an hour, so that a reconcile of an unchanged object writes nothing.
 */
export class EventDeduplicator {
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  readonly #emitted = new Map<string, number>();

  constructor(events: EventRecorder, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  emit(object: KubeObject, planned: readonly PlannedEvent[]): void {
    for (const event of planned) if (this.#isDue(object, event)) this.#events.event(object, event);
  }

  #isDue(object: KubeObject, event: PlannedEvent): boolean {
    if (event.type === "Normal") return true;
    const now = this.#clock.now();
    const key = `${object.metadata.uid} ${event.reason} ${event.message}`;
    const emitted = this.#emitted.get(key);
    if (emitted !== undefined && now - emitted < again) return false;
    this.#emitted.delete(key);
    this.#emitted.set(key, now);
    const oldest = this.#emitted.keys().next().value;
    if (this.#emitted.size > remembered && oldest !== undefined) this.#emitted.delete(oldest);
    return true;
  }
}
