import type { KubeObject, ObjectKey, ObjectList, ResourceType } from "../types/meta.ts";

/** What every call takes: the signal that ends it. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** What a write takes: field manager, dry run, field validation. */
export interface WriteOptions extends CallOptions {
  /** "status", "scale", "token", "approval"… */
  readonly subresource?: string;
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

/** Which objects of a kind are listed, and from which revision. */
export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Which objects are watched, and from which revision. */
export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string;
  readonly timeoutSeconds?: number;
}

/** How an object is deleted: propagation, grace period, preconditions. */
export interface DeleteOptions extends CallOptions {
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
}

/** One change of a watched object, or a bookmark. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Receives what the server holds. */
export interface Mirror<T extends KubeObject> {
  replace(list: ObjectList<T>): void;
  onEvent(event: WatchEvent<T>): void;
}

/** A patch of one of the three types, and its body. */
export type Patch =
  | { readonly type: "json"; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: "merge" | "strategic"; readonly body: Readonly<Record<string, unknown>> };

/** One operation of a JSON patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** What an apply sends: identity plus the fields the manager owns. */
export type ApplyConfiguration<T extends KubeObject> = Pick<T, "apiVersion" | "kind"> & {
  metadata: Partial<T["metadata"]> & { name: string };
} & { [K in Exclude<keyof T, "apiVersion" | "kind" | "metadata">]?: unknown };

/**
 * A client of one Kubernetes API server. Every refused request throws a CausewayError whose code is
 * KUBERNETES_<REASON> (NOT_FOUND, CONFLICT, ALREADY_EXISTS, FORBIDDEN, INVALID, EXPIRED …; see
 * `isNotFound`, `isConflict`, …) with the parsed Status in `details.status`.
 */
export interface KubernetesClient {
  /** The base URL of the server, path included. */
  readonly server: string;
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T>;
  /** Like get, but undefined when there is none. */
  find<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T | undefined>;
  /** All objects, however many pages they take. */
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ObjectList<T>>;
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /**
   * Has `mirror` hold what there is, and each change of it, until `signal` aborts. Only a client in the server's own
   * process has it: there is no connection that has to be watched or renewed.
   */
  follow?<T extends KubeObject>(
    type: ResourceType<T>,
    scope: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">,
    mirror: Mirror<T>,
    signal: AbortSignal,
  ): Promise<void>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply. Forces by default, as controllers must. */
  apply<T extends KubeObject>(
    type: ResourceType<T>,
    object: ApplyConfiguration<T>,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<T>;
  /** Succeeds when there is nothing to delete. */
  delete<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** Anything else: `path` is below `server`, the answer is parsed JSON. */
  request(
    method: string,
    path: string,
    options?: CallOptions & { query?: Record<string, string>; body?: unknown; contentType?: string },
  ): Promise<unknown>;
  close(): Promise<void>;
}
