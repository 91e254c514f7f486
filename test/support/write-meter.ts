import { systemClock, type Clock } from "@causeway/foundation";

/** What a meter writes, and how it knows later what is there. */
export interface MeteredStore {
  /** One attempt to write an object by this name; whether it is there. Writing it again is no error. */
  write(name: string): Promise<boolean>;
  /** The names of all objects that are there. */
  names(): Promise<ReadonlySet<string>>;
}

export interface Metered {
  readonly written: number;
  readonly lost: number;
  /** The longest time without a write that succeeded, in milliseconds, from the first attempt to the stop. */
  readonly outage: number;
}

/** Between two attempts, in milliseconds. */
const PAUSE = 50;
const monotonic: Clock = { now: () => performance.now(), sleep: (ms, signal) => systemClock.sleep(ms, signal) };

/**
 * Writes objects one after the other until it is stopped, each until it is there. The time without a write counts from
 * the start to the first one, and from the last one to the stop: a store that stops serving at the end counts as
 * an outage.
 */
export function startMeter(store: MeteredStore, prefix: string, clock = monotonic): { stop(): Promise<Metered> } {
  const stopping = new AbortController();
  const written: string[] = [];
  let outage = 0;
  let last = clock.now();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const name = `${prefix}-${written.length}`;
      if (await store.write(name)) {
        outage = Math.max(outage, clock.now() - last);
        last = clock.now();
        written.push(name);
      }
      await clock.sleep(PAUSE, stopping.signal).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
      const gap = Math.max(outage, clock.now() - last);
      const there = await store.names();
      return {
        written: written.length,
        lost: written.filter((name) => !there.has(name)).length,
        outage: Math.round(gap),
      };
    },
  };
}
