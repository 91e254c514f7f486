import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { messageOf } from "@causeway/foundation";
import { Connection, type OtherPacket } from "../flow/connection.ts";
import type { Deadlines } from "../flow/deadlines.ts";
import { OVER } from "../flow/over.ts";
import { socketPair } from "../flow/socket-pair.ts";
import { grpcCodec } from "../protocol/grpc-codec.ts";
import { GRPC, PROXY_PATH, STATUS } from "../protocol/headers.ts";
import { DialError } from "./dial-error.ts";
import type { FrontOptions } from "./front.ts";
import { targetOf } from "./target.ts";

/** A connection that has neither a stream nor a dial ends after this (ms), whatever calls it has. */
const IDLE = 30_000;
/** Dials of one call: API servers make one. */
const MOST_DIALS = 16;
/** Characters of a target in the log. */
const MOST_SHOWN = 300;
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
export function serveGrpc(socket: Socket, options: FrontOptions, deadlines: Deadlines): void {
  const { onConnections, log } = options;
  socket.allowHalfOpen = false;
  const settings = { initialWindowSize: WINDOW, maxConcurrentStreams: MOST_CALLS };
  // Loaded with the first API server that speaks gRPC: it takes 5 MiB.
  const session = process.getBuiltinModule("node:http2").performServerHandshake(socket, { settings });
  onConnections(1);
  const late = (): void => session.destroy();
  let endIdle = deadlines.after(IDLE, late);
  let uses = 0;
  const onUse = (by: 1 | -1): void => {
    uses += by;
    endIdle();
    if (uses === 0 && !session.destroyed) endIdle = deadlines.after(IDLE, late);
  };
  session.on("error", (error) => {
    log.debug("the connection of an API server failed", { error: messageOf(error) });
    session.destroy();
  });
  session.once("close", () => {
    endIdle();
    onConnections(-1);
  });
  session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => stream.destroy());
    // Nothing is left to do of a connection whose calls have ended.
    stream.once("close", () => session.close());
    if (headers[":path"] !== PROXY_PATH || !headers["content-type"]?.startsWith(GRPC)) return refuse(stream);
    stream.respond({ ":status": 200, "content-type": GRPC }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(STATUS.ok) }));
    serveCall(stream, { ...options, peer: socket, onUse });
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

interface CallContext extends FrontOptions {
  readonly peer: Socket;
  /** A dial begins or fails; the stream of one that succeeds ends. */
  readonly onUse: (by: 1 | -1) => void;
}

/** An API server dials, and closes; this side responds, as an agent does to a server. */
function serveCall(wire: ServerHttp2Stream, { dial, clock, log, peer, onUse }: CallContext): void {
  const dials = new Map<bigint, AbortController>();
  let begun = 0;
  let lastId = 0n;
  let isOver = false;
  const connect = async ({ random, protocol, address }: Dial): Promise<void> => {
    const cancelled = new AbortController();
    dials.set(random, cancelled);
    let isUsed = true;
    const release = (): void => {
      if (isUsed) onUse(-1);
      isUsed = false;
    };
    onUse(1);
    try {
      const target = protocol === "tcp" ? targetOf(address) : undefined;
      if (!target) throw new DialError("refused", 400, "the dial is not of TCP to HOST:PORT");
      const accept = () => {
        const [near, far] = socketPair();
        const id = ++lastId;
        connection.send({ type: "dialled", random, id, error: "" });
        connection.open(id, near, release);
        return far;
      };
      await dial(target, accept, peer, cancelled.signal);
    } catch (error) {
      const message = messageOf(error);
      release();
      const target = address.slice(0, MOST_SHOWN);
      if (error instanceof DialError) log.info("a dial failed", { target, status: error.status, reason: message });
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
      if (packet.type === "dial") {
        begun += 1;
        if (begun <= MOST_DIALS && !dials.has(packet.random)) void connect(packet);
        else connection.lose(`it dialled ${begun} times in one call`);
      }
      if (packet.type === "cancel-dial") dials.get(packet.random)?.abort(OVER);
    },
    onLost(reason) {
      log.debug("the call of an API server ended", { reason });
      isOver = true;
      for (const dialling of dials.values()) dialling.abort(OVER);
    },
  });
}
