import type { Clock } from "@causeway/foundation";
import { OVER } from "./over.ts";

interface Wait {
  readonly at: number;
  readonly late: () => void;
}

/** Waits of one length, in the order in which they began. */
interface Queue {
  readonly waits: Set<Wait>;
  readonly asleep: AbortController;
}

/**
 * Waits that nearly all end before their time: each dial has one, and each end of a stream has two. Waits of one length
 * are late in the order in which they began, so one sleep of the clock serves all of them.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #queues = new Map<number, Queue>();
  #isClosing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `late` after so many milliseconds, unless what it returns is called before. */
  after(milliseconds: number, late: () => void): () => void {
    const wait = { at: this.#clock.now() + milliseconds, late };
    let queue = this.#queues.get(milliseconds);
    if (queue) queue.waits.add(wait);
    else {
      queue = { waits: new Set([wait]), asleep: new AbortController() };
      this.#queues.set(milliseconds, queue);
      void this.#follow(milliseconds, queue);
    }
    const { waits } = queue;
    return () => {
      waits.delete(wait);
      if (this.#isClosing) this.#wakeIdle();
    };
  }

  /** Sleeps no more where nothing waits: a sleep keeps a process from its end. */
  close(): void {
    this.#isClosing = true;
    this.#wakeIdle();
  }

  #wakeIdle(): void {
    for (const [milliseconds, { waits, asleep }] of this.#queues) {
      if (waits.size > 0) continue;
      this.#queues.delete(milliseconds);
      asleep.abort(OVER);
    }
  }

  async #follow(milliseconds: number, { waits, asleep }: Queue): Promise<void> {
    for (let [first] = waits; first; [first] = waits) {
      try {
        await this.#clock.sleep(first.at - this.#clock.now(), asleep.signal);
      } catch {
        return;
      }
      const now = this.#clock.now();
      for (const wait of waits) {
        if (wait.at > now) break;
        waits.delete(wait);
        wait.late();
      }
    }
    this.#queues.delete(milliseconds);
  }
}
