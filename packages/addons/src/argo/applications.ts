import type { Clock } from "@causeway/foundation";
import type { Informer, Informers, ObjectKey } from "@causeway/kubernetes";
import { Mapping } from "../live/mapping.ts";
import { labels } from "../manifests/names.ts";
import { Application } from "./application.ts";
import { setOf } from "./names.ts";

/** Milliseconds that a first list may take before the rest continues without it. */
const SYNC_LIMIT = 5_000;

/** Argo CD's Applications that were made here. They are watched from the first set on that hands over add-ons. */
export class Applications {
  readonly #informers: Informers;
  readonly #clock: Clock;
  readonly #mapping: Mapping;
  readonly #handlers = new Set<(set: ObjectKey) => void>();
  #informer: Informer<Application> | undefined;

  constructor(informers: Informers, clock: Clock) {
    this.#informers = informers;
    this.#clock = clock;
    this.#mapping = new Mapping(informers.client, () => clock.now());
  }

  /** "unserved": Argo CD is not installed; "unread": the first list has not arrived. */
  async read(signal: AbortSignal): Promise<readonly Application[] | "unserved" | "unread"> {
    const { group, version, kind } = Application;
    if ((await this.#mapping.typeOf(`${group}/${version}`, kind, signal)) === undefined) return "unserved";
    const informer = this.#opened();
    if (!informer.synced) await this.#synced(informer, signal);
    return informer.synced ? informer.list() : "unread";
  }

  /** Calls back with the AddonSet of each Application that changed. */
  onChange(handler: (set: ObjectKey) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  #opened(): Informer<Application> {
    if (this.#informer) return this.#informer;
    const informer = this.#informers.for(Application, { labelSelector: labels.set });
    this.#informer = informer;
    informer.onChange(({ object }) => {
      const set = setOf(object);
      if (set) for (const handler of this.#handlers) handler(set);
    });
    return informer;
  }

  async #synced(informer: Informer<Application>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const within = AbortSignal.any([signal, over.signal]);
    await Promise.race([
      informer.whenSynced(within).catch(() => {}),
      this.#clock.sleep(SYNC_LIMIT, within).catch(() => {}),
    ]);
    over.abort();
  }
}
