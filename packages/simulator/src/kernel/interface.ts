import type { Hono } from "hono";
import type { Clock } from "@causeway/foundation";
import type { ServiceError } from "./service-error.ts";

/** A row of a table: the id is unique within it. */
export interface Identified {
  readonly id: string;
}

/**
 * A table of resources of one kind: in memory, written through to SQLite when the cloud has a folder. The name is the
 * singular type ("server", "port") as the inventory prints it; tables whose name begins with "_" are internal and not
 * listed. Objects are never changed in place. What a request changed is on disk before its response is sent.
 */
export interface Table<T extends Identified> {
  get(id: string): T | undefined;
  all(): readonly T[];
  /**
   * Objects with this value at this field (for an array: among its elements), from an index named when the table was
   * made.
   */
  by(field: string, value: string): readonly T[];
  /** How many `by` would give. */
  count(field: string, value: string): number;
  insert(object: T): T;
  /** Shallow merge; throws if there is none. */
  update(id: string, change: Partial<T>): T;
  remove(id: string): void;
}

/** What happens later: provisioning. Stored with the state, so a restarted cloud continues. */
export interface Timers {
  /** Runs the named handler with `argument` after `milliseconds` (0: on the next turn of the loop). */
  after(milliseconds: number, handler: string, argument: string): void;
  /** Handlers are named before the cloud starts. They find what they act on by id, and do nothing if it is gone. */
  handler(name: string, run: (argument: string) => void): void;
}

/** How provisioning ends: in success, in ERROR, or never (a resource remains in its pending state). */
export type Outcome = "ok" | "error" | "stuck";

/** The caller of a request, from its token. */
export interface Caller {
  readonly userId: string;
  readonly projectId: string;
  readonly roles: readonly string[];
  readonly isAdmin: boolean;
}

/** What every simulated service is made of. */
export interface Kernel {
  readonly clock: Clock;
  table<T extends Identified>(name: string, indexes?: readonly string[]): Table<T>;
  readonly timers: Timers;
  /**
   * Milliseconds that this operation takes, from the profile ("server.create", "loadbalancer.create", …); 0 when
   * instant.
   */
  delay(operation: string): number;
  /**
   * The limit of a resource in a project, by the services' own names ("instances", "port", "load_balancer"). -1 is no
   * limit.
   */
  quota(projectId: string, resource: string): number;
  /** The limits that projects have been given, by project. */
  ownQuotas(): readonly { readonly id: string; readonly limits: Readonly<Record<string, number>> }[];
  /** Sets a limit of a project; undefined gives back the default. */
  setQuota(projectId: string, resource: string, limit: number | undefined): void;
  /** What is to become of an operation on something of these names: an outcome that tests ordered, else "ok". */
  outcome(operation: string, ...names: readonly string[]): Outcome;
  /** Runs synchronous work; if it throws, no table and no timer has changed. */
  atomic<R>(work: () => R): R;
  newId(): string;
  /** Time as OpenStack writes it: "2026-01-02T03:04:05Z". */
  timestamp(): string;
}

/** One service: routes below its own root ("/network", "/compute", …), mounted by the cloud. */
export interface Service {
  /** Catalog type: "network", "compute", "load-balancer"… */
  readonly type: string;
  readonly name: string;
  /** Below the service's root, e.g. "/v2.1" for compute; appended to the catalog's URL. */
  readonly catalogPath: string;
  /**
   * Paths below the root that need no token (version documents); default "" and "/". The root's "/" is one of them or
   * 404.
   */
  readonly open?: readonly string[];
  /** The response to a request without a token; default: a document, as most services' middleware returns. */
  readonly unauthorized?: () => ServiceError;
  readonly app: Hono<{ Variables: { caller: Caller } }>;
}
