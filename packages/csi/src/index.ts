export { Code, ConnectError } from "@connectrpc/connect";
export { csiClient, type CsiClient } from "./client.ts";
export { parseEndpoint, type Endpoint } from "./endpoint.ts";
export { required, statusOf } from "./errors.ts";
export { Operations, type OperationCall } from "./operations.ts";
export * from "./protocol.generated.ts";
export { sanitized } from "./sanitize.ts";
export { serveCsi, type CallOutcome, type CsiServer, type CsiServerOptions } from "./server.ts";
export type { CallContext, ControllerImpl, GroupControllerImpl, IdentityImpl, NodeImpl } from "./services.ts";
