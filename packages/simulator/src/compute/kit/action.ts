import type { Lifecycle } from "../rules/lifecycle.ts";
import type { ComputeParts, Server } from "../model.ts";
import type { ComputeContext } from "../views.ts";

/** One order to a server: POST /servers/ID/action {NAME: argument}. */
export interface ActionContext {
  readonly c: ComputeContext;
  readonly parts: ComputeParts;
  readonly lifecycle: Lifecycle;
  readonly server: Server;
  readonly argument: unknown;
}

/** Undefined responds 202 without a body, an object 200; a response is sent as it is. */
export type Action = (doing: ActionContext) => unknown;
