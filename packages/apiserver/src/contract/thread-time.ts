import { performance } from "node:perf_hooks";

/** Who keeps the thread busy: a logical cluster, and the request or controller of it that is served. */
export interface Holder {
  /** Name of the logical cluster; "" is the management cluster. */
  readonly cluster: string;
  /** "PATCH /api/v1/namespaces/x/configmaps/y user NAME": bounded length, no query. */
  readonly request: string;
}

/**
 * Measures the time that each logical cluster uses of the one thread that serves all clusters. A synchronous stretch of
 * work is bracketed by `run`; what waits (for the disk, a webhook, a client) is outside of it and is not counted.
 */
export class ThreadTime {
  /** Hears who holds the thread from now on; undefined when it is released. It must not throw. */
  onChange?: (holder: Holder | undefined) => void;
  readonly #used = new Map<string, number>();
  readonly #now: () => number;
  #holder: Holder | undefined;

  /** `now` is in milliseconds; tests have their own. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Who holds the thread; undefined between two stretches. */
  get holder(): Holder | undefined {
    return this.#holder;
  }

  /** Does `work` on the account of the holder's cluster. Work inside of other work belongs to the outer holder. */
  run<T>(holder: Holder, work: () => T): T {
    if (this.#holder !== undefined) return work();
    const began = this.#now();
    this.#holder = holder;
    this.onChange?.(holder);
    try {
      return work();
    } finally {
      this.#holder = undefined;
      this.#used.set(holder.cluster, this.usedBy(holder.cluster) + (this.#now() - began));
      this.onChange?.(undefined);
    }
  }

  /** Milliseconds of the thread that a cluster has used since the start. */
  usedBy(cluster: string): number {
    return this.#used.get(cluster) ?? 0;
  }

  /** Forgets a cluster that is served no longer. */
  forget(cluster: string): void {
    this.#used.delete(cluster);
  }
}

const LONGEST_PATH = 256;
const LONGEST_NAME = 128;

/** The holder for a request, whose text is made when it is read. `path` has no query. */
export class RequestHolder implements Holder {
  readonly cluster: string;
  readonly #method: string;
  readonly #path: string;
  /** Known once the request is authenticated. */
  user: string | undefined;

  constructor(cluster: string, method: string, path: string) {
    this.cluster = cluster;
    this.#method = method;
    this.#path = path;
  }

  get request(): string {
    const what = `${shortened(this.#method, LONGEST_NAME)} ${shortened(this.#path, LONGEST_PATH)}`;
    return this.user === undefined ? what : `${what} user ${shortened(this.user, LONGEST_NAME)}`;
  }
}

function shortened(text: string, limit: number): string {
  // Control characters would break the lines of a log.
  const shown = text.length <= limit ? text : `${text.slice(0, limit)}...`;
  return shown.replaceAll(/\p{Cc}/gu, "?");
}
