import { writeSync } from "node:fs";
import { messageOf, systemClock } from "@causeway/foundation";
import type { StartClusterControllers } from "../interface.ts";
import type { ExternalAuthenticators } from "../contract/authentication.ts";
import { ServerState } from "../clusters/server-state.ts";
import { isOfRequest } from "../server/request-scope.ts";
import { ThreadTime } from "../contract/thread-time.ts";
import {
  REPORTS,
  type CallMessage,
  type Calls,
  type Report,
  type WorkerMessage,
  type WorkerOptions,
} from "./messages.ts";
import { collectWhenIdle } from "./idle-collector.ts";
import { lowerPriority, niceAfter, threadsOf } from "./priority.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";
import { logTo, plainError } from "./worker-log.ts";

/**
 * Memory is reported from this part of the smaller limit on, so that who uses it is known when the process dies of it.
 */
const NEAR = 0.8;
/**
 * Added to the nice value of the parent: where processor time is short, a worker gets a third of what the management
 * process gets.
 */
const LOWER = 5;

/**
 * Runs a worker process: serves the logical clusters of one state folder as its parent orders over the IPC channel. It
 * ends when the channel does; what is in its state folder is whole at any instant. `controllers` run for clusters that
 * have option `controllers`. Returns what measures who holds the main thread.
 */
export function runWorker(controllers?: StartClusterControllers, authenticators?: ExternalAuthenticators): ThreadTime {
  const thread = new ThreadTime();
  const send = (message: WorkerMessage): void => {
    if (process.connected) process.send?.(message);
  };
  const worker = new Worker(thread, send, { controllers, authenticators });
  process.on("message", (message: CallMessage) => void worker.answer(message).then(send));
  process.on("disconnect", () => process.exit());
  // A terminal and a service manager signal the whole group; the parent says when this process has to end.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("uncaughtException", (error) => {
    if (isOfRequest()) return;
    const report: Report = { crash: messageOf(error).slice(0, 500), holder: worker.holder };
    writeSync(REPORTS, `${JSON.stringify(report)}\n`);
    process.exit(1);
  });
  return thread;
}

/** What the program of the worker process brings. */
interface Brought {
  readonly controllers: StartClusterControllers | undefined;
  readonly authenticators: ExternalAuthenticators | undefined;
}

class Worker {
  readonly #thread: ThreadTime;
  readonly #send: (message: WorkerMessage) => void;
  #state: ServerState | undefined;
  #watchdog: Watchdog | undefined;

  readonly #brought: Brought;

  constructor(thread: ThreadTime, send: (message: WorkerMessage) => void, brought: Brought) {
    this.#thread = thread;
    this.#send = send;
    this.#brought = brought;
  }

  /** Who holds the main thread, or held it last. */
  get holder(): string {
    return this.#watchdog?.last ?? "";
  }

  async answer({ id, call, args }: CallMessage): Promise<WorkerMessage> {
    try {
      const perform = this.#calls[call] as (...args: readonly unknown[]) => unknown;
      return { id, result: await perform(...args) };
    } catch (error) {
      return { id, error: plainError(error) };
    }
  }

  readonly #calls: { readonly [C in keyof Calls]: (...args: Parameters<Calls[C]>) => unknown } = {
    open: (options) => this.#open(options),
    ensure: async (name, options) => {
      await this.#opened.ensureCluster(name, options);
      return this.#opened.info(name);
    },
    remove: async (name) => {
      await this.#opened.removeCluster(name);
      return null;
    },
    park: async (name, parked) => {
      await this.#opened.park(name, parked ?? undefined);
      return this.#opened.infos;
    },
    reload: async () => {
      await this.#opened.reload();
      return this.#opened.infos;
    },
    snapshot: (path) => this.#opened.snapshot(path),
    ready: () => null,
    close: async () => {
      await this.#state?.close();
      return null;
    },
  };

  get #opened(): ServerState {
    if (!this.#state) throw new Error("the worker has not received its options");
    return this.#state;
  }

  async #open({ limits, parked, removed, ...options }: WorkerOptions): Promise<unknown> {
    const threads = threadsOf();
    const nice = niceAfter(LOWER);
    this.#watchdog = startWatchdog({
      thread: this.#thread,
      near: NEAR * Math.min(limits.heap, limits.resident),
      fd: REPORTS,
      nice,
    });
    // The watchdog keeps the priority that the process began with.
    lowerPriority(threads, nice);
    collectWhenIdle((surplus) => this.#send({ surplus }));
    const state: ServerState = new ServerState({
      ...options,
      clock: systemClock,
      log: logTo(this.#send),
      tenants: "only",
      ...(this.#brought.controllers ? { controllers: this.#brought.controllers } : {}),
      ...(this.#brought.authenticators ? { authenticators: this.#brought.authenticators } : {}),
      parked: new Map(Object.entries(parked)),
      removed,
      thread: this.#thread,
      changed: (cluster, problem) =>
        this.#send({
          changed: problem === undefined ? { cluster, info: state.info(cluster) } : { cluster, problem },
        }),
    });
    try {
      await state.open();
    } catch (error) {
      await state.close();
      throw error;
    }
    this.#state = state;
    return state.infos;
  }
}
