import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createSecureServer, type TLSSocket } from "node:tls";
import { messageOf, type KeyPair, type Log } from "@causeway/foundation";
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
  STATUS,
  WINDOWS,
} from "../protocol/headers.ts";
import type { Credentials } from "../tenants/tenants.ts";
import { OVER } from "../flow/over.ts";

/** An agent that is about to be accepted. */
export interface Arrival {
  readonly agentId: string;
  readonly identifiers: string;
  readonly credentials: Credentials;
  readonly peerWindow: number | undefined;
}

/** How the server accepts agents. */
export interface AgentsOptions {
  readonly serverId: string;
  readonly serverCount: () => number;
  /** Accepts the agent, or refuses it with a status of gRPC. */
  readonly judge: (arrival: Arrival, signal: AbortSignal) => Promise<Accepted | Refused>;
  /** Milliseconds between pings, without whose answer a connection ends. */
  readonly keepalive: number;
  readonly log: Log;
}

/** The agent is accepted: its packets go over `wire` from now on. */
export interface Accepted {
  /** Returns what handles another token of the agent. */
  readonly accept: (wire: Duplex, codec: Codec) => (token: string) => void;
}

/** The agent is refused: a status of gRPC, and why. */
export interface Refused {
  readonly status: number;
  readonly refusal: string;
}

const CONNECTION_WINDOW = 8 * 1024 * 1024;
/** A connection without a call ends after this (ms). */
const IDLE = 30_000;

/**
 * The side of agents: konnectivity's AgentService over gRPC, and plain frames for agents of ours, which offer them by
 * ALPN; with TLS if there is a certificate.
 */
export function createAgentServer(options: AgentsOptions, certificate?: KeyPair): Server {
  const settings = { initialWindowSize: CONNECTION_WINDOW / 2, maxConcurrentStreams: 16 };
  const serveSession = (session: ServerHttp2Session, socket?: TLSSocket): void => {
    pingSession(session, options.keepalive);
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on("error", () => stream.destroy());
      guarded(options, stream, receive(options, { stream, socket }, headers));
    });
  };
  if (!certificate)
    return http2()
      .createServer({ settings })
      .on("session", (session) => serveSession(session));
  return createSecureServer(
    {
      cert: certificate.certificate,
      key: certificate.key,
      requestCert: true,
      // The certificate is judged by the tenants' authorities; an agent may have a token in its place.
      rejectUnauthorized: false,
      ALPNProtocols: [PLAIN_PROTOCOL, "h2"],
      handshakeTimeout: IDLE,
    },
    (socket) => {
      socket.on("error", () => socket.destroy());
      socket.setNoDelay(true);
      if (socket.alpnProtocol === PLAIN_PROTOCOL) guarded(options, socket, receivePlain(options, socket));
      else if (socket.alpnProtocol === "h2") serveSession(http2().performServerHandshake(socket, { settings }), socket);
      else socket.destroy();
    },
  );
}

/** Loaded with the first agent that speaks gRPC: it takes 5 MiB. */
const http2 = () => process.getBuiltinModule("node:http2");

function guarded({ log }: AgentsOptions, wire: Duplex, receiving: Promise<void>): void {
  receiving.catch((error: unknown) => {
    log.error("the call of an agent failed for a reason of this program", { error });
    wire.destroy();
  });
}

async function receivePlain(options: AgentsOptions, socket: TLSSocket): Promise<void> {
  const over = new AbortController();
  socket.once("close", () => over.abort(OVER));
  const idle = setTimeout(() => socket.destroy(), IDLE).unref();
  let greeting: Readonly<Record<string, unknown>>;
  try {
    greeting = await readGreeting(socket, over.signal);
  } catch (error) {
    options.log.debug("a connection of an agent ended before its call", { error: messageOf(error) });
    return void socket.destroy();
  } finally {
    clearTimeout(idle);
  }
  const { agentId, identifiers, token, window } = greeting;
  const arrival = {
    agentId: text(agentId),
    identifiers: text(identifiers),
    credentials: credentialsOf(socket, text(token)),
    peerWindow: windowOf(window),
  };
  const verdict = await judged(options, arrival, over.signal);
  if (socket.destroyed) return;
  if ("refusal" in verdict) return void socket.end(greetingFrame(verdict));
  const { serverId, serverCount } = options;
  socket.write(greetingFrame({ serverId, serverCount: serverCount(), window: LIMITS.window, renews: true }));
  const codec = plainCodec();
  keepAlive({ wire: socket, codec }, options.keepalive);
  codec.onToken = verdict.accept(socket, codec);
}

