import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";
import { connect as connectSocket, type TLSSocket } from "node:tls";
import { CausewayError, messageOf } from "@causeway/foundation";
import { keepAlive } from "../flow/keep-alive.ts";
import { LIMITS } from "../flow/plan-stream.ts";
import type { Codec } from "../protocol/codec.ts";
import { greetingFrame, readGreeting } from "../protocol/greeting.ts";
import { grpcCodec } from "../protocol/grpc-codec.ts";
import { PLAIN_PROTOCOL, plainCodec } from "../protocol/plain-codec.ts";
import {
  AGENT_ID,
  AGENT_IDENTIFIERS,
  CONNECT_PATH,
  GRPC,
  SERVER_COUNT,
  SERVER_ID,
  WINDOWS,
} from "../protocol/headers.ts";

/** The connection to a server, and its timeouts. */
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
  /**
   * Speaks gRPC with servers of ours, too. Only tests set it: a server of ours chooses plain frames where they are
   * offered, and its gRPC is what konnectivity's agents speak.
   */
  readonly grpcOnly?: boolean;
}

/** A call that the server accepted. */
export interface Call {
  readonly serverId: string;
  readonly serverCount: number;
  readonly wire: Duplex;
  readonly codec: Codec;
  readonly peerWindow: number | undefined;
  /** Sends another token; undefined: the server accepts none on the connection. */
  readonly renew: ((token: string) => void) | undefined;
  close(): void;
}

const CONNECTION_WINDOW = 8 * 1024 * 1024;
const TIMEOUT = 10_000;

/**
 * Connects to a server over a TCP connection of its own, so that a load balancer may choose another one. A server of
 * ours speaks plain frames, konnectivity's gRPC. @throws TUNNEL_CONNECT_FAILED
 */
export async function callServer(options: CallOptions, signal: AbortSignal): Promise<Call> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error("the server did not respond within 10 s")), TIMEOUT);
  const onAbort = (): void => over.abort(new Error("the agent stops"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  let socket: TLSSocket | undefined;
  try {
    if (options.tls) {
      socket = await connectTls(options, options.tls, over.signal);
      if (socket.alpnProtocol === PLAIN_PROTOCOL) return await greet(options, socket, over.signal);
    }
    return await callGrpc(options, socket, over.signal);
  } catch (error) {
    socket?.destroy();
    throw failed(options, messageOf(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function connectTls(
  { host, port, grpcOnly }: CallOptions,
  tls: NonNullable<CallOptions["tls"]>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { alpn = [], ...more } = tls;
    const protocols = [...(grpcOnly === true ? [] : [PLAIN_PROTOCOL]), "h2", ...alpn];
    const socket = connectSocket({ host, port, ...more, ALPNProtocols: protocols });
    const end = (act: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      socket.off("secureConnect", onSecure).off("close", onClose);
      act();
    };
    const fail = (error: unknown): void =>
      end(() => {
        socket.destroy();
        reject(error instanceof Error ? error : new Error(messageOf(error)));
      });
    const onAbort = (): void => fail(signal.reason);
    const onClose = (): void => fail(new Error("the server closed the connection"));
    const onSecure = (): void =>
      end(() => {
        socket.setNoDelay(true);
        resolve(socket);
      });
    socket.on("error", fail).once("secureConnect", onSecure).once("close", onClose);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

async function greet(options: CallOptions, socket: TLSSocket, signal: AbortSignal): Promise<Call> {
  const { agentId, agentIdentifiers: identifiers, token } = options;
  socket.write(
    greetingFrame({ agentId, identifiers, window: LIMITS.window, ...(token === undefined ? {} : { token }) }),
  );
  const answer = await readGreeting(socket, signal);
  const { serverId, serverCount, window, status, refusal, renews } = answer;
  if (typeof status === "number") throw new Error(refusalOf(status, String(refusal)));
  if (typeof serverId !== "string" || typeof serverCount !== "number" || typeof window !== "number" || !(window > 0)) {
    throw new Error("its greeting names no server");
  }
  const codec = plainCodec();
  keepAlive({ wire: socket, codec }, options.keepalive);
  const renew = (text: string): void => void socket.write(codec.token(text));
  return {
    serverId,
    serverCount,
    wire: socket,
    codec,
    peerWindow: window,
    renew: renews === true ? renew : undefined,
    close: () => socket.destroy(),
  };
}

function callGrpc(options: CallOptions, socket: TLSSocket | undefined, signal: AbortSignal): Promise<Call> {
  // Loaded here, since a server of ours does not speak it, and it takes 5 MiB.
  const session = process.getBuiltinModule("node:http2").connect(authorityOf(options), {
    settings: { initialWindowSize: CONNECTION_WINDOW / 2, enablePush: false },
    ...(socket && { createConnection: () => socket }),
  });
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      signal.removeEventListener("abort", onAbort);
      session.destroy();
      reject(new Error(why));
    };
    const onAbort = (): void => fail(messageOf(signal.reason));
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
      if (serverId === "" || !Number.isInteger(serverCount)) return fail(refusalIn(headers));
      signal.removeEventListener("abort", onAbort);
      const window = Number(text(headers[WINDOWS]));
      const stopPings = pingSession(session, options.keepalive);
      stream.once("close", () => {
        stopPings();
        session.destroy();
      });
      resolve({
        serverId,
        serverCount,
        wire: stream,
        codec: grpcCodec(),
        peerWindow: window > 0 ? window : undefined,
        renew: undefined,
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

function refusalIn(headers: IncomingHttpHeaders): string {
  const status = text(headers["grpc-status"]);
  if (status === "") return "the server is not a konnectivity server";
  let message = text(headers["grpc-message"]);
  try {
    message = decodeURIComponent(message);
  } catch {
    // As it came.
  }
  return refusalOf(status, message);
}

function refusalOf(status: number | string, message: string): string {
  return `it refused the agent with gRPC status ${status}: ${message.slice(0, 500)}`;
}

function pingSession(session: ClientHttp2Session, interval: number): () => void {
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
