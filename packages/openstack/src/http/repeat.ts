import { backoff, CausewayError, retry, type Backoff, type Clock, type Log } from "@causeway/foundation";
import { errorOfUnknownOutcome } from "../errors/network-error.ts";
import type { CallFacts } from "../errors/openstack-error.ts";

/** What repetition needs; an aborted `signal` ends it with the signal's reason. */
export interface RepeatOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
}

const ATTEMPTS = 5;
const delay: Backoff = withRetryAfter(backoff({ base: 250, cap: 8_000 }));

/** Repeats a call that may safely be sent again: after lost connections, 429 and 5xx (but 501). */
export function repeatIdempotent<T>(send: () => Promise<T>, options: RepeatOptions): Promise<T> {
  return retry(send, settings(options, isTransient));
}

/** Repeats a call only if it certainly was not executed: it was never sent, or the response was 429. */
export function repeatUnsent<T>(send: () => Promise<T>, options: RepeatOptions): Promise<T> {
  return retry(send, settings(options, wasNotExecuted));
}

/**
 * Repeats a create. Where it is not known whether an attempt was executed, `recover` searches for its result: at once,
 * and again after each of `pauses` (milliseconds), since a service may still be at work on a request whose connection
 * is gone. Without `recover` the outcome remains unknown, which is thrown as an error.
 */
export async function repeatCreate<T>(
  send: () => Promise<T>,
  recover: (() => Promise<T | undefined>) | undefined,
  options: RepeatOptions & { readonly pauses: readonly number[] },
): Promise<T> {
  const attempt = async (): Promise<T> => {
    try {
      return await repeatUnsent(send, options);
    } catch (error) {
      if (!isTransient(error) || wasNotExecuted(error)) throw error;
      if (recover === undefined) throw errorOfUnknownOutcome(factsOf(error), error);
      const found = await search(recover, options);
      if (found !== undefined) return found;
      throw error;
    }
  };
  return retry(
    attempt,
    settings(options, (error) => isTransient(error) && !wasNotExecuted(error)),
  );
}

async function search<T>(
  recover: () => Promise<T | undefined>,
  options: RepeatOptions & { readonly pauses: readonly number[] },
): Promise<T | undefined> {
  for (const pause of [0, ...options.pauses]) {
    if (pause > 0) await options.clock.sleep(pause, options.signal);
    const found = await recover();
    if (found !== undefined) return found;
  }
  return undefined;
}

function settings(options: RepeatOptions, retryable: (error: unknown) => boolean) {
  const { clock, log, signal } = options;
  return {
    attempts: ATTEMPTS,
    clock,
    ...(signal && { signal }),
    retryable,
    delay,
    onRetry: (error: unknown, failure: number, wait: number) =>
      log.debug("OpenStack call is retried", { failure, wait, error }),
  };
}

function isTransient(error: unknown): error is CausewayError {
  return (
    error instanceof CausewayError &&
    ["OPENSTACK_UNREACHABLE", "OPENSTACK_UNAVAILABLE", "OPENSTACK_RATE_LIMITED"].includes(error.code)
  );
}

function wasNotExecuted(error: unknown): boolean {
  if (!(error instanceof CausewayError)) return false;
  return error.code === "OPENSTACK_RATE_LIMITED" || error.details["sent"] === false;
}

function withRetryAfter(usual: Backoff): Backoff {
  return (failure, error) => {
    const asked = error instanceof CausewayError ? error.details["retryAfter"] : undefined;
    return Math.max(usual(failure), typeof asked === "number" ? asked * 1000 : 0);
  };
}

function factsOf(error: CausewayError): CallFacts {
  const { cloud, service, method, url } = error.details;
  return { cloud: String(cloud), service: String(service), method: String(method), url: String(url) };
}
