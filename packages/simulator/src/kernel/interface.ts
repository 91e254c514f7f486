import type { Hono } from "hono";
import type { Clock } from "@causeway/foundation";

export interface Identified {
  readonly id: string;
}

/** A table of resources of one kind: in memory, written through to SQLite when the cloud has a folder. */
export interface Table<T extends Identified> {
  get(id: string): T | undefined;
  all(): readonly T[];
  /** Objects with this value at this field, from an index. Fields are named when the table is made. */
  by(field: string, value: string): readonly T[];
  insert(object: T): T;
  /** Shallow merge; throws if there is none. */
  update(id: string, change: Partial<T>): T;
  remove(id: string): void;
}

/** What happens later: provisioning. Kept with the state, so a cloud started again goes on. */
export interface Agenda {
  /** Runs the named handler with `argument` after `milliseconds` (0: on the next turn of the loop). */
  after(milliseconds: number, handler: string, argument: string): void;
  handler(name: string, run: (argument: string) => void): void;
}

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
  readonly agenda: Agenda;
  /** Milliseconds that this operation takes, from the profile ("server.create", "loadbalancer.create", …); 0 when instant. */
  delay(operation: string): number;
  /** Throws the service's own over-quota error when `used + more` passes the limit of the project. -1 is no limit. */
  quota(projectId: string, resource: string): number;
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
  readonly app: Hono<{ Variables: { caller: Caller } }>;
}
