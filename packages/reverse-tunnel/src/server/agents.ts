import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import type { KeyPair, Log } from "@causeway/foundation";
import { LIMITS } from "../flow/plan-stream.ts";
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

export interface AgentsOptions {
  readonly serverId: string;
  readonly serverCount: () => number;
  /** Why the agent is refused, with a gRPC status; undefined: it is accepted. */
  readonly judge: (arrival: Arrival, signal: AbortSignal) => Promise<Accepted | Refused>;
  /** Milliseconds between pings, without whose answer a connection ends. */
  readonly keepalive: number;
  readonly log: Log;
}

export interface Accepted {
  readonly accept: (stream: ServerHttp2Stream) => void;
}

export interface Refused {
  readonly status: number;
  readonly refusal: string;
}

const CONNECTION_WINDOW = 8 * 1024 * 1024;
/** A connection without a call ends after this (ms). */
const IDLE = 30_000;

/** The side of agents: konnectivity's AgentService over gRPC, with TLS if there is a certificate. */
export function createAgentServer(options: AgentsOptions, certificate?: KeyPair): Http2Server | Http2SecureServer {
  const settings = { initialWindowSize: CONNECTION_WINDOW / 2, maxConcurrentStreams: 16 };
  const server: Http2Server | Http2SecureServer = certificate
    ? createSecureServer({
        cert: certificate.certificate,
        key: certificate.key,
        requestCert: true,
        // The certificate is judged by the tenants' authorities; an agent may have a token in its place.
        rejectUnauthorized: false,
        settings,
      })
    : createServer({ settings });
  server.on("session", (session) => keepAlive(session, options.keepalive));
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => stream.destroy());
    void receive(options, stream, headers).catch((error: unknown) => {
      options.log.error("the call of an agent failed for a reason of this program", { error });
      stream.destroy();
    });
  });
  return server;
}

async function receive(options: AgentsOptions, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
  if (headers[":path"] !== CONNECT_PATH || !headers["content-type"]?.startsWith(GRPC)) {
    return refuse(stream, STATUS.unimplemented, `this server has only ${CONNECT_PATH}`);
  }
  const agentId = one(headers[AGENT_ID]);
  if (agentId === "" || agentId.length > 253)
    return refuse(stream, STATUS.invalidArgument, "header agentID has no agent's ID");
  const over = new AbortController();
  stream.once("close", () => over.abort(OVER));
  const window = Number(one(headers[WINDOWS]));
  const arrival: Arrival = {
    agentId,
    identifiers: one(headers[AGENT_IDENTIFIERS]),
    credentials: credentialsOf(stream, headers),
    peerWindow: Number.isInteger(window) && window > 0 ? window : undefined,
  };
  const verdict = await options.judge(arrival, over.signal);
  if (stream.destroyed) return;
  if ("refusal" in verdict) {
    options.log.warn("an agent was refused", { agent: agentId, reason: verdict.refusal });
    return refuse(stream, verdict.status, verdict.refusal);
  }
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
  verdict.accept(stream);
}

function credentialsOf(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Credentials {
  const socket = stream.session?.socket as Partial<TLSSocket> | undefined;
  // Node's proxy of an HTTP/2 socket hides no reading methods.
  const certificate = socket?.encrypted ? socket.getPeerX509Certificate?.()?.toString() : undefined;
  const token = /^Bearer (\S+)\s*$/.exec(one(headers.authorization))?.[1];
  const serverName = socket?.encrypted && typeof socket.servername === "string" ? socket.servername : undefined;
  return {
    ...(certificate === undefined ? {} : { certificate }),
    ...(token === undefined ? {} : { token }),
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

function keepAlive(session: ServerHttp2Session, interval: number): void {
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
