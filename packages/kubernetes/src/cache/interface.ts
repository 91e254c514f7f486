import type { KubeObject, ObjectKey, ResourceType } from "../types/meta.ts";
import type { KubernetesClient, ListOptions } from "../client/interface.ts";

/** What happened to a cached object. */
export type ChangeType = "added" | "updated" | "deleted";

/**
 * A change of one cached object. `object` is the last known state for a deletion. `previous` is set for an update only,
 * so that a handler that compares the two sees every deletion as a change.
 */
export interface Change<T> {
  readonly type: ChangeType;
  readonly object: T;
  readonly previous?: T;
}

/** Ends a subscription. */
export type Unsubscribe = () => void;

/** Functions from an object to the index values under which it is found. */
export type Indexes<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/**
 * A local copy of every object of one type, kept current by one list and one watch with bookmarks.
 * Objects handed out are shared and must not be changed.
 */
export interface Informer<T extends KubeObject> {
  readonly type: ResourceType<T>;
  get(key: ObjectKey): T | undefined;
  list(namespace?: string): readonly T[];
  byIndex(index: string, value: string): readonly T[];
  /** Calls back for each change, and once as "added" for what is cached already. */
  onChange(handler: (change: Change<T>) => void): Unsubscribe;
  /** Takes in the answer of a write of ours, so that the next read sees it; older revisions are ignored. */
  observe(object: T): void;
  readonly synced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/**
 * Shared informers of one API server. Each (type, namespace, selector) is listed and watched once, from
 * the first `for` until `signal` of `run` aborts. `client` is the same server, and what it writes is observed.
 */
export interface Informers {
  readonly client: KubernetesClient;
  for<T extends KubeObject>(
    type: ResourceType<T>,
    options?: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">,
  ): Informer<T>;
  /** Adds an index to an informer. Adding the same name again is harmless. */
  index<T extends KubeObject>(informer: Informer<T>, indexes: Indexes<T>): void;
  /** Lists everything again; resolves when all has come that was requested after this call. */
  relist(signal?: AbortSignal): Promise<void>;
  /** Starts every informer made so far and later; resolves when `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  whenSynced(signal?: AbortSignal): Promise<void>;
}
