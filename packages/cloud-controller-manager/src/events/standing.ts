import type { Clock } from "@causeway/foundation";
import type { EventRecorder, KubeObject, PlannedEvent } from "@causeway/kubernetes";

/** A warning that still holds is told again after this long (ms): events of a cluster expire after an hour. */
const again = 1_800_000;
const remembered = 2_000;

/**
 * Tells planned events. A plan names its warnings as long as they hold; each is told once in half an hour, so that looking
 * at an unchanged object writes nothing.
 */
export class Standing {
  readonly #events: EventRecorder;
  readonly #clock: Clock;
  readonly #told = new Map<string, number>();

  constructor(events: EventRecorder, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  tell(object: KubeObject, planned: readonly PlannedEvent[]): void {
    for (const event of planned) if (this.#isDue(object, event)) this.#events.event(object, event);
  }

  #isDue(object: KubeObject, event: PlannedEvent): boolean {
    if (event.type === "Normal") return true;
    const now = this.#clock.now();
    const key = `${object.metadata.uid} ${event.reason} ${event.message}`;
    const told = this.#told.get(key);
    if (told !== undefined && now - told < again) return false;
    this.#told.delete(key);
    this.#told.set(key, now);
    const oldest = this.#told.keys().next().value;
    if (this.#told.size > remembered && oldest !== undefined) this.#told.delete(oldest);
    return true;
  }
}
