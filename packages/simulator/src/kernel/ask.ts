import type { Caller } from "./interface.ts";

/** A request of one service of this cloud to another, in its caller's name. */
export interface Question {
  readonly caller: Caller;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the service's root: "/v2.0/ports?id=…". */
  readonly path: string;
  readonly body?: unknown;
}

export interface Reply {
  readonly status: number;
  /** Undefined: none, or none that is JSON. */
  readonly body: unknown;
}

/** Asks a service ("network", "volumev3") as its own API answers; a refusal is a reply. Nothing of it is in the call log. */
export type Ask = (service: string, question: Question) => Promise<Reply>;
