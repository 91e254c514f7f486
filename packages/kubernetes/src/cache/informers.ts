import {
  copyJson,
  messageOf,
  silentLog,
  systemClock,
  unlessAborted,
  whenAborted,
  type Clock,
  type Log,
} from "@causeway/foundation";
import type { KubernetesClient, ListOptions, WatchEvent } from "../client/interface.ts";
import { apiVersionOf } from "../client/urls.ts";
import type { KubeObject, ObjectKey, ObjectList, ResourceType } from "../types/meta.ts";
import type { Change, Indexes, Informer, Informers, Unsubscribe } from "./interface.ts";
import { observing } from "./observing-client.ts";
import { reflect } from "./reflector.ts";
import { fieldPredicate, labelPredicate, type Predicate } from "./selectors.ts";
import { isReleaseOf, Store } from "./store.ts";

type Scope = Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">;

/** The client whose objects are cached, and the clock and log. */
export interface InformersOptions {
  readonly clock?: Clock;
  readonly log?: Log;
}

/** Informers of the server that `client` reaches. Nothing is requested from it until `run`. */
export function createInformers(client: KubernetesClient, options: InformersOptions = {}): Informers {
  return new SharedInformers(client, options.clock ?? systemClock, options.log ?? silentLog);
}

class SharedInformers implements Informers {
  readonly client: KubernetesClient;
  readonly #server: KubernetesClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #made = new Map<string, CachedInformer<KubeObject>>();
  readonly #running = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(client: KubernetesClient, clock: Clock, log: Log) {
    this.#server = client;
    this.#clock = clock;
    this.#log = log;
    this.client = observing(client, (type, object) => this.#observe(type, object));
  }

