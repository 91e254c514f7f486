import { readFileSync } from "node:fs";
import type { LogLimit } from "./log-limit.ts";

/** How many TCP connections a process accepts. */
export interface ConnectionLimits {
  /** Open connections of one listener. */
  readonly perListener: number;
  /** Of all listeners. */
  readonly total: number;
  /** Of the total, what only the management cluster's listener may use. */
  readonly management: number;
}

/**
 * An idle connection takes 28 KiB over HTTP/2 and 62 over HTTP/1.1, so this many reach the memory limit of a worker
 * process.
 */
const MOST = 20_000;
/** Where the operating system does not say how many descriptors there may be. */
const DESCRIPTORS = 1024;

/**
 * Limits well below the descriptors that the process may open: the database, the clouds and the logs need theirs. A
 * quarter is kept for the management cluster, except in a process that does not serve it.
 */
export function defaultLimits(descriptors = descriptorLimit(), servesManagement = true): ConnectionLimits {
  const total = Math.max(16, Math.floor(descriptors * 0.7));
  return {
    total,
    management: servesManagement ? Math.floor(total / 4) : 0,
    perListener: Math.min(MOST, Math.floor(total / 2)),
  };
}

function descriptorLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? DESCRIPTORS : Number(soft);
  } catch {
    return DESCRIPTORS;
  }
}

/** Counts the connections of all listeners, so that one tenant's clients cannot use up the process's descriptors. */
export class ConnectionPool {
  readonly limits: ConnectionLimits;
  readonly #log: LogLimit;
  readonly #byListener = new Map<object, number>();
  #total = 0;

  constructor(limits: ConnectionLimits, log: LogLimit) {
    this.limits = limits;
    this.#log = log;
  }

  /** Counts a connection; undefined when there are too many. The result counts it off. */
  enter(listener: object, isManagement: boolean): (() => void) | undefined {
    const { perListener, total, management } = this.limits;
    const open = this.#byListener.get(listener) ?? 0;
    const most = isManagement ? total : total - management;
    if (open >= perListener || this.#total >= most) {
      this.#log.log("warn", "connection refused: too many are open", { open, openInAll: this.#total, isManagement });
      return undefined;
    }
    this.#count(listener, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#count(listener, -1);
      isOpen = false;
    };
  }

  #count(listener: object, by: 1 | -1): void {
    this.#total += by;
    const open = (this.#byListener.get(listener) ?? 0) + by;
    if (open > 0) this.#byListener.set(listener, open);
    else this.#byListener.delete(listener);
  }
}
