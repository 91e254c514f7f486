import type { Clock } from "@causeway/foundation";
import type { Node } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Server } from "@causeway/openstack";

/** Reads of the cloud that count as several are at least this many milliseconds apart. */
export const denialPause = 5_000;
/** A Node is deleted after the cloud has denied its server in this many fresh lists. */
export const denialsNeeded = 3;

interface Denied {
  readonly uid: string | undefined;
  readonly count: number;
  readonly at: number;
}

/**
 * Counts in how many fresh lists a node's server was missing. A list that fails counts nothing: a cloud that is away
 * denies nothing. Heartbeats that come between two reads do not make them more.
 */
export class Denials {
  readonly #denied = new Map<string, Denied>();
  readonly #cloud: Pick<Cloud, "compute">;
  readonly #watch: CloudWatch;
  readonly #clock: Clock;

  constructor({ cloud, watch, clock }: { cloud: Pick<Cloud, "compute">; watch: CloudWatch; clock: Clock }) {
    this.#cloud = cloud;
    this.#watch = watch;
    this.#clock = clock;
  }

  /**
   * Asks for the server itself, once all lists that were needed lacked it: a list can be empty for other reasons. A
   * server that is there after all is accepted, and the count begins again.
   */
  async confirm(node: Node, serverId: string, signal: AbortSignal): Promise<number> {
    const found = await this.#cloud.compute.servers.find(serverId, { signal });
    if (found === undefined || isEnded(found)) return this.#denied.get(node.metadata.name)?.count ?? 0;
    this.#watch.servers.observe(found);
    return this.forget(node.metadata.name);
  }

  /** Refreshes the server list unless that has just been done; `find` returns the servers that the list holds now. */
  async deny(node: Node, find: () => readonly Server[], signal: AbortSignal): Promise<number> {
    const { name, uid } = node.metadata;
    const before = this.#denied.get(name);
    const count = before !== undefined && before.uid === uid ? before.count : 0;
    if (before && count > 0 && this.#clock.now() < before.at + denialPause) return count;
    await this.#watch.servers.refresh(signal);
    if (find().length > 0) return this.forget(name);
    this.#denied.set(name, { uid, count: count + 1, at: this.#clock.now() });
    return count + 1;
  }

  forget(name: string): 0 {
    this.#denied.delete(name);
    return 0;
  }
}

/** Nova still returns it to some who ask by id. */
function isEnded({ status }: Server): boolean {
  return status === "DELETED" || status === "SOFT_DELETED";
}
