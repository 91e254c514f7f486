import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { messageOf } from "@causeway/foundation";
import { Connection, type OtherPacket } from "../flow/connection.ts";
import { OVER } from "../flow/over.ts";
import { socketPair } from "../flow/socket-pair.ts";
import { grpcCodec } from "../protocol/grpc-codec.ts";
import { GRPC, PROXY_PATH, STATUS } from "../protocol/headers.ts";
import { DialError } from "./dial-error.ts";
import type { FrontOptions } from "./front.ts";
import { targetOf } from "./target.ts";

/** A connection without a call ends after this (ms). */
const IDLE = 30_000;
/** Bytes that an API server may send ahead of what is read. */
const WINDOW = 256 * 1024;
/** Calls of one connection at a time: API servers make one. */
const MOST_CALLS = 4;

/** Does a connection begin as HTTP/2 does? No method of HTTP/1.1 has this name. Source: RFC 9113, 3.4. */
export function isHttp2(first: Buffer): boolean {
  return first.toString("latin1", 0, 4) === "PRI ";
}

/**
 * The side of API servers in gRPC: konnectivity's ProxyService, as an EgressSelectorConfiguration with proxyProtocol
 * GRPC speaks it: a connection, a call and a dial for each of its own. Takes the socket over.
 */
export function serveGrpc(socket: Socket, options: FrontOptions): void {
  const { onConnections, log } = options;
  socket.allowHalfOpen = false;
  const settings = { initialWindowSize: WINDOW, maxConcurrentStreams: MOST_CALLS };
  // Loaded with the first API server that speaks gRPC: it takes 5 MiB.
  const session = process.getBuiltinModule("node:http2").performServerHandshake(socket, { settings });
  onConnections(1);
  const idle = setTimeout(() => session.destroy(), IDLE).unref();
  session.on("error", (error) => {
    log.debug("the connection of an API server failed", { error: messageOf(error) });
    session.destroy();
  });
  session.once("close", () => {
    clearTimeout(idle);
    onConnections(-1);
  });
  session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    clearTimeout(idle);
    stream.on("error", () => stream.destroy());
    // Nothing is left to do of a connection whose calls have ended.
    stream.once("close", () => session.close());
    if (headers[":path"] !== PROXY_PATH || !headers["content-type"]?.startsWith(GRPC)) return refuse(stream);
    stream.respond({ ":status": 200, "content-type": GRPC }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(STATUS.ok) }));
    serveCall(stream, socket, options);
  });
}

/** A response without a message: its headers are the trailers. */
function refuse(stream: ServerHttp2Stream): void {
  stream.respond(
    {
      ":status": 200,
      "content-type": GRPC,
      "grpc-status": String(STATUS.unimplemented),
      "grpc-message": encodeURIComponent(`API servers have only ${PROXY_PATH} here`),
    },
    { endStream: true },
  );
  stream.resume();
}

type Dial = Extract<OtherPacket, { type: "dial" }>;

/** An API server dials, and closes; this side responds, as an agent does to a server. */
function serveCall(wire: ServerHttp2Stream, peer: Socket, { dial, clock, log }: FrontOptions): void {
  const dials = new Map<bigint, AbortController>();
  let lastId = 0n;
  let isOver = false;
  const connect = async ({ random, protocol, address }: Dial): Promise<void> => {
    const cancelled = new AbortController();
    dials.set(random, cancelled);
    try {
      const target = protocol === "tcp" ? targetOf(address) : undefined;
      if (!target) throw new DialError("refused", 400, "the dial is not of TCP to HOST:PORT");
      const accept = () => {
        const [near, far] = socketPair();
        const id = ++lastId;
        connection.send({ type: "dialled", random, id, error: "" });
        connection.open(id, near, () => {});
        return far;
      };
      await dial(target, accept, peer, cancelled.signal);
    } catch (error) {
      const message = messageOf(error);
      if (error instanceof DialError)
        log.info("a dial failed", { target: address, status: error.status, reason: message });
      else log.error("a dial failed for a reason of this program", { error: message });
      if (!isOver) connection.send({ type: "dialled", random, id: 0n, error: message });
    } finally {
      dials.delete(random);
    }
  };
  const connection = new Connection({
    wire,
    codec: grpcCodec(),
    role: "agent",
    peerWindow: undefined,
    isShared: false,
    clock,
    onPacket(packet) {
      if (packet.type === "dial") void connect(packet);
      if (packet.type === "cancel-dial") dials.get(packet.random)?.abort(OVER);
    },
    onLost() {
      isOver = true;
      for (const dialling of dials.values()) dialling.abort(OVER);
    },
  });
}
