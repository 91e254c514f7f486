import { isRecord, type Clock } from "@causeway/foundation";
import { compareStatus, type KubeObject } from "@causeway/kubernetes";

/** Milliseconds between two writes of a status of which only messages differ. */
const CALM = 1_000;

/**
 * Holds back statuses of objects that sum up others. While machines start, what differs from one moment to the next is
 * mostly the text that says what each of them waits for, and each write has the object's own sums made again. Such a
 * status is written once a second; one with any other difference is written at once.
 */
export class CalmStatus {
  readonly #clock: Clock;
  /** By uid, when a status was last written; the oldest first. */
  readonly #written = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the status may be written; undefined: now. */
  hold(object: KubeObject, status: object): number | undefined {
    const now = this.#clock.now();
    const { uid = "" } = object.metadata;
    const standing: unknown = (object as { status?: unknown }).status ?? {};
    if (compareStatus(status, standing).same) return undefined;
    const since = now - (this.#written.get(uid) ?? -Infinity);
    if (isCalm(since) && compareStatus(silent(status), silent(standing)).same) return CALM - since;
    this.#note(uid, now);
    return undefined;
  }

  #note(uid: string, now: number): void {
    this.#written.delete(uid);
    this.#written.set(uid, now);
    for (const [old, at] of this.#written) {
      if (isCalm(now - at)) break;
      this.#written.delete(old);
    }
  }
}

/** Where the clock was set back, a write that is still to come holds nothing up. */
function isCalm(since: number): boolean {
  return since >= 0 && since < CALM;
}

function silent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(silent);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== "message");
  return Object.fromEntries(kept.map(([name, inner]) => [name, silent(inner)]));
}
