import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { ConnectError, type Code, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  asLocalhost,
  InputError,
  messageOf,
  removeStaleSocket,
  silentLog,
  socketFailure,
  systemClock,
  type Clock,
  type Log,
} from "@causeway/foundation";
import { parseEndpoint, type Endpoint } from "./endpoint.ts";
import { statusOf } from "./errors.ts";
import type { ControllerImpl, GroupControllerImpl, IdentityImpl, NodeImpl } from "./services.ts";
import { Controller, GroupController, Identity, Node } from "./protocol.generated.ts";
import { sanitized } from "./sanitize.ts";

/** What one call was, for metrics. `code` is undefined after a success. */
export interface CallOutcome {
  readonly method: string;
  readonly milliseconds: number;
  readonly code: Code | undefined;
}

/** How calls are logged and measured, and their errors translated. */
export interface ObservingOptions {
  readonly log?: Log;
  readonly clock?: Clock;
  /** Turns the errors of the storage service's client into CSI errors. */
  readonly translate?: (error: unknown) => unknown;
  readonly onCall?: (outcome: CallOutcome) => void;
}

/** The socket, the services and the log of a server. */
export interface CsiServerOptions extends ObservingOptions {
  /** "unix:///csi/csi.sock" or "tcp://host:port". */
  readonly endpoint: string;
  readonly identity: IdentityImpl;
  readonly controller?: ControllerImpl;
  readonly groupController?: GroupControllerImpl;
  readonly node?: NodeImpl;
}

/** A gRPC server of CSI services on a socket. */
export interface CsiServer {
  /** The port, when the endpoint is TCP. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** Largest request in bytes. The specification's own limits (4 KiB for a map, 128 bytes for a text) are far below. */
const LARGEST_REQUEST = 1024 * 1024;
/** Calls in progress on one connection. */
const MOST_STREAMS = 256;

/**
 * Serves a driver's CSI services over gRPC until `close`. Errors: CSI_ENDPOINT_INVALID, CSI_ENDPOINT_IN_USE,
 * CSI_ENDPOINT_UNUSABLE.
 */
export function serveCsi(options: CsiServerOptions): Promise<CsiServer> {
  return serveGrpc(parseEndpoint(options.endpoint), [observing(options)], (router) => addServices(router, options));
}

/** Serves gRPC until `close`. Errors: CSI_ENDPOINT_IN_USE, CSI_ENDPOINT_UNUSABLE. */
export async function serveGrpc(
  endpoint: Endpoint,
  interceptors: Interceptor[],
  routes: (router: ConnectRouter) => void,
): Promise<CsiServer> {
  const handler = connectNodeAdapter({
    connect: false,
    grpcWeb: false,
    readMaxBytes: LARGEST_REQUEST,
    interceptors,
    routes,
  });
  const server = createServer({ settings: { maxConcurrentStreams: MOST_STREAMS } }, asLocalhost(handler));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  await listen(server, endpoint);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : undefined,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

function addServices(router: ConnectRouter, { identity, controller, groupController, node }: CsiServerOptions): void {
  router.service(Identity, identity);
  if (controller) router.service(Controller, controller);
  if (groupController) router.service(GroupController, groupController);
  if (node) router.service(Node, node);
}

/** Logs each call without secrets, and gives the caller a gRPC status for whatever was thrown. */
export function observing({ log = silentLog, clock = systemClock, translate, onCall }: ObservingOptions): Interceptor {
  return (next) => async (request) => {
    const method = request.method.name;
    const begun = clock.now();
    const fields = request.stream ? {} : { request: sanitized(request.method.input, request.message) };
    try {
      const response = await next(request);
      onCall?.({ method, milliseconds: clock.now() - begun, code: undefined });
      log.debug("CSI call", { method, milliseconds: clock.now() - begun, ...fields });
      return response;
    } catch (error) {
      const status = statusOf(error instanceof ConnectError ? error : (translate?.(error) ?? error));
      onCall?.({ method, milliseconds: clock.now() - begun, code: status.code });
      log.warn("CSI call failed", { method, code: status.code, message: status.rawMessage, ...fields });
      throw status;
    }
  };
}

async function listen(server: Http2Server, endpoint: Endpoint): Promise<void> {
  if (endpoint.type === "unix") return listenOnSocket(server, endpoint.path);
  const { host, port } = endpoint;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(inUse(`${host}:${port}`, messageOf(error), error)));
    server.listen(port, host, resolve);
  });
}

async function listenOnSocket(server: Http2Server, path: string): Promise<void> {
  const why = await removeStaleSocket(path).catch((error: unknown) => {
    throw unusable(path, error);
  });
  if (why !== undefined) throw inUse(path, why);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(unusable(path, error)));
    server.listen(path, resolve);
  });
  // A client may format and attach volumes: the user of this process alone may be one, whatever its umask is.
  await chmod(path, 0o600);
}

function inUse(address: string, why: string, cause?: unknown): InputError {
  return new InputError("CSI_ENDPOINT_IN_USE", `Cannot listen on ${address}: ${why}.`, {
    cause,
    hint: "Stop the other process, or choose another address.",
  });
}

function unusable(path: string, cause: unknown): InputError {
  const { isTaken, why } = socketFailure(path, cause);
  if (isTaken) return inUse(path, why, cause);
  const folder = dirname(path);
  return new InputError("CSI_ENDPOINT_UNUSABLE", `Cannot listen on ${path}: ${why}.`, {
    cause,
    hint: `Create the folder ${folder}, or mount it into the container; it must be writable for the driver's user.`,
  });
}
