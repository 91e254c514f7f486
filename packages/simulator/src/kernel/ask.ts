import type { Caller } from "./interface.ts";

/** A request of one service of this cloud to another, in its caller's name. */
export interface Question {
  readonly caller: Caller;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the service's root: "/v2.0/ports?id=…". */
  readonly path: string;
  readonly body?: unknown;
}

/** What the other service responded. */
export interface Reply {
  readonly status: number;
  /** Undefined: none, or none that is JSON. */
  readonly body: unknown;
}

/**
 * Calls a service ("network", "volumev3") through its own API; an error status is a reply. The call log does not record
 * it.
 */
export type Ask = (service: string, question: Question) => Promise<Reply>;
