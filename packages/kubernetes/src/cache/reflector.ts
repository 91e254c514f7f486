import { backoff, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { KubernetesClient, ListOptions, Mirror } from "../client/interface.ts";
import { isExpired, isNotFound, isUnreachable } from "../client/errors.ts";
import type { KubeObject, ResourceType } from "../types/meta.ts";

/** What to list and watch, and the cache that is to equal it. */
export interface ReflectorOptions<T extends KubeObject> {
  readonly client: KubernetesClient;
  readonly type: ResourceType<T>;
  readonly scope: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">;
  readonly mirror: Mirror<T>;
  readonly clock: Clock;
  readonly log: Log;
  /** The signal that aborts when everything is to be listed again, another one after each abort. Default: never. */
  readonly renewal?: () => AbortSignal;
}

/** kube-apiserver sends a bookmark about once a minute: silence of more than two is a dead connection. */
const SILENCE = 150_000;
/** So many watches refused in a row, for whatever reason, and the revision is no longer trusted. */
const REFUSALS = 3;
/** Spread over a factor of two, so that watches opened together do not all end together. */
const WATCH_SECONDS = 300;
/** A server that does not respond for less than this, in milliseconds, restarts or is being deleted: no warning. */
const RESTART_TIME = 2_000;

/**
 * Lists, then watches from there, until `signal` aborts. A lost watch is resumed at the last revision; after a 410,
 * or at the start, everything is listed again. A type the server does not serve (yet) is requested again quietly.
 */
export async function reflect<T extends KubeObject>(options: ReflectorOptions<T>, signal: AbortSignal): Promise<void> {
  const { clock, log, mirror } = options;
  const delayAfter = backoff({ base: 50, cap: 30_000 });
  const delayIfAbsent = backoff({ base: 50, cap: 2_000 });
  let failures = 0;
  let failingSince = 0;
  let revision: string | undefined;
  while (!signal.aborted) {
    const renewal = options.renewal?.();
    const term = renewal ? AbortSignal.any([signal, renewal]) : signal;
    try {
      if (options.client.follow) {
        await options.client.follow(options.type, options.scope, mirror, term);
        continue;
      }
      if (revision === undefined) {
        const list = await options.client.list(options.type, { ...options.scope, signal: term });
        term.throwIfAborted();
        mirror.replace(list);
        revision = list.resourceVersion;
      }
      const watch = await watchOnce(options, revision, term);
      revision = watch.revision;
      if (watch.expired) revision = undefined;
      if (!watch.healthy && failures === 0) failingSince = clock.now();
      failures = watch.healthy ? 0 : failures + 1;
      if (failures > 0) await clock.sleep(delayAfter(failures), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (term.aborted) {
        revision = undefined;
        continue;
      }
      const unknown = isNotFound(error);
      if (failures++ === 0) failingSince = clock.now();
      // A server that was restored refuses revisions it has not reached yet: list again.
      if (unknown || (failures >= REFUSALS && !isUnreachable(error))) revision = undefined;
      const delay = (unknown ? delayIfAbsent : delayAfter)(failures);
      report(log, error, { quiet: unknown || clock.now() - failingSince < RESTART_TIME, delay });
      await clock.sleep(delay, signal).catch(() => {});
    }
  }
}

interface WatchEnd {
  readonly revision: string;
  readonly expired: boolean;
  /** It delivered an event, or was open for a while: the next one may follow at once. */
  readonly healthy: boolean;
}

async function watchOnce<T extends KubeObject>(
  options: ReflectorOptions<T>,
  from: string,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const { clock } = options;
  const began = clock.now();
  const watchdog = new Watchdog(clock, signal);
  let revision = from;
  const end = (expired = false): WatchEnd => ({
    revision,
    expired,
    healthy: revision !== from || clock.now() - began > 5_000,
  });
  try {
    const events = options.client.watch(options.type, {
      ...options.scope,
      resourceVersion: from,
      timeoutSeconds: Math.round(WATCH_SECONDS * (1 + Math.random())),
      signal: watchdog.signal,
    });
    for await (const event of events) {
      watchdog.heard();
      revision =
        (event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion) || revision;
      options.mirror.onEvent(event);
    }
    return end();
  } catch (error) {
    signal.throwIfAborted();
    if (isExpired(error)) return end(true);
    // Events that arrived before the connection broke are valid: resume after them.
    if (watchdog.bit || revision !== from) return end();
    throw error;
  } finally {
    watchdog.stop();
  }
}

/** Aborts its signal when nothing was heard for too long, or when the outer one aborts. */
class Watchdog {
  readonly #clock: Clock;
  readonly #silence = new AbortController();
  readonly #stopped = new AbortController();
  readonly signal: AbortSignal;
  #heardAt: number;

  constructor(clock: Clock, outer: AbortSignal) {
    this.#clock = clock;
    this.#heardAt = clock.now();
    this.signal = AbortSignal.any([outer, this.#silence.signal]);
    void this.#guard();
  }

  get bit(): boolean {
    return this.#silence.signal.aborted;
  }

  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #guard(): Promise<void> {
    try {
      for (let left = SILENCE; left > 0; left = this.#heardAt + SILENCE - this.#clock.now()) {
        await this.#clock.sleep(left, this.#stopped.signal);
      }
      this.#silence.abort();
    } catch {
      // Stopped: the watch is over.
    }
  }
}

function report(log: Log, error: unknown, facts: { quiet: boolean; delay: number }): void {
  const fields = { reason: messageOf(error), retryMs: Math.round(facts.delay) };
  if (facts.quiet) log.debug("list or watch failed; retrying", fields);
  else log.warn("list or watch failed; retrying", fields);
}
