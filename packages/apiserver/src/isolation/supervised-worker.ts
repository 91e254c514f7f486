import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import { Diagnostician, type Diagnosis } from "./diagnosis.ts";
import type { Calls, ClusterChange, Limits, Report, WorkerOptions } from "./messages.ts";
import type { ClusterInfo } from "../contract/cluster-info.ts";
import { nearLimitAt } from "./placement.ts";
import { WorkerProcess, type Exit } from "./worker-process.ts";

/** How long a restart waits: nothing after the first end within ten minutes, then ever longer. */
const WINDOW = 600_000;
const SHORTEST = 250;
const LONGEST = 30_000;
/** Of a worker that does not get its state folder, since the one of a server before still has it. */
const TAKEN = 100;
const OPENING = 60_000;
/** A worker is replaced to return memory once in so long at most: its clusters' clients connect again. */
const RENEWAL = 3_600_000;
/** Milliseconds in which a worker that is replaced ends its connections. */
const RENEWAL_GRACE = 600;
/**
 * Milliseconds for which a worker is near its limit of memory after a report (one comes each half a second), and after
 * an end for want of it: the process after it is small for a while.
 */
const NEAR = 10_000;
const NEAR_AFTER_END = WINDOW;
const MIB = 1024 * 1024;

/** What a worker that is started again after each failure runs, and what it reports. */
export interface SupervisedOptions {
  readonly name: string;
  readonly program: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Log;
  /** What each process opens. */
  readonly options: () => WorkerOptions;
  /** A process has opened its state folder; `wasRefused` if one before it could not. */
  readonly opened: (clusters: readonly ClusterInfo[], wasRefused: boolean) => void;
  /** A process reports that a cluster cannot be opened, or is served after all. */
  readonly changed: (change: ClusterChange) => void;
  /** The process cannot open its state folder. It is retried. */
  readonly refused: () => void;
  /** A process ended without a request to stop. */
  readonly failed: (diagnosis: Diagnosis) => void;
  /** Whether its clusters can be away for the time of a start, only to return memory. */
  readonly isRenewable: () => boolean;
}

/**
 * A worker that is kept running: what ends, is stuck or takes too much memory is replaced by a new process on the same
 * state folder.
 */
export class SupervisedWorker {
  readonly #options: SupervisedOptions;
  #process: WorkerProcess | undefined;
  #opened = Promise.withResolvers<void>();
  #isOpen = false;
  #closing = false;
  #ends: number[] = [];
  #diagnostician = new Diagnostician();
  /** Why it does not serve now. */
  #problem: string | undefined;
  #refusal: string | undefined;
  #renewedAt = -Infinity;
  #nearUntil = -Infinity;
  /** The process that takes over when the one that serves has ended. */
  #next: WorkerProcess | undefined;

