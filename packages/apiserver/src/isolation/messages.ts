import type { LogFields } from "@causeway/foundation";
import type { ApiServerOptions, LogicalClusterOptions } from "../interface.ts";
import type { Parked } from "../contract/parked.ts";
import type { ClusterInfo } from "../contract/cluster-info.ts";

/** What ends a worker process that exceeds it. */
export interface Limits {
  /** Milliseconds without a turn of the event loop after which a worker is ended. */
  readonly stuckAfter: number;
  /** MiB of JavaScript heap. */
  readonly heap: number;
  /** MiB of resident memory. */
  readonly resident: number;
}

/** What a worker process opens and serves. */
export interface WorkerOptions extends Pick<ApiServerOptions, "host" | "encryption" | "history" | "connections"> {
  readonly dir: string;
  /** The folder of the state folders of all workers: no two clusters have one port. */
  readonly around: string;
  readonly limits: Limits;
  readonly parked: Readonly<Record<string, Parked>>;
  /** Clusters that were removed while the database could not be opened. */
  readonly removed: readonly string[];
}

/** The calls that a worker answers. Everything that goes to and from it is JSON. */
export interface Calls {
  /** The first call: opens the state folder and every cluster in it. */
  open(options: WorkerOptions): readonly ClusterInfo[];
  ensure(name: string, options: LogicalClusterOptions): ClusterInfo;
  remove(name: string): null;
  /** Parks a cluster, or serves it again if `parked` is null. */
  park(name: string, parked: Parked | null): readonly ClusterInfo[];
  reload(): readonly ClusterInfo[];
  /** Copies the database to a file, as of one moment. */
  snapshot(path: string): number;
  /** Answers once the program is loaded. */
  ready(): null;
  close(): null;
}

/** One call, on its way to a worker; the reply has the same id. */
export interface CallMessage {
  readonly id: number;
  readonly call: keyof Calls;
  readonly args: readonly unknown[];
}

/** An error on its way through JSON. */
export interface PlainError {
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A cluster that could not be opened, and why; or, after that, one that is served. */
export type ClusterChange =
  | { readonly cluster: string; readonly problem: string }
  | { readonly cluster: string; readonly info: ClusterInfo };

/** What comes from a worker: the reply to a call, or news of its own. */
export type WorkerMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: PlainError }
  | { readonly changed: ClusterChange }
  /** Bytes that an idle worker keeps without use, and a new one on the same state would not have. */
  | { readonly surplus: number }
  | { readonly log: { readonly level: "debug" | "info" | "warn" | "error"; message: string; fields: LogFields } };

/** What a watchdog reports, a line of JSON each. */
export interface Report {
  /** Seconds in which the event loop made no turn; 0 when it turns again. */
  readonly stuck?: number;
  /** MiB of resident memory, once they are near the limit. */
  readonly memory?: number;
  /** An exception that nothing caught, before the process ends. */
  readonly crash?: string;
  /** "CLUSTER\nREQUEST" of who holds the main thread; "" if none does. */
  readonly holder: string;
}

/** The descriptor at which a worker process reports what its watchdog sees: the one after that of the IPC channel. */
export const REPORTS = 4;
