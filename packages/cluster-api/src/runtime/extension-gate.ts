import type { ExtensionConfig } from "@causeway/api";
import { messageOf, type Clock } from "@causeway/foundation";

/** Calls of one extension at a time: a slow one leaves the other workers to the Clusters of others. */
const mostInFlight = 2;

/** Milliseconds that a call waits for one of these to end. */
export const longestWait = 1_000;

/** Milliseconds without calls after the first failure; each further one doubles them. */
export const firstPause = 10_000;
const longestPause = 5 * 60_000;

/** The calls of one extension. */
interface Gate {
  /** When those in flight began, in milliseconds since the epoch. */
  readonly began: Set<{ readonly at: number }>;
  readonly waiting: Set<() => void>;
  /** Failures since the last response. */
  failures: number;
  /** No call is sent before (milliseconds since the epoch), and why. */
  paused: { readonly until: number; readonly why: string };
}

/** An extension that failed, and is not called before `until` (milliseconds since the epoch). */
export class ExtensionPaused extends Error {
  readonly until: number;

  constructor({ until, why }: Gate["paused"], cause?: unknown) {
    super(`${why}; the extension is called again at ${new Date(until).toISOString()}`, { cause });
    this.until = until;
  }
}

/** An extension that has as many calls in flight as it may have. */
export class ExtensionBusy extends Error {}

/** A call that ended before the extension had its time: no failure of the extension. */
export class CallCutShort extends Error {}

/** Extensions of which states are kept: the oldest go first. */
const mostKept = 1_000;

/** Bounds what the calls of one extension cost all others: how many run at a time, and how often it may fail. */
export class ExtensionGates {
  readonly #clock: Clock;
  readonly #gates = new Map<string, Gate>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A call of an extension: `send` rejects if there is no response. @throws ExtensionPaused, ExtensionBusy */
  async pass<T>(config: ExtensionConfig, send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const gate = this.#gateOf(config);
    this.#demandOpen(gate);
    const call = await this.#begin(gate, signal);
    try {
      this.#demandOpen(gate);
      const response = await send();
      gate.failures = 0;
      return response;
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ExtensionPaused || error instanceof CallCutShort ? error : this.#failed(gate, error);
    } finally {
      gate.began.delete(call);
      const [next] = gate.waiting;
      next?.();
    }
  }

  #demandOpen({ paused }: Gate): void {
    if (paused.until > this.#clock.now()) throw new ExtensionPaused(paused);
  }

  /** Calls in flight that fail together count as one failure. */
  #failed(gate: Gate, error: unknown): ExtensionPaused {
    const now = this.#clock.now();
    if (gate.paused.until <= now) {
      gate.failures += 1;
      const pause = Math.min(firstPause * 2 ** (gate.failures - 1), longestPause);
      gate.paused = { until: now + pause, why: messageOf(error) };
    }
    return new ExtensionPaused(gate.paused, error);
  }

  /** Waits until a call may begin, and counts it: nothing else runs between the two. */
  async #begin(gate: Gate, signal: AbortSignal): Promise<{ readonly at: number }> {
    const { began, waiting } = gate;
    const until = this.#clock.now() + longestWait;
    while (began.size >= mostInFlight) {
      const now = this.#clock.now();
      const newest = Math.max(...[...began].map(({ at }) => at));
      // Calls that take longer are not waited for.
      if (now >= until || now - newest >= longestWait)
        throw new ExtensionBusy(`the extension has ${mostInFlight} calls in flight`);
      const freed = Promise.withResolvers<void>();
      const stop = new AbortController();
      const slept = this.#clock.sleep(until - now, AbortSignal.any([signal, stop.signal]));
      waiting.add(freed.resolve);
      try {
        await Promise.race([freed.promise, slept]);
      } finally {
        waiting.delete(freed.resolve);
        stop.abort();
        slept.catch(() => undefined);
      }
    }
    const call = { at: this.#clock.now() };
    began.add(call);
    return call;
  }

  /** An ExtensionConfig that was changed is called at once. */
  #gateOf({ metadata: { uid, name, generation } }: ExtensionConfig): Gate {
    const id = `${uid ?? name}/${generation ?? 0}`;
    const gate = this.#gates.get(id) ?? {
      began: new Set(),
      waiting: new Set(),
      failures: 0,
      paused: { until: 0, why: "" },
    };
    this.#gates.set(id, gate);
    const [oldest] = this.#gates.keys();
    if (this.#gates.size > mostKept && oldest !== undefined) this.#gates.delete(oldest);
    return gate;
  }
}
