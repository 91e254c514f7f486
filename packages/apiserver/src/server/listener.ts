import { createSecureServer, type Http2Session } from "node:http2";
import { BoundSocket, isIP, type AddressInfo, type ListenOptions, type Socket } from "node:net";
import { CausewayError, messageOf, type KeyPair } from "@causeway/foundation";
import type { Request } from "./handler.ts";
import { guardRequests } from "./request-scope.ts";
import type { Response } from "./respond.ts";

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes a new serving certificate for connections from now on. */
  renew(certificate: KeyPair): void;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  readonly handler: (request: Request, response: Response) => void;
  /** Hears of every connection that is accepted. */
  readonly accepted: () => void;
}

const CLOSE_GRACE = 300;
/** How long an HTTP/1.1 connection stays open without a request: as kube-apiserver. */
const IDLE = 90_000;

/** Listens with TLS 1.2 or later, HTTP/2 or HTTP/1.1, asking for client certificates. Throws APISERVER_PORT_TAKEN. */
export async function listen({ host, port, certificate, handler, accepted }: ListenerOptions): Promise<Listener> {
  const server = createSecureServer({
    allowHTTP1: true,
    // Any certificate may come; which cluster's authority must have signed it depends on the path.
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    ...contextOf(certificate),
    settings: { maxConcurrentStreams: 1000 },
  });
  // Node's five seconds cut off clients that keep connections, as Go's do, for a minute and a half.
  Object.assign(server, { keepAliveTimeout: IDLE });
  const sessions = new Set<Http2Session>();
  const sockets = new Set<Socket>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    accepted();
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("request", (request: Request, response: Response) => {
    request.on("error", () => {});
    response.on("error", () => {});
    handler(request, response);
  });
  server.on("tlsClientError", () => {});
  server.on("sessionError", () => {});
  await new Promise<void>((resolve, reject) => {
    const refused = (cause: unknown): void => reject(cannotListen(host, port, cause));
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
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        for (const session of sessions) session.destroy();
        for (const socket of sockets) socket.destroy();
      }, CLOSE_GRACE);
      await closed;
      clearTimeout(timer);
      release();
    },
  };
}

/** An address is bound as it is: Node would load its resolver for it first, which takes longer than all the rest of listening. Throws what bind(2) refuses. */
function whereTo(host: string, port: number): ListenOptions {
  return isIP(host) === 0 ? { host, port } : { handle: new BoundSocket({ host, port }) };
}

/** No authorities: who signed a client's certificate is looked at with the request. By default Node would load all of the web's. */
function contextOf({ certificate, key }: KeyPair): { cert: string; key: string; ca: string[] } {
  return { cert: certificate, key, ca: [] };
}

function cannotListen(host: string, port: number, cause: unknown): CausewayError {
  const taken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
  if (!taken) {
    return new CausewayError("APISERVER_CANNOT_LISTEN", `cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
      cause,
      hint: "Choose an address of this machine and a port this user may open.",
    });
  }
  return new CausewayError("APISERVER_PORT_TAKEN", `port ${port} of ${host} is taken by another process`, {
    cause,
    hint: "Stop that process, or choose another port; kubeconfigs made earlier point at this one.",
    details: { host, port },
  });
}