async function receive(
  options: AgentsOptions,
  { stream, socket }: { readonly stream: ServerHttp2Stream; readonly socket: TLSSocket | undefined },
  headers: IncomingHttpHeaders,
): Promise<void> {
  if (headers[":path"] !== CONNECT_PATH || !headers["content-type"]?.startsWith(GRPC)) {
    return refuse(stream, STATUS.unimplemented, `this server has only ${CONNECT_PATH}`);
  }
  const over = new AbortController();
  stream.once("close", () => over.abort(OVER));
  const arrival: Arrival = {
    agentId: one(headers[AGENT_ID]),
    identifiers: one(headers[AGENT_IDENTIFIERS]),
    credentials: credentialsOf(socket, /^Bearer (\S+)\s*$/.exec(one(headers.authorization))?.[1]),
    peerWindow: windowOf(Number(one(headers[WINDOWS]))),
  };
  const verdict = await judged(options, arrival, over.signal);
  if (stream.destroyed) return;
  if ("refusal" in verdict) return refuse(stream, verdict.status, verdict.refusal);
  stream.respond(
    {
      ":status": 200,
      "content-type": GRPC,
      [SERVER_ID]: options.serverId,
      [SERVER_COUNT]: String(options.serverCount()),
      ...(arrival.peerWindow === undefined ? {} : { [WINDOWS]: String(LIMITS.window) }),
    },
    { waitForTrailers: true },
  );
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(STATUS.ok) }));
  verdict.accept(stream, grpcCodec());
}

async function judged(options: AgentsOptions, arrival: Arrival, signal: AbortSignal): Promise<Accepted | Refused> {
  const { agentId } = arrival;
  if (agentId === "" || agentId.length > 253) {
    return { status: STATUS.invalidArgument, refusal: "header agentID has no agent's ID" };
  }
  const verdict = await options.judge(arrival, signal);
  if ("refusal" in verdict) {
    options.log.warn("an agent was refused", { agent: agentId, reason: verdict.refusal });
  }
  return verdict;
}

function windowOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

function credentialsOf(socket: TLSSocket | undefined, token: string | undefined): Credentials {
  const certificate = socket?.getPeerX509Certificate()?.toString();
  const serverName = typeof socket?.servername === "string" ? socket.servername : undefined;
  return {
    ...(certificate === undefined ? {} : { certificate }),
    ...(token === undefined || token === "" ? {} : { token }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

/** A response without a message: its headers are the trailers. */
function refuse(stream: ServerHttp2Stream, status: number, message: string): void {
  stream.respond(
    {
      ":status": 200,
      "content-type": GRPC,
      "grpc-status": String(status),
      "grpc-message": encodeURIComponent(message),
    },
    { endStream: true },
  );
  stream.resume();
}

function pingSession(session: ServerHttp2Session, interval: number): void {
  session.on("error", () => session.destroy());
  session.setLocalWindowSize(CONNECTION_WINDOW);
  const isUsed = { value: false };
  session.once("stream", () => (isUsed.value = true));
  const idle = setTimeout(() => !isUsed.value && session.destroy(), IDLE).unref();
  let answered = true;
  const timer = setInterval(() => {
    if (!answered) return session.destroy();
    answered = false;
    session.ping((error) => (answered = !error));
  }, interval).unref();
  session.once("close", () => {
    clearInterval(timer);
    clearTimeout(idle);
  });
}

function one(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : (value?.[0] ?? "");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
