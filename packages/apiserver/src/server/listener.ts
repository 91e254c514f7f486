import { createSecureServer, type Http2Session, type SecureServerOptions } from "node:http2";
import type { IncomingMessage, ServerOptions } from "node:http";
import { BoundSocket, isIP, type AddressInfo, type ListenOptions, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { messageOf, type KeyPair, InputError } from "@causeway/foundation";
import { Connections, type ConnectionsOptions } from "./connections.ts";
import type { Request } from "../contract/exchange.ts";
import { guardRequests } from "./request-scope.ts";
import type { Response } from "../contract/exchange.ts";
import { isPodUpgrade } from "./pod-upgrade.ts";
import { isWebSocketWatch } from "./websocket.ts";

/** An HTTPS server that accepts connections; `close` ends those that are open too. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes a new serving certificate for connections from now on. */
  renew(certificate: KeyPair): void;
  /** Ends the connections that `keeps` is false for. */
  endUnless(keeps: (socket: TLSSocket) => boolean): void;
  close(): Promise<void>;
}

/** Where to listen, with which certificate, and what serves the requests. */
export interface ListenerOptions extends ConnectionsOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  readonly handler: (request: Request, response: Response) => void;
  /** Hears of every connection that is accepted. */
  readonly accepted: () => void;
}

/** Options of HTTP/1.1 that Node's types lack here. */
type HttpOptions = Pick<ServerOptions, "maxHeaderSize" | "shouldUpgradeCallback">;

const CLOSE_GRACE = 300;
/**
 * Of the request line and headers of HTTP/1.1: long selectors and fat tokens, but not the megabyte of kube-apiserver,
 * which every client may send.
 */
const HEADERS = 256 * 1024;

/** Listens with TLS 1.2 or later, HTTP/2 or HTTP/1.1, and requests client certificates. Throws APISERVER_PORT_TAKEN. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { host, port, certificate, handler, accepted } = options;
  const http1: HttpOptions & SecureServerOptions["http1Options"] = {
    maxHeaderSize: HEADERS,
    shouldUpgradeCallback: (request) => isWebSocketWatch(request) || isPodUpgrade(request),
  };
  const server = createSecureServer({
    allowHTTP1: true,
    // Any certificate may come; which cluster's authority must have signed it depends on the path.
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    ...contextOf(certificate),
    settings: { maxConcurrentStreams: 1000 },
    http1Options: http1,
  });
  // How long connections remain open without a request is seen to by `connections`.
  Object.assign(server, { keepAliveTimeout: 0 });
  const sessions = new Set<Http2Session>();
  const connections = new Connections(options);
  server.on("session", (session) => {
    sessions.add(session);
    connections.began(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
  });
  server.on("connection", (socket: Socket) => {
    accepted();
    socket.setNoDelay(true);
    connections.accept(socket);
  });
  const secured = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => {
    secured.add(socket);
    socket.once("close", () => secured.delete(socket));
    connections.secured(socket);
    if (socket.alpnProtocol !== "h2") roomy(socket);
  });
  const serve = (request: Request, response: Response): void => {
    request.on("error", () => {});
    response.on("error", () => {});
    connections.served(request, response);
    handler(request, response);
  };
  server.on("request", serve);
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on("error", () => {});
    // What upgrades need is loaded for those who ask for one.
    const response = isPodUpgrade(request)
      ? import("./upgrade.ts").then(({ UpgradeResponse }) => new UpgradeResponse(request, socket, head))
      : import("./websocket-response.ts").then((ws) => new ws.WebSocketResponse(request, socket, head));
    response
      .then((made) => {
        if (!socket.destroyed) serve(request, made);
      })
      .catch((error: unknown) => {
        // A request of one client never ends the process.
        socket.destroy();
        process.emitWarning(`a request for an upgrade failed: ${messageOf(error)}`);
      });
  });
  server.on("tlsClientError", (error, socket) => {
    if ("code" in error && error.code === "ERR_SSL_HTTP_REQUEST") connections.rawOf(socket)?.end(PLAIN_HTTP);
  });
  server.on("sessionError", () => {});
  await new Promise<void>((resolve, reject) => {
    const refused = (cause: unknown): void => {
      connections.stop();
      reject(cannotListen(host, port, cause));
    };
    server.once("error", refused);
    try {
      server.listen(whereTo(host, port), resolve);
    } catch (cause) {
      refused(cause);
    }
  });
  const bound = server.address() as AddressInfo;
  const release = guardRequests();
  return {
    host,
    port: bound.port,
    renew: (next) => server.setSecureContext(contextOf(next)),
    endUnless(keeps) {
      for (const socket of secured) if (!keeps(socket)) socket.destroy();
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        for (const session of sessions) session.destroy();
        connections.destroyAll();
      }, CLOSE_GRACE);
      await closed;
      clearTimeout(timer);
      connections.stop();
      release();
    },
  };
}

/** What Go's servers say to clients that do not speak TLS. */
const PLAIN_HTTP = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/** More than any answer that is sent in one piece. Longer ones are streamed, and remain below it. */
const HTTP1_BUFFER = 16 * 1024 * 1024;

/**
 * Node stops parsing a connection's next request while the buffer of the last answer is full, and takes its own pause,
 * in the middle of a long body, for a malformed request: the connection is cut. A client that has its answer whole may
 * send the next request before the server hears that the answer has left, so the buffer must not count as full then.
 */
function roomy(socket: TLSSocket): void {
  const { _writableState: state } = socket as unknown as { _writableState: { highWaterMark: number } };
  state.highWaterMark = HTTP1_BUFFER;
}

/**
 * An address is bound as it is: Node would load its resolver for it first, which takes longer than all the rest of
 * listening. Throws what bind(2) refuses.
 */
function whereTo(host: string, port: number): ListenOptions {
  return isIP(host) === 0 ? { host, port } : { handle: new BoundSocket({ host, port }) };
}

/**
 * No authorities: the issuer of a client's certificate is checked with the request. By default Node would load all of
 * the web's.
 */
function contextOf({ certificate, key }: KeyPair): { cert: string; key: string; ca: string[] } {
  return { cert: certificate, key, ca: [] };
}

function cannotListen(host: string, port: number, cause: unknown): InputError {
  const taken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
  if (!taken) {
    return new InputError("APISERVER_CANNOT_LISTEN", `cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
      cause,
      hint: "Choose an address of this machine and a port this user may open.",
    });
  }
  return new InputError("APISERVER_PORT_TAKEN", `port ${port} of ${host} is in use by another process`, {
    cause,
    hint: "Stop that process, or choose another port; kubeconfigs made earlier point at this one.",
    details: { host, port },
  });
}