  constructor(options: SupervisedOptions) {
    this.#options = options;
    this.#opened.promise.catch(() => {});
    this.#start();
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get restarts(): number {
    return this.#ends.length;
  }

  /** Why it does not serve its clusters now; undefined while it does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether its memory was near the limit a moment ago, or ended a process. */
  get isNearLimit(): boolean {
    const left = this.#nearUntil - this.#options.clock.now();
    // More, after a clock was set back, is no reason.
    return left > 0 && left <= NEAR_AFTER_END;
  }

  /** Why it cannot open its state folder; undefined while it can. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Resolves when the state folder is open. Rejects with why it could not be opened. */
  async opened(): Promise<void> {
    const { clock } = this.#options;
    const waiting = new AbortController();
    const late = clock.sleep(OPENING, waiting.signal).then(() => {
      throw this.#unavailable("does not start");
    });
    try {
      await Promise.race([this.#opened.promise, late]);
    } finally {
      waiting.abort();
      late.catch(() => {});
    }
  }

  #unavailable(what: string): CausewayError {
    const { name } = this.#options;
    const reason = this.#refusal ?? this.#problem;
    const why = reason === undefined ? "" : `: ${reason}`;
    return new CausewayError("APISERVER_WORKER_UNAVAILABLE", `the worker process ${name} ${what}${why}`, {
      hint: "The log says why. It is retried; the clusters of other workers are served.",
      details: { worker: name, ...(reason === undefined ? {} : { reason }) },
    });
  }

  /** Rejects at once while the state folder cannot be opened. */
  async call<C extends keyof Calls>(call: C, ...args: Parameters<Calls[C]>): Promise<ReturnType<Calls[C]>> {
    if (this.#refusal !== undefined) throw this.#unavailable("cannot open its state");
    await this.opened();
    if (!this.#process) throw new Error("no process");
    return this.#process.call(call, ...args);
  }

  /** Ends the process within `grace` milliseconds. */
  async close(grace: number): Promise<void> {
    this.#closing = true;
    this.#next?.kill();
    this.#opened.reject(
      new CausewayError("APISERVER_CLOSED", "the API server is closed", {
        hint: "Start a new API server with the same state folder.",
      }),
    );
    const process = this.#process;
    if (!process) return;
    const late = new AbortController();
    const given = this.#isOpen ? process.call("close").catch(() => null) : Promise.resolve(null);
    await Promise.race([given, this.#options.clock.sleep(grace, late.signal).catch(() => null)]);
    late.abort();
    const gone = this.#gone;
    process.kill();
    await gone.promise;
  }

  #gone = Promise.withResolvers<void>();

  #fork(): WorkerProcess {
    const { program, limits, log, name, changed } = this.#options;
    const process: WorkerProcess = new WorkerProcess({
      program,
      limits,
      log: log.with({ worker: name }),
      onReport: (report) => this.#hear(report, process),
      onChange: (change) => {
        if (!this.#closing) changed(change);
      },
      onSurplus: (bytes) => void this.#renew(process, bytes),
      onExit: (exit) => {
        if (process === this.#next) this.#next = undefined;
        else if (process === this.#process) this.#ended(exit);
      },
    });
    return process;
  }

  #start(): void {
    try {
      this.#open(this.#fork());
    } catch (error) {
      // Without descriptors or memory for it, no process starts: that is tried again, as after an end.
      this.#ended({ code: null, signal: null, lastWords: messageOf(error) });
    }
  }

  /** Replaces an idle process that keeps memory without use by a new one, which is loaded before the old one ends. */
  async #renew(process: WorkerProcess, bytes: number): Promise<void> {
    const { clock, log, name, isRenewable } = this.#options;
    const isDue = (): boolean => !this.#closing && this.#isOpen && process === this.#process && isRenewable();
    if (!isDue() || clock.now() - this.#renewedAt < RENEWAL) return;
    const before = this.#renewedAt;
    this.#renewedAt = clock.now();
    try {
      const next = this.#fork();
      this.#next = next;
      await next.call("ready");
      if (!isDue()) {
        this.#renewedAt = before;
        return next.kill();
      }
      log.info("a worker process is replaced, to return memory that it does not use", {
        worker: name,
        pid: process.pid,
        unusedMiB: Math.round(bytes / MIB),
      });
      // What is called from now on waits for the new process.
      this.#opened = Promise.withResolvers();
      this.#opened.promise.catch(() => {});
      this.#isOpen = false;
      await Promise.race([process.call("close").catch(() => null), clock.sleep(RENEWAL_GRACE)]);
      process.kill();
    } catch (error) {
      this.#next?.kill();
      log.warn("a worker process keeps memory that it does not use, and could not be replaced", {
        worker: name,
        error,
      });
    }
  }

  #open(process: WorkerProcess): void {
    const { options, opened } = this.#options;
    this.#diagnostician = new Diagnostician();
    this.#warnAt = 1;
    this.#gone = Promise.withResolvers();
    this.#process = process;
    process.call("open", options()).then(
      (clusters) => {
        if (this.#closing) return;
        this.#isOpen = true;
        this.#problem = undefined;
        const wasRefused = this.#refusal !== undefined;
        this.#refusal = undefined;
        opened(clusters, wasRefused);
        this.#opened.resolve();
      },
      (error: unknown) => {
        // The end of the process says more than a call that it cut off.
        if ((error as { code?: unknown }).code === "APISERVER_WORKER_ENDED") return;
        this.#refused(error, process);
      },
    );
  }

  /** The process runs and cannot open its state folder. */
  #refused(error: unknown, process: WorkerProcess): void {
    const isTaken = (error as { code?: unknown }).code === "STATE_LOCKED";
    const { log, name, refused } = this.#options;
    this.#problem = messageOf(error);
    this.#isRefused = isTaken ? "in use" : "refused";
    process.kill();
    if (isTaken || this.#refusal === this.#problem) return;
    this.#refusal = this.#problem;
    log.error("a worker process cannot open its state; it is retried", { worker: name, error });
    // Who waits for the state folder hears now why it is not opened.
    this.#opened.reject(this.#unavailable("cannot open its state"));
    this.#opened = Promise.withResolvers();
    this.#opened.promise.catch(() => {});
    refused();
  }

  #isRefused: "in use" | "refused" | undefined;
  /** Seconds without progress at which the next line is logged: 1, 2, 4 and so on. */
  #warnAt = 1;

  #hear(report: Report, process: WorkerProcess): void {
    const { clock, log, limits, name } = this.#options;
    if (report.stuck === 0) {
      this.#problem = undefined;
      this.#warnAt = 1;
      return;
    }
    this.#diagnostician.note(report, clock.now());
    const [cluster, request] = report.holder.split("\n");
    const about = { worker: name, cluster, request };
    const { stuck, memory } = report;
    if (stuck !== undefined) {
      this.#problem = `it makes no progress for ${stuck} s`;
      if (stuck >= this.#warnAt) {
        this.#warnAt = 2 * stuck;
        log.warn("a request holds the thread of a worker process", { ...about, seconds: stuck });
      }
      if (stuck * 1000 < limits.stuckAfter) return;
      this.#diagnostician.end("APISERVER_WORKER_STUCK", `it made no progress for ${stuck} s`);
      process.kill();
    }
    if (memory !== undefined && memory >= nearLimitAt(limits)) this.#isNear(NEAR);
    if (memory !== undefined && memory >= limits.resident) {
      this.#diagnostician.end("APISERVER_WORKER_OUT_OF_MEMORY", `it used ${memory} MiB of ${limits.resident} MiB`);
      process.kill();
    }
  }

  #isNear(milliseconds: number): void {
    const now = this.#options.clock.now();
    this.#nearUntil = Math.max(this.isNearLimit ? this.#nearUntil : now, now + milliseconds);
  }

  #ended(exit: Exit): void {
    const { clock, log, name } = this.#options;
    const pid = this.#process?.pid;
    this.#process = undefined;
    this.#gone.resolve();
    if (this.#closing) return;
    const next = this.#next;
    this.#next = undefined;
    if (next && !this.#isOpen) return this.#open(next);
    // It ended by itself before the new one was loaded.
    next?.kill();
    if (this.#isOpen) this.#opened = Promise.withResolvers();
    this.#opened.promise.catch(() => {});
    this.#isOpen = false;
    const refused = this.#isRefused;
    this.#isRefused = undefined;
    if (refused === "in use") return this.#again(TAKEN);
    const now = clock.now();
    this.#ends = [...this.#ends.filter((at) => now - at < WINDOW), now];
    if (refused === undefined) {
      const diagnosis = this.#diagnostician.diagnose(exit, now);
      const { code, reason, cluster, request } = diagnosis;
      this.#problem = reason;
      if (code === "APISERVER_WORKER_OUT_OF_MEMORY") this.#isNear(NEAR_AFTER_END);
      log.error("a worker process ended and is started again", { code, worker: name, pid, reason, cluster, request });
      this.#options.failed(diagnosis);
    }
    const before = this.#ends.length - 1;
    this.#again(before === 0 ? 0 : Math.min(SHORTEST * 2 ** (before - 1), LONGEST));
  }

  #again(delay: number): void {
    const { clock } = this.#options;
    void clock.sleep(delay).then(() => {
      if (!this.#closing) this.#start();
    });
  }
}
