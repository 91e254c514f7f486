import { CausewayError, systemClock, type Clock } from "@causeway/foundation";
import type { CloudInformer } from "./interface.ts";

/** What is waited for, and for how long. */
export interface UntilOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. Default 10 minutes. */
  readonly timeout?: number;
  readonly clock?: Clock;
  /** False: the object is in transition, and is polled when that is likely to be over. Default true. */
  readonly hurry?: boolean;
}

/** Below the 30 s that one `hurry` lasts. */
const AGAIN = 15_000;

/**
 * Waits until the object satisfies the predicate (undefined: it is not there), hurrying its informer meanwhile unless
 * `hurry` is false. Throws OPENSTACK_WAIT_TIMEOUT. For commands and tests: controllers return a `wait` instead.
 */
export async function until<T extends { id: string }>(
  informer: CloudInformer<T>,
  id: string,
  predicate: (object: T | undefined) => boolean,
  options: UntilOptions = {},
): Promise<T | undefined> {
  const { signal, timeout = 600_000, clock = systemClock, hurry = true } = options;
  await informer.start(signal);
  const end = clock.now() + timeout;
  for (;;) {
    const object = informer.get(id);
    if (predicate(object)) return object;
    const left = end - clock.now();
    if (left <= 0) {
      throw new CausewayError(
        "OPENSTACK_WAIT_TIMEOUT",
        `${id} did not reach the expected state within ${timeout / 1000} s.`,
        {
          details: { id, timeout },
        },
      );
    }
    if (hurry) informer.hurry();
    await change(informer, id, { clock, signal, wait: Math.min(left, AGAIN) });
  }
}

/** Resolves at the object's next change, or when `wait` is over. */
async function change<T extends { id: string }>(
  informer: CloudInformer<T>,
  id: string,
  options: { clock: Clock; signal: AbortSignal | undefined; wait: number },
): Promise<void> {
  const { clock, signal, wait } = options;
  const changed = new AbortController();
  const stop = informer.onChange(({ object }) => {
    if (object.id === id) changed.abort();
  });
  try {
    await clock.sleep(wait, signal ? AbortSignal.any([signal, changed.signal]) : changed.signal);
  } catch (error) {
    if (!changed.signal.aborted) throw error;
  } finally {
    stop();
  }
}
