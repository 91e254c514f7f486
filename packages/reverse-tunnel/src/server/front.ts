import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { messageOf, type KeyPair, type Log } from "@causeway/foundation";
import { DialError } from "./dial-error.ts";
import type { Target } from "./pool.ts";

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
  readonly log: Log;
  readonly onConnections: (by: 1 | -1) => void;
}

const ESTABLISHED = Buffer.from("HTTP/1.1 200 Connection Established\r\n\r\n");

/** An API server that sends more before the response breaks the protocol. */
const MOST_EARLY = 64 * 1024;

/**
 * The side of API servers: HTTP CONNECT, as an EgressSelectorConfiguration with proxyProtocol HTTPConnect speaks it,
 * and `GET /agents` for what watches control planes.
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
  const server = certificate
    ? createSecureServer(
        // The certificate is judged by the tenants' authorities.
        { cert: certificate.certificate, key: certificate.key, requestCert: true, rejectUnauthorized: false },
        others,
      )
    : createServer(others);
  server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (served.has(socket)) return;
    void connect(options, request, { socket: socket as Socket, head });
  });
  server.on("clientError", (_error: Error, socket: Duplex) => void socket.destroy());
  return server;
}

/** PEM of the client certificate, whose key the client has. */
export function peerCertificate(socket: Socket): string | undefined {
  return (socket as Partial<TLSSocket>).getPeerX509Certificate?.()?.toString();
}

async function connect(
  options: FrontOptions,
  request: IncomingMessage,
  from: { socket: Socket; head: Buffer },
): Promise<void> {
  const { socket, head } = from;
  const { log, onConnections } = options;
  onConnections(1);
  socket.once("close", () => onConnections(-1));
  socket.on("error", (error) => log.debug("the connection of an API server failed", { error: messageOf(error) }));
  const waiting = waitingSocket(socket, head);
  try {
    const target = targetOf(request.url ?? "");
    if (!target) throw new DialError("refused", 400, "the target of CONNECT is not HOST:PORT");
    await options.dial(target, waiting.accept, socket, waiting.signal);
  } catch (error) {
    const { status, message } = error instanceof DialError ? error : new DialError("refused", 500, messageOf(error));
    if (!(error instanceof DialError)) log.error("a dial failed for a reason of this program", { error: message });
    log.info("a dial failed", { target: request.url, status, reason: message });
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

function targetOf(url: string): Target | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/?#@\s]+)):(\d{1,5})$/.exec(url);
  const host = match?.[1] ?? match?.[2];
  return host === undefined ? undefined : { host, port: Number(match?.[3]) };
}

/** kube-apiserver prints the status line only, so the reason is in it. */
function refusal(status: number, message: string): string {
  const line = message.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, 500);
  const body = `${message}\n`;
  const headers = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
  return `HTTP/1.1 ${status} ${line}\r\n${headers}\r\n\r\n${body}`;
}
