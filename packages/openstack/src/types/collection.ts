/** What every call takes: the signal that ends it. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The microversion this call needs at least; the newest known to both sides otherwise. */
  readonly microversion?: string;
  /**
   * Of an update in Neutron: refused with OPENSTACK_CONFLICT when the object has been changed since this
   * revision_number.
   */
  readonly ifRevision?: number | undefined;
  /**
   * A change with which a deletion begins, such as the removal of a router's interface: it is held as deletions are.
   */
  readonly deletes?: boolean;
}

/** A create that can be recovered after a lost answer. */
export interface CreateOptions<T> extends CallOptions {
  /**
   * Searches for what an earlier attempt may have created, when its response was lost. Undefined: there is none, and it
   * is safe to try again. Without it a create whose outcome is unknown throws OPENSTACK_OUTCOME_UNKNOWN.
   */
  readonly recover?: () => Promise<T | undefined>;
}

/** Filters of a list; an array repeats the parameter. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/**
 * The verbs every REST collection has. Request and response bodies are the API's inner objects (no `{"port": …}`
 * envelope).
 */
export interface Collection<T, Create, Update = Partial<Create>> {
  /** Pages as it goes. */
  list(query?: Query, options?: CallOptions): AsyncIterable<T>;
  all(query?: Query, options?: CallOptions): Promise<T[]>;
  get(id: string, options?: CallOptions): Promise<T>;
  /** Like get, but undefined on 404. */
  find(id: string, options?: CallOptions): Promise<T | undefined>;
  create(body: Create, options?: CreateOptions<T>): Promise<T>;
  update(id: string, body: Update, options?: CallOptions): Promise<T>;
  /** 404 is success. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** A resource that can only be listed and read. */
export type ReadOnlyCollection<T> = Pick<Collection<T, never>, "list" | "all" | "get" | "find">;
