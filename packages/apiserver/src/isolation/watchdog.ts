import { Worker } from "node:worker_threads";
import type { Holder } from "../contract/thread-time.ts";
import type { Report } from "./messages.ts";
import { LENGTH, STOP, TEXT, TURNS } from "./watchdog-words.js";
import { programOf } from "./programs.ts";

const INTERVAL = 500;
const LONGEST = 1024;

/** What to watch of a process, and to whom to report it. */
export interface WatchdogOptions {
  /** What publishes who holds the main thread. */
  readonly thread: { onChange?: (holder: Holder | undefined) => void };
  /** MiB of resident memory from which it is reported. */
  readonly near: number;
  /** A worker process reports to this descriptor. */
  readonly fd?: number;
  /**
   * Of a worker process: the nice value of its threads while it does not take much of the processors. It gives way to
   * others while it does.
   */
  readonly nice?: number;
  /** The management process reports here when it turns again … */
  readonly report?: (report: Report) => void;
  /** … and is aborted after so many milliseconds without a turn. */
  readonly abortAfter?: number;
  /** Hears that the thread ended. */
  readonly failed?: (error: unknown) => void;
  /** The file of the thread, if it is not next to this one. */
  readonly program?: string;
}

/** A second thread that sees when the main thread makes no turn, and when memory runs out. */
export interface Watchdog {
  /** "CLUSTER\nREQUEST" of who holds the main thread, or held it last; "" if none ever did. */
  readonly last: string;
  stop(): void;
}

/** Starts the thread that watches this one. It reports what it sees while this one is stuck. */
export function startWatchdog({
  thread,
  near,
  fd,
  nice,
  report,
  abortAfter,
  program,
  failed,
}: WatchdogOptions): Watchdog {
  const shared = new SharedArrayBuffer(TEXT + LONGEST);
  const words = new Int32Array(shared, 0, 4);
  const text = Buffer.from(shared, TEXT);
  let length = 0;
  thread.onChange = (holder) => {
    if (holder !== undefined) length = text.write(`${holder.cluster}\n${holder.request}`);
    Atomics.store(words, LENGTH, holder === undefined ? 0 : length);
  };
  const turn = setInterval(() => Atomics.add(words, TURNS, 1), INTERVAL);
  turn.unref();
  const watching = new Worker(program ?? programOf("watchdog"), {
    workerData: { shared, interval: INTERVAL, near, fd, nice, abortAfter },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
  });
  watching.unref();
  // Without it the process is served all the same.
  watching.on("error", (error) => failed?.(error));
  if (report) watching.on("message", report);
  return {
    get last() {
      return text.toString("utf8", 0, length);
    },
    stop() {
      clearInterval(turn);
      delete thread.onChange;
      Atomics.store(words, STOP, 1);
      Atomics.notify(words, STOP);
    },
  };
}
