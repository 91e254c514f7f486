import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Surplus } from "./surplus.ts";

/** What a check of the process found. */
export interface Sample {
  /** Milliseconds. */
  readonly now: number;
  /** The part of the time since the last check in which the main thread had a processor. */
  readonly busy: number;
  /** Bytes that JavaScript objects and their buffers take. */
  readonly memory: number;
}

const INTERVAL = 5_000;
/** A process whose main thread computes for a smaller part of the time is idle. */
const IDLE = 0.25;
/** Growth since the last collection from which one is worth its pause: a part of what there was, and bytes. */
const GROWTH = 0.15;
const LEAST_GROWTH = 8 * 1024 * 1024;
/** Milliseconds from one collection to the next at least. */
const SPACING = 30_000;
/**
 * A second pass frees what the first left in pages that were half full: apart from it, so that neither pause is long.
 */
const SECOND_PASS = 1_000;

/**
 * Decides when an idle process collects garbage. V8 collects when a process allocates, so one that had a busy minute
 * and is idle afterwards would keep the garbage of that minute.
 */
export class IdleCollector {
  #level: number | undefined;
  #collectedAt = -Infinity;
  #isAfter = false;

  /** Whether to collect now. */
  sample({ now, busy, memory }: Sample): boolean {
    // The first check after a collection says how much it left.
    if (this.#level === undefined || this.#isAfter) this.#level = memory;
    this.#isAfter = false;
    // What V8 collected itself is the level to grow from.
    this.#level = Math.min(this.#level, memory);
    const grown = memory - this.#level;
    if (busy >= IDLE || now - this.#collectedAt < SPACING) return false;
    if (grown < Math.max(LEAST_GROWTH, GROWTH * this.#level)) return false;
    this.#collectedAt = now;
    this.#isAfter = true;
    return true;
  }
}

/**
 * Collects this process' garbage whenever it is idle and has grown. `onSurplus` hears how many bytes it keeps without
 * use. It does not keep the process alive.
 */
export function collectWhenIdle(onSurplus?: (bytes: number) => void): { stop(): void } {
  const collector = new IdleCollector();
  const surplus = new Surplus();
  let collect: (() => void) | undefined;
  // Not how long the event loop was busy: where others have the processor, that is most of the time.
  let before = { cpu: threadTime(), at: performance.now() };
  let second: NodeJS.Timeout | undefined;
  const sample = (): void => {
    const now = { cpu: threadTime(), at: performance.now() };
    const { at } = now;
    const busy = (now.cpu - before.cpu) / (at - before.at);
    before = now;
    const { heapUsed, external, rss } = process.memoryUsage();
    const kept = surplus.sample({ now: at, idle: busy < IDLE, resident: rss, used: heapUsed + external });
    if (kept !== undefined) onSurplus?.(kept);
    if (!collector.sample({ now: at, busy, memory: heapUsed + external })) return;
    const run = (collect ??= garbageCollection());
    run();
    second = setTimeout(run, SECOND_PASS).unref();
  };
  const timer = setInterval(sample, INTERVAL).unref();
  return {
    stop() {
      clearInterval(timer);
      clearTimeout(second);
    },
  };
}

/** V8's full collection. The flag adds it to contexts that are made while it is set; programs see nothing of it. */
function garbageCollection(): () => void {
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("gc") as () => void;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}

/** Milliseconds of processor time of this thread. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
