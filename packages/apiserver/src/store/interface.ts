import type { KubeObject } from "@causeway/kubernetes";

/**
 * The revisioned store under every logical cluster: one SQLite file, one writer. A revision is a
 * positive integer that grows by one with each write and is never used again, also after kill -9.
 */
export interface StoreKey {
  /** Logical cluster; "" is the management cluster itself. */
  readonly cluster: string;
  /** "group/plural", "/pods" for the core group. */
  readonly resource: string;
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** One object as the store has it. */
export interface Stored {
  readonly key: StoreKey;
  /** Revision of the last write; also metadata.resourceVersion of `object`. */
  readonly revision: number;
  readonly object: KubeObject;
}

/** One write, as watches see it. */
export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: StoreKey;
  readonly revision: number;
  /** The new state; for DELETED the last state, with resourceVersion set to the deletion's revision. */
  readonly object: KubeObject;
  /** The state before, for selectors that an object leaves or enters. */
  readonly previous?: KubeObject;
}

/** Objects of one list request, in (namespace, name) order. */
export interface ListPage {
  readonly items: readonly Stored[];
  /** The revision the whole list is of (remains the same over its pages). */
  readonly revision: number;
  /** Where the next page starts; undefined when this is the last. */
  readonly next?: string;
  readonly remaining?: number;
}

/** What a logical cluster stores of one resource. */
export interface Usage {
  /** "group/plural" */
  readonly resource: string;
  readonly objects: number;
  readonly bytes: number;
}

/**
 * A page of objects as the JSON text they are stored as: `{"kind":…,"apiVersion":…,` and the rest as it was written.
 */
export interface TextPage extends Omit<ListPage, "items"> {
  readonly texts: readonly string[];
  /** The revision of the oldest of them; 0 when there is none. */
  readonly oldest: number;
}

/** Which objects to list: of one resource ("group/plural"), after the `next` of an earlier page. */
export interface ListQuery {
  readonly cluster: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly limit?: number;
  /**
   * A page ends when its values are this long together, but not before its first; it does not count what remains then.
   */
  readonly bytes?: number;
  readonly after?: string;
  readonly atRevision?: number;
}

/**
 * Objects that go in belong to the store from then on, and objects that come out are shared between all readers: they
 * must not be changed.
 */
export interface Store {
  /** The newest revision. */
  readonly revision: number;
  /** Why the last write failed, and when (milliseconds since the epoch); undefined if it did not. */
  readonly failure: { readonly at: number; readonly reason: string } | undefined;
  get(key: StoreKey, atRevision?: number): Stored | undefined;
  /** Whether there is such an object now, without reading it. */
  has(key: StoreKey): boolean;
  /** Whether the newest state of an object is the one that it was created in. */
  isAsCreated(key: StoreKey): boolean;
  /** In (namespace, name) order. Throws KUBERNETES_EXPIRED when `atRevision` is compacted. */
  list(query: ListQuery): ListPage;
  /** The same, without reading what the objects say. */
  texts(query: ListQuery): TextPage;
  /** Throws KUBERNETES_ALREADY_EXISTS. Durable when it resolves. */
  create(key: StoreKey, object: KubeObject): Promise<Stored>;
  /** Compare and swap on `expected`. Throws STORE_CONFLICT or KUBERNETES_NOT_FOUND. */
  update(key: StoreKey, object: KubeObject, expected: number): Promise<Stored>;
  remove(key: StoreKey, expected: number): Promise<Stored>;
  /**
   * Every event of the resource after `fromRevision`, in order, without gap or duplicate, until `stop`. Throws
   * KUBERNETES_EXPIRED when that is compacted. Events come in later turns, never inside the call. The returned
   * `revision` is the one up to which everything was handed over: what a bookmark may say. A watch that cannot be read
   * on (a value that the codec refuses, or KUBERNETES_EXPIRED since its listener waited too long) is stopped, after
   * `onFailure` was called.
   */
  watch(
    query: { cluster: string; resource: string; namespace?: string; fromRevision: number },
    listener: {
      /** May answer with a promise: what comes next is read from the past then, no sooner than it resolves. */
      onEvents(events: readonly StoreEvent[]): unknown;
      onFailure?(error: unknown): void;
    },
  ): { stop(): void; readonly revision: number };
  /**
   * Keeps the state at a revision readable until the result is called, or until twice as much history was written as
   * the store keeps.
   */
  hold(revision: number): () => void;
  /** Removes everything of a logical cluster. */
  drop(cluster: string): Promise<void>;
  clusters(): readonly string[];
  /**
   * Copies all that is stored to a new file, as of one moment, while writes continue; resolves with that moment's
   * revision.
   */
  snapshot(path: string): Promise<number>;
  /**
   * What a logical cluster has stored, by resource: its living objects, and the bytes they take. Reads an index, not
   * the objects.
   */
  usage(cluster: string): readonly Usage[];
  /**
   * Writes again, as the codec would now, up to `limit` values of revisions after `after`: history too, under the
   * revisions they have. What they were before is wiped from the disk once `next` is undefined. Durable when it
   * returns.
   */
  reencode(after: number, limit: number): { readonly next: number | undefined; readonly changed: number };
  close(): Promise<void>;
}

/**
 * Turns the JSON text of an object into what the disk holds, and back; for encryption at rest. Both are synchronous and
 * run once per write and once per reading from disk. Text that another codec (or none) wrote may come to `decode`,
 * which must recognise it. A CausewayError that either throws fails the one write or read it was for.
 */
export interface RecordCodec {
  encode(json: string, about: StoreKey): string | Uint8Array;
  /** Whether a value is as `encode` would write it now; absent when there is only one way. */
  isCurrent?(value: string | Uint8Array, about: StoreKey): boolean;
  decode(value: string | Uint8Array, about: StoreKey): string;
}

/** Runs work on a cluster's account of processor time and returns its result; `what` names it, such as "read". */
export type Charge = <T>(cluster: string, what: string, work: () => T) => T;

/** How to open a store; without options it keeps everything in memory. */
export interface StoreOptions {
  /** Folder of the database; undefined keeps all in memory. */
  readonly dir?: string;
  /** Events older than this many revisions may be compacted. Default 20 000. */
  readonly history?: number;
  /** Default: values are stored as JSON text. */
  readonly codec?: RecordCodec;
  /** Does work for a cluster on its account; `what` names the work. */
  readonly charge?: Charge;
}
