import type { Cluster } from "../contract/cluster.ts";
import type { WorkQueue } from "../contract/cluster-metrics.ts";
import { hasCode, isAborted, messageOf } from "@causeway/foundation";

/** Works on keys one at a time; a key added while it waits is worked on once. */
export interface Loop {
  add(key: string): void;
  /** Resolves when the work under way has ended; nothing is begun any more. */
  stop(): Promise<void>;
}

/** One controller's work, key by key. */
export interface LoopOptions {
  readonly name: string;
  /** The cluster it works for: on its account, and counted among its metrics. */
  readonly cluster: Pick<Cluster, "name" | "clock" | "log" | "metrics" | "thread">;
  /** Throws to be called again, later and later (50 ms to 30 s). */
  reconcile(key: string): Promise<void>;
}

const FIRST_DELAY = 50;
const LONGEST_DELAY = 30_000;

/** A loop that costs nothing while it has nothing to do. */
export function startLoop(options: LoopOptions): Loop {
  const { name, cluster } = options;
  const { clock, log } = cluster;
  const holder = { cluster: cluster.name, request: `controller ${name}` };
  const waiting = new Set<string>();
  const failures = new Map<string, number>();
  const stopping = new AbortController();
  const queue: WorkQueue = { adds: 0, retries: 0, depth: () => waiting.size, exported: { adds: 0, retries: 0 } };
  cluster.metrics.queues.set(name, queue);
  let running: Promise<void> | undefined;

  const retry = (key: string, error: unknown): void => {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    queue.retries += 1;
    const isRace = hasCode(error, "KUBERNETES_CONFLICT");
    if (!isRace && count > 3) log.warn("controller failed", { controller: name, key, reason: messageOf(error) });
    const delay = Math.min(FIRST_DELAY * 2 ** (count - 1), LONGEST_DELAY);
    clock.sleep(delay, stopping.signal).then(
      () => add(key),
      () => {},
    );
  };

  const run = async (): Promise<void> => {
    // The write that called is finished first.
    await Promise.resolve();
    for (const key of waiting) {
      if (stopping.signal.aborted) return;
      waiting.delete(key);
      try {
        await cluster.thread.run(holder, () => options.reconcile(key));
        failures.delete(key);
      } catch (error) {
        if (stopping.signal.aborted || isAborted(error) || hasCode(error, "STATE_CLOSED")) return;
        retry(key, error);
      }
    }
  };

  const add = (key: string): void => {
    if (stopping.signal.aborted) return;
    queue.adds += 1;
    waiting.add(key);
    running ??= run().finally(() => {
      running = undefined;
      if (waiting.size > 0 && !stopping.signal.aborted) add(waiting.values().next().value ?? key);
    });
  };

  return {
    add,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
