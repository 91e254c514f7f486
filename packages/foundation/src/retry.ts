import type { Clock } from "./clock.ts";

/** The first and the longest pause, and how pauses grow. */
export interface BackoffOptions {
  /** The first delay, in milliseconds. Default 200. */
  readonly base?: number;
  /** No delay is longer, in milliseconds. Default 30 000. */
  readonly cap?: number;
  /** What each delay is multiplied by for the next. Default 2. */
  readonly factor?: number;
  /**
   * The share of a delay that is left to chance, from 0 (none) to 1 (anything from 0 to the full delay). Default 0.5.
   */
  readonly jitter?: number;
  /** A number from 0 to 1, below 1. */
  readonly random?: () => number;
}

/** Milliseconds to wait after failure number `failure`, which counts from 1. */
export type Backoff = (failure: number, error?: unknown) => number;

/** Exponential back-off with a cap and jitter. */
export function backoff(options: BackoffOptions = {}): Backoff {
  const { base = 200, cap = 30_000, factor = 2, jitter = 0.5, random = Math.random } = options;
  return (failure) => {
    const full = Math.min(cap, base * factor ** Math.max(0, failure - 1));
    return full * (1 - jitter * random());
  };
}

/** How often and with which pauses work is repeated, and after which errors. */
export interface RetryOptions {
  /** How often `attempt` is called at most, the first time included. Default 5. */
  readonly attempts?: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** False: the error is thrown as it is. Default: everything is worth another attempt. */
  readonly retryable?: (error: unknown) => boolean;
  readonly delay?: Backoff;
  /** Called for each failure that will be followed by another attempt. */
  readonly onRetry?: (error: unknown, failure: number, delay: number) => void;
}

/**
 * Calls `attempt` (with 1, 2, …) until it succeeds, and throws its last error when it may not continue. An abort ends
 * the wait between attempts with the signal's reason; an attempt that is under way has to watch the signal by itself.
 */
export async function retry<T>(attempt: (number: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts = 5, clock, signal, retryable = () => true, delay = backoff() } = options;
  for (let number = 1; ; number++) {
    signal?.throwIfAborted();
    try {
      return await attempt(number);
    } catch (error) {
      if (number >= attempts || signal?.aborted || !retryable(error)) throw error;
      const wait = delay(number, error);
      options.onRetry?.(error, number, wait);
      await clock.sleep(wait, signal);
    }
  }
}
