import { openAudit } from "../audit/audit.ts";
import type { Audit, AuditOptions } from "../contract/audit.ts";
import type { Cluster } from "../contract/cluster.ts";

/** Records the requests of a cluster; what is recorded, and where it goes, changes while the cluster is served. */
export class ClusterAudit {
  readonly #cluster: Cluster;
  readonly #ending = new Set<Promise<void>>();
  #current: Audit | undefined;

  constructor(cluster: Cluster, options: AuditOptions | "none" | undefined) {
    this.#cluster = cluster;
    this.#current = this.#opened(options);
  }

  /** Undefined: nothing is recorded. */
  get current(): Audit | undefined {
    return this.#current;
  }

  /**
   * Records so from the next request on. What waits for the place of before is sent next to it, within the time that a
   * server has at its end. `keep` is called in between, when the options are known to be valid.
   */
  replace(options: AuditOptions | "none", keep: () => void): void {
    const next = this.#opened(options);
    try {
      keep();
    } catch (error) {
      this.#end(next);
      throw error;
    }
    this.#end(this.#current);
    this.#current = next;
  }

  async close(): Promise<void> {
    this.#end(this.#current);
    this.#current = undefined;
    await Promise.all(this.#ending);
  }

  #opened(options: AuditOptions | "none" | undefined): Audit | undefined {
    return options === undefined || options === "none" ? undefined : openAudit(options, this.#cluster);
  }

  #end(audit: Audit | undefined): void {
    if (audit === undefined) return;
    const ended = audit.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}
