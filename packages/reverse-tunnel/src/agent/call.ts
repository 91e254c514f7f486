import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { CausewayError, messageOf } from "@causeway/foundation";
import { LIMITS } from "../flow/plan-stream.ts";
import {
  AGENT_ID,
  AGENT_IDENTIFIERS,
  CONNECT_PATH,
  GRPC,
  SERVER_COUNT,
  SERVER_ID,
  WINDOWS,
} from "../protocol/headers.ts";

export interface CallOptions {
  readonly host: string;
  readonly port: number;
  /** PEM. Without an authority the connection has no TLS. */
  readonly tls?: {
    readonly ca: string;
    readonly cert?: string;
    readonly key?: string;
    readonly alpn?: readonly string[];
    /** The name that the server's certificate has, if it is not the host. */
    readonly servername?: string;
  };
  readonly agentId: string;
  readonly agentIdentifiers: string;
  readonly token?: string;
  /** Milliseconds between pings, without whose answer the connection ends. */
  readonly keepalive: number;
}

/** A call that the server accepted. */
export interface Call {
  readonly serverId: string;
  readonly serverCount: number;
  readonly stream: ClientHttp2Stream;
  readonly peerWindow: number | undefined;
  close(): void;
}

const CONNECTION_WINDOW = 8 * 1024 * 1024;
const TIMEOUT = 10_000;

/**
 * Connects to a server over a TCP connection of its own, so that a load balancer may choose another one. @throws
 * TUNNEL_CONNECT_FAILED
 */
export function callServer(options: CallOptions, signal: AbortSignal): Promise<Call> {
  const session = connect(authorityOf(options), {
    settings: { initialWindowSize: CONNECTION_WINDOW / 2, enablePush: false },
    ...(options.tls && {
      ca: options.tls.ca,
      ...(options.tls.cert === undefined ? {} : { cert: options.tls.cert }),
      ...(options.tls.key === undefined ? {} : { key: options.tls.key }),
      ...(options.tls.servername === undefined ? {} : { servername: options.tls.servername }),
      ALPNProtocols: ["h2", ...(options.tls.alpn ?? [])],
    }),
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail("the server did not respond within 10 s"), TIMEOUT);
    const fail = (why: string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      session.destroy();
      reject(failed(options, why));
    };
    const onAbort = (): void => fail("the agent stops");
    signal.addEventListener("abort", onAbort, { once: true });
    session.on("error", (error) => fail(messageOf(error)));
    session.on("close", () => fail("the server closed the connection"));
    session.once("connect", () => session.destroyed || session.setLocalWindowSize(CONNECTION_WINDOW));
    if (signal.aborted) return onAbort();
    const stream = session.request(headersOf(options), { endStream: false });
    stream.on("error", (error) => fail(messageOf(error)));
    stream.once("response", (headers) => {
      const serverId = text(headers[SERVER_ID]);
      const serverCount = Number(text(headers[SERVER_COUNT]));
      if (serverId === "" || !Number.isInteger(serverCount)) return fail(refusalOf(headers));
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      const window = Number(text(headers[WINDOWS]));
      const stopPings = keepAlive(session, options.keepalive);
      stream.once("close", () => {
        stopPings();
        session.destroy();
      });
      resolve({
        serverId,
        serverCount,
        stream,
        peerWindow: window > 0 ? window : undefined,
        close: () => session.destroy(),
      });
    });
  });
}

function authorityOf({ host, port, tls }: CallOptions): string {
  return `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function headersOf({ agentId, agentIdentifiers, token }: CallOptions): Record<string, string> {
  return {
    ":method": "POST",
    ":path": CONNECT_PATH,
    "content-type": GRPC,
    te: "trailers",
    "user-agent": "causeway-tunnel-agent",
    [AGENT_ID]: agentId,
    [AGENT_IDENTIFIERS]: agentIdentifiers,
    [WINDOWS]: String(LIMITS.window),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

function refusalOf(headers: IncomingHttpHeaders): string {
  const status = text(headers["grpc-status"]);
  if (status === "") return "the server is no konnectivity server";
  let message = text(headers["grpc-message"]);
  try {
    message = decodeURIComponent(message);
  } catch {
    // As it came.
  }
  return `it refused the agent with gRPC status ${status}: ${message.slice(0, 500)}`;
}

function keepAlive(session: ClientHttp2Session, interval: number): () => void {
  let answered = true;
  const timer = setInterval(() => {
    if (!answered) return session.destroy();
    answered = false;
    session.ping((error) => (answered = !error));
  }, interval).unref();
  return () => clearInterval(timer);
}

function failed({ host, port }: CallOptions, why: string): CausewayError {
  return new CausewayError("TUNNEL_CONNECT_FAILED", `The agent cannot connect to ${host}:${port}: ${why}.`, {
    hint: "Check the server's address, its certificate's names, and the agent's certificate or token.",
  });
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : (value?.[0] ?? "");
}
