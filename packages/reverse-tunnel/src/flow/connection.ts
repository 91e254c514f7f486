import type { Duplex } from "node:stream";
import { messageOf, type Clock } from "@causeway/foundation";
import type { Codec } from "../protocol/codec.ts";
import type { TunnelPacket } from "../protocol/packets.ts";
import { Deadlines } from "./deadlines.ts";
import { Outbox } from "./outbox.ts";
import { Received } from "./received.ts";
import { TunnelStream } from "./stream.ts";

/** Packets that are not of an open stream. */
export type OtherPacket = Extract<TunnelPacket, { type: "dial" | "dialled" | "cancel-dial" | "drain" }>;

/** One end of a tunnel: what it is on, and what becomes of packets that are not data. */
export interface ConnectionOptions {
  /** The call's stream, or a TLS connection. */
  readonly wire: Duplex;
  readonly codec: Codec;
  readonly role: "server" | "agent";
  /** Bytes that each stream may send before the first WINDOW; undefined: the peer knows no windows. */
  readonly peerWindow: number | undefined;
  /**
   * Streams share it, so that one whose socket accepts nothing may hold it for a moment only, and ends when too much
   * waits. Default true.
   */
  readonly isShared?: boolean;
  readonly clock: Clock;
  readonly onPacket: (packet: OtherPacket) => void;
  readonly onBytes?: (direction: "sent" | "received", bytes: number) => void;
  /** Called once, with what was wrong. */
  readonly onLost: (reason: string) => void;
}

/** Ids of streams that ended lately: what was under way for them is dropped without an answer. */
const REMEMBERED = 4096;

/** One call between a server and an agent, with its streams. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #deadlines: Deadlines;
  readonly #streams = new Map<bigint, TunnelStream>();
  readonly #ended = new Set<bigint>();
  /** What is read now. Undefined: V8 collects it. */
  #received: Received | undefined;
  #holders = 0;
  #isLost = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { wire, codec, clock } = options;
    this.#outbox = new Outbox(wire, codec);
    this.#deadlines = new Deadlines(clock);
    wire.on("data", (chunk: Buffer) => this.#read(chunk));
    wire.on("end", () => this.lose("it ended the connection"));
    wire.on("error", (error) => this.lose(messageOf(error)));
    wire.on("close", () => this.lose("the connection was closed"));
    wire.resume();
  }

  get streams(): number {
    return this.#streams.size;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  send(packet: Exclude<TunnelPacket, { type: "data" }>): void {
    this.#outbox.send(packet);
  }

  /** Joins a socket with the stream of that id. */
  open(id: bigint, socket: Duplex, onClosed: (reason: string | undefined) => void): void {
    const { role, peerWindow, isShared = true } = this.#options;
    const stream = new TunnelStream({
      id,
      socket,
      outbox: this.#outbox,
      deadlines: this.#deadlines,
      role,
      windowed: peerWindow !== undefined,
      credit: peerWindow ?? 0,
      isShared,
      streams: () => this.#streams.size,
      hold: () => this.#hold(1),
      release: () => this.#hold(-1),
      onClosed: (reason) => {
        this.#streams.delete(id);
        this.#remember(id);
        onClosed(reason);
      },
    });
    if (this.#isLost) stream.dispatch({ type: "lost" });
    else if (!stream.isClosed) this.#streams.set(id, stream);
  }

  /** Ends the connection and all its streams. */
  lose(reason: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#outbox.close();
    for (const stream of this.#streams.values()) stream.dispatch({ type: "lost" });
    this.#deadlines.close();
    this.#options.wire.destroy();
    this.#options.onLost(reason);
  }

  #hold(by: 1 | -1): void {
    this.#holders += by;
    if (this.#holders === 0) this.#options.wire.resume();
    else if (by === 1) this.#options.wire.pause();
  }

  #read(chunk: Buffer): void {
    if (this.#isLost) return;
    const { codec } = this.#options;
    const received = codec.keepsChunks ? undefined : new Received(chunk);
    this.#received = received;
    try {
      codec.read(chunk, this.#onPacket);
    } catch (error) {
      this.lose(messageOf(error));
    }
    received?.end();
  }

  readonly #onPacket = (packet: TunnelPacket): void => {
    if (!this.#isLost) this.#handle(packet);
  };

  #handle(packet: TunnelPacket): void {
    if (
      packet.type === "dial" ||
      packet.type === "dialled" ||
      packet.type === "cancel-dial" ||
      packet.type === "drain"
    ) {
      return this.#options.onPacket(packet);
    }
    const stream = this.#streams.get(packet.id);
    if (packet.type === "data") this.#options.onBytes?.("received", packet.data.length);
    if (stream) {
      stream.handle(packet, this.#received);
      // A stock server waits for the response to its request to close; one with windows knows the stream no more.
      if (packet.type === "close" && this.#options.peerWindow === undefined)
        this.send({ type: "closed", id: packet.id, error: "" });
      return;
    }
    if (packet.type === "close") return this.send({ type: "closed", id: packet.id, error: "Unknown connectID" });
    if (packet.type !== "data" || this.#ended.has(packet.id)) return;
    this.#remember(packet.id);
    const { id } = packet;
    this.send(
      this.#options.role === "agent" ? { type: "closed", id, error: "unrecognized connectID" } : { type: "close", id },
    );
  }

  #remember(id: bigint): void {
    this.#ended.add(id);
    if (this.#ended.size <= REMEMBERED) return;
    const [oldest] = this.#ended;
    if (oldest !== undefined) this.#ended.delete(oldest);
  }
}
