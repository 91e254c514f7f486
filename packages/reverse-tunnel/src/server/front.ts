import type { IncomingMessage, RequestListener, Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createSecureServer, type TLSSocket } from "node:tls";
import { messageOf, type Clock, type KeyPair, type Log } from "@causeway/foundation";
import { Deadlines } from "../flow/deadlines.ts";
import { DialError } from "./dial-error.ts";
import { isHttp2, serveGrpc } from "./grpc-front.ts";
import type { Target } from "./pool.ts";
import { targetOf } from "./target.ts";

/** What `GET /agents` responds: how many agents a tenant has, and since when it has any, or none (RFC 3339). */
export interface AgentsReport {
  readonly agents: number;
  readonly since: string;
}

/** How the side of API servers connects to agents. */
export interface FrontOptions {
  /** Connects the socket that `accept` returns. Throws DialError. */
  readonly dial: (target: Target, accept: () => Duplex, peer: Socket, signal: AbortSignal) => Promise<void>;
  /** The agents of the tenant that the peer is of; undefined: it is of none. */
  readonly agents: (peer: Socket) => AgentsReport | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly onConnections: (by: 1 | -1) => void;
}

const ESTABLISHED = Buffer.from("HTTP/1.1 200 Connection Established\r\n\r\n");

/** A whole request of CONNECT, up to its empty line. Source: RFC 9110, 9.3.6; RFC 9112, 2.1. */
const CONNECT = /^CONNECT ([^\s]+) HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~\w-]+:[^\r\n\0]*\r\n)*\r\n$/;
/** No head of a request is longer, as in Node's HTTP server. */
const MOST_HEAD = 16 * 1024;
/** Milliseconds that a request may take to arrive, as in Node's HTTP server. */
const WHOLE_REQUEST = 60_000;

/** An API server that sends more before the response breaks the protocol. */
const MOST_EARLY = 64 * 1024;

/**
 * The side of API servers: HTTP CONNECT, as an EgressSelectorConfiguration with proxyProtocol HTTPConnect speaks it,
 * gRPC, as one with proxyProtocol GRPC does, and `GET /agents` for what watches control planes.
 */
export function createFront(options: FrontOptions, certificate?: KeyPair): Server {
  /** Connections with a request that is not CONNECT: each is served one, whatever the client sends after it. */
  const served = new WeakSet<Duplex>();
  const others: RequestListener = (request, response) => {
    const { socket } = request;
    if (served.has(socket)) return;
    served.add(socket);
    respond(request, response);
    // Requests that the client sent with the first one would be served, although its response ends the connection.
    socket.destroySoon();
  };
  const respond: RequestListener = (request, response) => {
    if (request.method === "GET" && request.url === "/agents") {
      const report = options.agents(request.socket);
      response.writeHead(report ? 200 : 403, { "Content-Type": "application/json", Connection: "close" });
      return void response.end(JSON.stringify(report ?? { error: "the certificate is of no tenant of this tunnel" }));
    }
    response.writeHead(405, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
    response.end("this proxy only supports CONNECT passthrough\n");
  };
  const deadlines = new Deadlines(options.clock);
  /** Ends of the waits for whole requests. */
  const waits = new WeakMap<Duplex, () => void>();
  const onConnect = (url: string, socket: Socket, head: Buffer): void => {
    waits.get(socket)?.();
    void connect(options, url, { socket, head });
  };
  let loaded: HttpServer | undefined;
  const http = (): HttpServer => {
    if (loaded) return loaded;
    // Loaded with the first request that needs it: it takes 4 MiB.
    loaded = process.getBuiltinModule("node:http").createServer(others);
    loaded.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (!served.has(socket)) onConnect(request.url ?? "", socket as Socket, head);
    });
    loaded.on("clientError", (_error: Error, socket: Duplex) => void socket.destroy());
    return loaded;
  };
  const onSocket = (socket: Socket): void => {
    const cancel = deadlines.after(WHOLE_REQUEST, () => socket.destroy());
    waits.set(socket, cancel);
    socket.once("close", cancel);
    const onHttp2 = (): void => {
      cancel();
      // Connections of no tenant keep nothing.
      if (options.agents(socket) === undefined) socket.destroy();
      else serveGrpc(socket, options, deadlines);
    };
    begin(socket, { http, onConnect, onHttp2 });
  };
  const onClose = (): void => deadlines.close();
  if (!certificate) return createServer({ allowHalfOpen: true }, onSocket).once("close", onClose);
  const secure = {
    cert: certificate.certificate,
    key: certificate.key,
    // The certificate is judged by the tenants' authorities.
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1", "h2"],
  };
  return createSecureServer(secure, onSocket).once("close", onClose);
}

