import type { Clock } from "@causeway/foundation";

const FIRST = 1_000;
const LONGEST = 15 * 60_000;

interface Failure {
  readonly until: number;
  readonly delay: number;
}

/**
 * Failed pods of a node are deleted at once the first time, then after 1 s, 2 s … 15 min: the kubelet may refuse each
 * of them.
 */
export class FailureBackoff {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  until(uid: string, node: string): number | undefined {
    return this.#failures.get(`${uid}/${node}`)?.until;
  }

  failed(uid: string, node: string): void {
    const now = this.#clock.now();
    // The oldest come first; what has been quiet for twice the longest delay is forgotten.
    for (const [key, { until }] of this.#failures) {
      if (now - until <= 2 * LONGEST) break;
      this.#failures.delete(key);
    }
    const key = `${uid}/${node}`;
    const delay = Math.min(LONGEST, (this.#failures.get(key)?.delay ?? FIRST / 2) * 2);
    this.#failures.delete(key);
    this.#failures.set(key, { until: now + delay, delay });
  }
}
