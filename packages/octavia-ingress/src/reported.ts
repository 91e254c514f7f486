import type { Clock } from "@causeway/foundation";
import type { EventRecorder, KubeObject, PlannedEvent } from "@causeway/kubernetes";

/** A warning that still holds is emitted again after this long (ms): events of a cluster expire after an hour. */
const AGAIN = 1_800_000;
const REMEMBERED = 2_000;

/** Emits planned events. A plan names its warnings as long as they hold; each is emitted once in half an hour. */
export class Reported {
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  readonly #last = new Map<string, number>();

  constructor(events: EventRecorder, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  emit(object: KubeObject, planned: readonly PlannedEvent[]): void {
    for (const event of planned) {
      const key = `${object.metadata.uid} ${event.reason} ${event.message}`;
      const now = this.#clock.now();
      const last = this.#last.get(key);
      if (event.type === "Warning" && last !== undefined && now - last < AGAIN) continue;
      this.#last.delete(key);
      this.#last.set(key, now);
      const oldest = this.#last.keys().next().value;
      if (this.#last.size > REMEMBERED && oldest !== undefined) this.#last.delete(oldest);
      this.#events.event(object, event);
    }
  }
}
