import { messageOf, type Clock, type Log } from "@causeway/foundation";

/** Milliseconds until the second attempt; each pause is twice as long as the one before. */
const SHORTEST = 500;
const LONGEST = 60_000;

/** How clusters that could not be opened are tried again. */
export interface ReopenQueueOptions {
  /** Opens a cluster as its state folder describes it. */
  readonly open: (cluster: string) => Promise<unknown>;
  /** Called with the reason each time a cluster could not be opened, and without one when it is served. */
  readonly changed: (cluster: string, problem: string | undefined) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Retries logical clusters that could not be opened, with back-off, until each is served or removed. */
export class ReopenQueue {
  readonly #of: ReopenQueueOptions;
  readonly #failed = new Set<string>();

  constructor(of: ReopenQueueOptions) {
    this.#of = of;
  }

  /**
   * A cluster could not be opened, for this reason. One error is logged per cluster, when the second attempt fails,
   * too.
   */
  failed(cluster: string, error: unknown): void {
    this.#of.changed(cluster, messageOf(error));
    if (this.#failed.has(cluster)) return;
    this.#failed.add(cluster);
    void this.#retry(cluster);
  }

  /** A cluster is served. */
  served(cluster: string): void {
    if (!this.#failed.delete(cluster)) return;
    this.#of.log.info("a logical cluster is served again", { cluster });
    this.#of.changed(cluster, undefined);
  }

  /** A cluster was removed. */
  forget(cluster: string): void {
    this.#failed.delete(cluster);
  }

  async #retry(cluster: string): Promise<void> {
    const { clock, log, signal, open, changed } = this.#of;
    for (let attempts = 1; ; attempts++) {
      await clock.sleep(Math.min(SHORTEST * 2 ** (attempts - 1), LONGEST), signal).catch(() => {});
      if (signal.aborted || !this.#failed.has(cluster)) return;
      try {
        await open(cluster);
        return this.served(cluster);
      } catch (error) {
        if (!this.#failed.has(cluster)) return;
        changed(cluster, messageOf(error));
        if (attempts === 1) log.error("a logical cluster cannot be opened; it is retried", { cluster, error });
      }
    }
  }
}