  for<T extends KubeObject>(type: ResourceType<T>, options: Scope = {}): Informer<T> {
    const { namespace, labelSelector, fieldSelector } = options;
    const id = JSON.stringify([
      apiVersionOf(type),
      type.plural,
      namespace ?? "",
      labelSelector ?? "",
      fieldSelector ?? "",
      type.metadataOnly ?? false,
    ]);
    const known = this.#made.get(id);
    if (known) return known as unknown as CachedInformer<T>;
    const informer = new CachedInformer<T>(type, options, this.#log.with({ type: type.plural }));
    this.#made.set(id, informer as unknown as CachedInformer<KubeObject>);
    if (this.#signal) this.#start(informer as unknown as CachedInformer<KubeObject>, this.#signal);
    return informer;
  }

  index<T extends KubeObject>(informer: Informer<T>, indexes: Indexes<T>): void {
    (informer as CachedInformer<T>).addIndexes(indexes);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const informer of this.#made.values()) this.#start(informer, signal);
    await whenAborted(signal);
    await Promise.all(this.#running);
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#made.values()].map((informer) => informer.whenSynced(signal)));
  }

  async relist(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#made.values()].map((informer) => informer.relist(signal)));
  }

  #start(informer: CachedInformer<KubeObject>, signal: AbortSignal): void {
    const running = reflect(
      {
        client: this.#server,
        type: informer.type,
        scope: informer.scope,
        mirror: informer,
        renewal: () => informer.renewal,
        clock: this.#clock,
        log: this.#log.with({ type: informer.type.plural, server: this.#server.server }),
      },
      signal,
    );
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  #observe(type: ResourceType<KubeObject>, object: KubeObject): void {
    for (const informer of this.#made.values()) {
      if (informer.type.plural === type.plural && apiVersionOf(informer.type) === apiVersionOf(type)) {
        // What a watch, or the server in this process, has brought already needs no copy.
        if (informer.lacks(object)) informer.observe(copyJson(object));
      }
    }
  }
}

class CachedInformer<T extends KubeObject> implements Informer<T> {
  readonly type: ResourceType<T>;
  readonly scope: Scope;
  readonly #log: Log;
  readonly #store = new Store<T>();
  readonly #handlers = new Set<(change: Change<T>) => void>();
  readonly #selects: Predicate;
  readonly #sync = Promise.withResolvers<void>();
  #synced = false;
  #renewal = new AbortController();
  /** Settled by the next list; what was requested before the last `relist` does not arrive. */
  #relisted = Promise.withResolvers<void>();

  constructor(type: ResourceType<T>, scope: Scope, log: Log) {
    this.type = type;
    this.scope = scope;
    this.#log = log;
    const labels = labelPredicate(scope.labelSelector);
    const fields = fieldPredicate(scope.fieldSelector);
    const within: Predicate = ({ metadata }) => !scope.namespace || metadata.namespace === scope.namespace;
    this.#selects = (object) => within(object) && labels(object) && fields(object);
  }

  get synced(): boolean {
    return this.#synced;
  }

  get(key: ObjectKey): T | undefined {
    return this.#store.get(key);
  }

  list(namespace?: string): readonly T[] {
    return this.#store.list(namespace);
  }

  byIndex(index: string, value: string): readonly T[] {
    if (!this.#store.hasIndex(index)) throw new TypeError(`the informer of ${this.type.plural} has no index ${index}`);
    return this.#store.byIndex(index, value);
  }

  addIndexes(indexes: Indexes<T>): void {
    this.#store.addIndexes(indexes);
  }

  onChange(handler: (change: Change<T>) => void): Unsubscribe {
    // Wrapped, so that one function added twice is two subscriptions.
    const subscription = (change: Change<T>) => handler(change);
    this.#handlers.add(subscription);
    for (const object of this.#store.list()) this.#notify(subscription, { type: "added", object });
    return () => this.#handlers.delete(subscription);
  }

  /** Whether it selects the object, and does not have it in this revision or with its last finalizer removed. */
  lacks(object: T): boolean {
    const { namespace = "", name, resourceVersion } = object.metadata;
    const held = this.#store.get({ namespace, name });
    const isSameRevision = resourceVersion !== undefined && held?.metadata.resourceVersion === resourceVersion;
    return (!isSameRevision || isReleaseOf(held, object)) && this.#selects(object);
  }

  observe(object: T): void {
    if (!this.#selects(object)) return;
    this.#publish(this.#store.observe(this.#kept(object)));
  }

  replace(list: ObjectList<T>): void {
    for (const change of this.#store.replace(list.items.map(this.#kept), list.resourceVersion)) this.#publish(change);
    this.#synced = true;
    this.#sync.resolve();
    this.#relisted.resolve();
    this.#relisted = Promise.withResolvers<void>();
  }

  /** Aborts when everything is to be listed again. */
  get renewal(): AbortSignal {
    return this.#renewal.signal;
  }

  relist(signal?: AbortSignal): Promise<void> {
    const ended = this.#renewal;
    this.#renewal = new AbortController();
    ended.abort();
    return unlessAborted(this.#relisted.promise, signal);
  }

  onEvent(event: WatchEvent<T>): void {
    if (event.type === "BOOKMARK") this.#store.bookmark(event.resourceVersion);
    else this.#publish(this.#store.observeEvent(event.type, this.#kept(event.object)));
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return unlessAborted(this.#sync.promise, signal);
  }

  /**
   * What of an object is cached: of a type of which only metadata is wanted also when a write's response or a server
   * brings more.
   */
  readonly #kept = (object: T): T => {
    const { metadata } = stripped(object);
    if (this.type.metadataOnly !== true) return object;
    return { apiVersion: apiVersionOf(this.type), kind: this.type.kind, metadata } as T;
  };

  #publish(change: Change<T> | undefined): void {
    if (!change) return;
    for (const handler of this.#handlers) this.#notify(handler, change);
  }

  /** A handler that fails must not stop the watch, nor the handlers after it. */
  #notify(handler: (change: Change<T>) => void, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#log.error("a change handler failed", { reason: messageOf(error) });
    }
  }
}

/** managedFields are about a third of an object, and no consumer of the cache reads them. */
function stripped<T extends KubeObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}
