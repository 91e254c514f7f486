import { CausewayError, isAborted, messageOf, silentLog, systemClock, type Log } from "@causeway/foundation";
import { isConflict, isNotFound } from "../client/errors.ts";
import type { ObjectKey } from "../types/meta.ts";
import type { ControllerOptions, RunController, Shards } from "./interface.ts";
import { shardedReconcile, shardedSource } from "./sharded.ts";
import { Turns } from "./turns.ts";
import { WorkQueue } from "./work-queue.ts";
import { runWorkers } from "./workers.ts";

const CONCURRENCY = 8;

/** Reconciles keys as sources add them, until the signal aborts. Keys that fail are repeated with back-off. */
export const runController: RunController = async (given: ControllerOptions, signal: AbortSignal): Promise<void> => {
  const options = given.shards ? sharded(given, given.shards) : given;
  const log = (options.log ?? silentLog).with({ controller: options.name });
  const { clock, measured, retries } = options;
  const queue = new WorkQueue({
    ...(clock ? { clock } : {}),
    ...(measured ? { measured } : {}),
    ...(retries ? { retries } : {}),
  });
  const stops = options.sources.map((source) => source((key, after) => queue.add(key, after)));
  const stop = () => {
    for (const one of stops.splice(0)) one();
    queue.close();
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await options.ready?.(signal);
    const concurrency = options.concurrency ?? CONCURRENCY;
    const moment = { mostSlow: Math.ceil(concurrency / 2), clock: clock ?? systemClock };
    const turns = options.groups && new Turns(options.groups, moment);
    const reconcile = (key: ObjectKey) => reconcileOne(options, key, { queue, log, signal });
    await runWorkers({ queue, clock: moment.clock, turns, reconcile }, concurrency);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
};

function sharded(options: ControllerOptions, shards: Shards): ControllerOptions {
  const sources = options.sources.map((source) => shardedSource(source, shards));
  return { ...options, sources, reconcile: shardedReconcile(options.reconcile, shards) };
}

interface Facts {
  readonly queue: WorkQueue;
  readonly log: Log;
  readonly signal: AbortSignal;
}

async function reconcileOne(options: ControllerOptions, key: ObjectKey, facts: Facts): Promise<void> {
  const { queue, log, signal } = facts;
  try {
    const result = await options.reconcile(key, signal);
    queue.forget(key);
    if (result?.after !== undefined) queue.addAfter(key, result.after);
  } catch (error) {
    if (signal.aborted) return;
    const delay = queue.addRateLimited(key, isConflict(error));
    reportFailure(log, error, { key, delay, isFirst: queue.failures(key) === 1 });
  }
}

function reportFailure(log: Log, error: unknown, facts: { key: ObjectKey; delay: number; isFirst: boolean }): void {
  const fields = {
    namespace: facts.key.namespace,
    name: facts.key.name,
    reason: messageOf(error),
    code: error instanceof CausewayError ? error.code : undefined,
    hint: error instanceof CausewayError ? error.hint : undefined,
    retryMs: Math.round(facts.delay),
  };
  // Losing a race for an object is the ordinary way of optimistic locking, and the next reconcile settles it; so does a
  // write to an object that was deleted since it was read.
  const isRace = isConflict(error) || (isNotFound(error) && facts.isFirst);
  if (isRace || isAborted(error)) log.debug("reconcile will be repeated", fields);
  else log.warn("reconcile failed", fields);
}