/**
 * Reads what a client begins with. A whole CONNECT is handled at once, as API servers send it: Node's HTTP server takes
 * a quarter of the time of a dial. Everything else is for that server.
 */
function begin(
  socket: Socket,
  {
    http,
    onConnect,
    onHttp2,
  }: {
    readonly http: () => HttpServer;
    readonly onConnect: (url: string, socket: Socket, head: Buffer) => void;
    readonly onHttp2: () => void;
  },
): void {
  const onGone = (): void => void socket.destroy();
  socket.on("error", onGone).once("end", onGone);
  socket.once("data", (first: Buffer) => {
    socket.off("error", onGone).off("end", onGone);
    const end = first.indexOf("\r\n\r\n") + 4;
    const request = end < 4 || end > MOST_HEAD ? undefined : CONNECT.exec(first.toString("latin1", 0, end));
    if (request) return onConnect(request[1] ?? "", socket, first.subarray(end));
    socket.pause().unshift(first);
    if (isHttp2(first)) return onHttp2();
    http().emit("connection", socket);
    socket.resume();
  });
}

/** PEM of the client certificate, whose key the client has. */
export function peerCertificate(socket: Socket): string | undefined {
  return (socket as Partial<TLSSocket>).getPeerX509Certificate?.()?.toString();
}

async function connect(options: FrontOptions, url: string, from: { socket: Socket; head: Buffer }): Promise<void> {
  const { socket, head } = from;
  const { log, onConnections } = options;
  onConnections(1);
  socket.once("close", () => onConnections(-1));
  socket.on("error", (error) => log.debug("the connection of an API server failed", { error: messageOf(error) }));
  const waiting = waitingSocket(socket, head);
  try {
    const target = targetOf(url);
    if (!target) throw new DialError("refused", 400, "the target of CONNECT is not HOST:PORT");
    await options.dial(target, waiting.accept, socket, waiting.signal);
  } catch (error) {
    const { status, message } = error instanceof DialError ? error : new DialError("refused", 500, messageOf(error));
    if (!(error instanceof DialError)) log.error("a dial failed for a reason of this program", { error: message });
    log.info("a dial failed", { target: url, status, reason: message });
    waiting.stop();
    if (!socket.destroyed && socket.writable) socket.end(refusal(status, message));
    setTimeout(() => socket.destroy(), 1_000).unref();
  }
}

/** Notices the end of the client during the dial, and keeps what it sent too early. */
function waitingSocket(socket: Socket, head: Buffer) {
  const early: Buffer[] = head.length > 0 ? [head] : [];
  let size = head.length;
  const gone = new AbortController();
  const onGone = (): void => gone.abort(new Error("the client is gone"));
  const onData = (chunk: Buffer): void => {
    early.push(chunk);
    size += chunk.length;
    if (size > MOST_EARLY) socket.destroy();
  };
  socket.on("data", onData).on("end", onGone).on("close", onGone);
  const stop = (): void => void socket.off("data", onData).off("end", onGone).off("close", onGone);
  return {
    signal: gone.signal,
    stop,
    accept: (): Duplex => {
      stop();
      socket.setNoDelay?.(true);
      if (size > 0) {
        socket.pause();
        socket.unshift(Buffer.concat(early));
        setImmediate(() => socket.resume());
      }
      socket.write(ESTABLISHED);
      return socket;
    },
  };
}

/** kube-apiserver prints the status line only, so the reason is in it. */
function refusal(status: number, message: string): string {
  const line = message.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, 500);
  const body = `${message}\n`;
  const headers = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
  return `HTTP/1.1 ${status} ${line}\r\n${headers}\r\n\r\n${body}`;
}
