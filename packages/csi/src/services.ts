import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Controller, GroupController, Identity, Node } from "./protocol.generated.ts";

/** What a driver implements. A call without an implementation fails with UNIMPLEMENTED. */
export type IdentityImpl = Partial<ServiceImpl<typeof Identity>>;
/** CSI's Controller service, one function for each call. */
export type ControllerImpl = Partial<ServiceImpl<typeof Controller>>;
/** CSI's GroupController service, one function for each call. */
export type GroupControllerImpl = Partial<ServiceImpl<typeof GroupController>>;
/** CSI's Node service, one function for each call. */
export type NodeImpl = Partial<ServiceImpl<typeof Node>>;

/** Of one call: `signal` fires at the caller's deadline, or when it leaves. */
export type CallContext = Pick<HandlerContext, "signal">;
