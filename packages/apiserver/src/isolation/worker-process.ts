import { fork, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CausewayError, type Log } from "@causeway/foundation";
import { REPORTS, type Calls, type ClusterChange, type Limits, type Report, type WorkerMessage } from "./messages.ts";
import { errorOf } from "./worker-log.ts";

/** The last of what a dying process wrote. */
const LAST_WORDS = 8192;

/** How a process ended: by a code or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what it wrote to standard error. */
  readonly lastWords: string;
}

/** What a process runs, and what is called when it reports something or ends. */
export interface WorkerProcessOptions {
  readonly program: string;
  readonly limits: Limits;
  readonly log: Log;
  readonly onReport: (report: Report) => void;
  readonly onChange: (change: ClusterChange) => void;
  readonly onSurplus: (bytes: number) => void;
  readonly onExit: (exit: Exit) => void;
}

interface PendingCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** One worker process, from its start to its end. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PendingCall>();
  readonly #log: Log;
  #calls = 0;
  #ended = false;

  constructor({ program, limits, log, onReport, onChange, onSurplus, onExit }: WorkerProcessOptions) {
    this.#log = log;
    this.#child = fork(program, [], {
      execArgv: [`--max-old-space-size=${limits.heap}`, "--max-semi-space-size=4"],
      stdio: ["ignore", "ignore", "pipe", "ipc", "pipe"],
      env: environment(),
    });
    // Where no descriptor is left, the child has no pipes: what reads them throws below, and this event still comes.
    this.#child.on("error", () => {});
    let lastWords = "";
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      lastWords = (lastWords + text).slice(-LAST_WORDS);
    });
    const reports = createInterface({ input: this.#child.stdio[REPORTS] as Readable });
    reports.on("line", (line) => onReport(JSON.parse(line) as Report));
    reports.on("error", () => {});
    this.#child.on("message", (message: WorkerMessage) => {
      if ("changed" in message) onChange(message.changed);
      else if ("surplus" in message) onSurplus(message.surplus);
      else this.#hear(message);
    });
    const end = (code: number | null, signal: string | null): void => {
      if (this.#ended) return;
      this.#ended = true;
      reports.close();
      for (const { reject } of this.#pending.values()) reject(ended());
      this.#pending.clear();
      onExit({ code, signal, lastWords });
    };
    // `close` comes when the last report was read; `error` when it could not be started at all.
    this.#child.on("close", end);
    this.#child.on("error", (error) => {
      lastWords += error.message;
      if (this.#child.pid === undefined) end(null, null);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Rejects with what the worker throws, or with APISERVER_WORKER_ENDED. */
  call<C extends keyof Calls>(call: C, ...args: Parameters<Calls[C]>): Promise<ReturnType<Calls[C]>> {
    if (this.#ended || !this.#child.connected) return Promise.reject(ended());
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as PendingCall["resolve"], reject });
      this.#child.send({ id, call, args }, (error) => {
        if (error && this.#pending.delete(id)) reject(ended());
      });
    });
  }

  /** Ends it at once, whatever it does. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #hear(message: Exclude<WorkerMessage, { changed: unknown } | { surplus: unknown }>): void {
    if ("log" in message) {
      const { level, message: text, fields } = message.log;
      return this.#log[level](text, fields);
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ("error" in message) pending?.reject(errorOf(message.error));
    else pending?.resolve(message.result);
  }
}

/**
 * What decides how glibc hands out memory. By default it raises the size from which a piece of memory is mapped on its
 * own to that of the largest piece freed so far. Bodies and answers of megabytes then leave holes in the heap that
 * never go back to the system.
 */
const MALLOC = { MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072", MALLOC_ARENA_MAX: "2" };

/** What decides how Node runs is the supervisor's; the rest is passed on, and goes before what is set here. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  return { ...MALLOC, ...env };
}

function ended(): CausewayError {
  return new CausewayError(
    "APISERVER_WORKER_ENDED",
    "the worker process of the logical cluster ended before it responded",
    {
      hint: "Try again: it is restarted with its data intact. The log says why it ended.",
    },
  );
}
