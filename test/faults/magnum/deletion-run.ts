import { MagnumCluster } from "@causeway/api";
import { Secret } from "@causeway/kubernetes";
import type { Others } from "./others.ts";
import type { Deletion, EndingDeed } from "./schedule.ts";
import type { MagnumFaultWorld } from "./world.ts";

/** Milliseconds for a deletion to end, once nothing disturbs it. */
const TIMEOUT = 60_000;
const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

interface Deleted {
  readonly uuid: string;
  readonly namespace: string;
  /** Requests new credentials from all processes. */
  readonly renew: () => Promise<void>;
}

/** The deletion of one cluster, from its request until nothing is left of it. */
export class DeletionRun {
  readonly #world: MagnumFaultWorld;
  readonly #others: Others;
  readonly #cluster: Deleted;
  /** Statuses that were held against what there is. */
  checked = 0;

  constructor(world: MagnumFaultWorld, others: Others, cluster: Deleted) {
    this.#world = world;
    this.#others = others;
    this.#cluster = cluster;
  }

  /** What is wrong, in words. */
  async play({ isRacing, misfortunes, deeds }: Deletion): Promise<string | undefined> {
    this.#world.disturb(new Map(misfortunes.map(({ write, what }) => [write, what])));
    const [accepted] = await Promise.all([this.#request(), isRacing ? this.#cluster.renew() : undefined]);
    if (!accepted) return "the deletion was refused";
    for (const { deed, pause: milliseconds } of deeds) {
      await this.#do(deed);
      await pause(milliseconds);
      const gone = await this.#gone();
      if (typeof gone === "string") return `after ${JSON.stringify(deed)}: ${gone}`;
    }
    this.#world.disturb();
    await this.#world.lead(true);
    await this.#others.fail(false);
    return this.#end();
  }

  /**
   * Until the API itself has not failed. A cluster that is not there was deleted by a request whose answer was lost.
   */
  async #request(): Promise<boolean> {
    for (let isRepeated = false; ; isRepeated = true) {
      const { status } = await this.#world.call("DELETE", `/clusters/${this.#cluster.uuid}`);
      if (status < 500) return status === 204 || (status === 404 && isRepeated);
    }
  }

  async #do(deed: EndingDeed): Promise<void> {
    switch (deed.do) {
      case "progress": {
        const moves = await this.#others.moves();
        // An object that changed meanwhile is found at the next move.
        await moves[deed.which % moves.length]?.().catch(() => {});
        return;
      }
      case "crash":
        return this.#world.crash();
      case "second":
        return this.#world.processes.length === 1 ? this.#world.launch() : undefined;
      case "renew":
        return this.#cluster.renew();
      case "delete":
        await this.#world.call("DELETE", `/clusters/${this.#cluster.uuid}`);
        return;
      case "follow":
      case "lead":
        return this.#world.lead(deed.do === "lead");
    }
  }

  /** The other controllers do all that they can. */
  async #end(): Promise<string | undefined> {
    const deadline = Date.now() + TIMEOUT;
    while (Date.now() < deadline) {
      const gone = await this.#gone();
      if (typeof gone === "string") return gone;
      if (gone) return this.#collected();
      for (const move of await this.#others.moves()) await move().catch(() => {});
      await pause(2);
    }
    return `not deleted after ${TIMEOUT / 1000} s`;
  }

  /** True: deleted, and nothing is left that is not collected; text: deleted for clients, while something is left. */
  async #gone(): Promise<boolean | string> {
    const { status, body } = await this.#world.call("GET", `/clusters/${this.#cluster.uuid}`);
    this.checked += 1;
    const shown = String(body["status"]);
    if (status === 200)
      return shown.startsWith("DELETE_") && shown !== "DELETE_COMPLETE" ? false : `deleting, but ${shown}`;
    const { clusters, machines } = await this.#others.standing();
    const { items: rows } = await this.#world.client.list(MagnumCluster, { namespace: this.#cluster.namespace });
    const left = [...clusters, ...machines, ...rows].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    left.push(...(await this.#world.inKeystone()));
    return left.length === 0 ? true : `responds with ${status}, but there is still ${left.join(", ")}`;
  }

  /** What the cluster owned is collected, Secrets included. */
  async #collected(): Promise<string | undefined> {
    const deadline = Date.now() + TIMEOUT;
    let left: readonly string[] = [];
    while (Date.now() < deadline) {
      const { items: secrets } = await this.#world.client.list(Secret, { namespace: this.#cluster.namespace });
      const objects = Object.values(await this.#others.standing()).flat();
      left = [...secrets, ...objects].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      if (left.length === 0) return undefined;
      await pause(5);
    }
    return `objects of the deleted cluster are left: ${left.join(", ")}`;
  }
}
