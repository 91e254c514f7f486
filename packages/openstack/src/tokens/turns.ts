import { CausewayError } from "@causeway/foundation";

interface Waiter {
  readonly admit: () => void;
  readonly shed: () => void;
}

/** How many requests about tokens Keystone gets at once, and how many wait. */
export interface TurnLimits {
  /** Tokens of which Keystone is queried at the same time. */
  readonly slots: number;
  /** These and the tokens that wait for a turn. */
  readonly most: number;
}

/**
 * Turns of one kind of tokens at Keystone. The newest goes first: it has the most time left, and its client still
 * waits. When the line is full the oldest leaves it.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #line: Waiter[] = [];
  #underWay = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Waits for a turn. The function it gives ends the turn. @throws KEYSTONE_BUSY, and the signal's reason */
  async enter(signal: AbortSignal): Promise<() => void> {
    const { slots, most } = this.#limits;
    if (this.#underWay < slots) {
      this.#underWay++;
      return this.#end();
    }
    if (this.#underWay + this.#line.length >= most) {
      const oldest = this.#line.shift();
      if (oldest === undefined) throw busy();
      oldest.shed();
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#line.splice(this.#line.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const leave = () => signal.removeEventListener("abort", onAbort);
      const waiter: Waiter = {
        admit: () => {
          leave();
          resolve();
        },
        shed: () => {
          leave();
          reject(busy());
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#line.push(waiter);
    });
    return this.#end();
  }

  #end(): () => void {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const next = this.#line.pop();
      if (next === undefined) this.#underWay--;
      else next.admit();
    };
  }
}

function busy(): CausewayError {
  return new CausewayError("KEYSTONE_BUSY", "too many tokens wait for Keystone now");
}
