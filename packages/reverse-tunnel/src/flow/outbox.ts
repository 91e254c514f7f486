import type { Writable } from "node:stream";
import type { Codec, Control } from "../protocol/codec.ts";

/** What one stream has to send, in order. */
export interface Lane {
  readonly id: bigint;
  readonly items: (Buffer | Control)[];
  /** Bytes that may be sent now. */
  credit(): number;
  sent(bytes: number): void;
}

/** No packet has more data: streams take turns in such pieces. */
const PIECE = 64 * 1024;

/** The wire is given so much ahead, in bytes: streams that come later wait no longer than that takes. */
const AHEAD = 4 * PIECE;

/** With so many packets unsent the other side does not read while it asks for responses: its connection ends. */
const MOST_URGENT = 100_000;
const UNREAD = `it asks for responses and does not read them: ${MOST_URGENT} packets wait to be sent`;

/** Sends the packets of one connection: what is not of a stream first, then one piece of each stream in turn. */
export class Outbox {
  readonly #wire: Writable;
  readonly #codec: Codec;
  readonly #urgent: Control[] = [];
  #lanes: Lane[] = [];
  readonly #waiting = new Set<Lane>();
  #isPumping = false;
  #isClosed = false;

  constructor(wire: Writable, codec: Codec) {
    this.#wire = wire;
    this.#codec = codec;
  }

  send(packet: Control): void {
    if (this.#urgent.length >= MOST_URGENT) return void this.#wire.destroy(new Error(UNREAD));
    this.#urgent.push(packet);
    this.#pump();
  }

  /** The lane has something new to send, or credit for it. */
  wake(lane: Lane): void {
    if (lane.items.length === 0 || this.#waiting.has(lane)) return;
    this.#waiting.add(lane);
    this.#lanes.push(lane);
    this.#pump();
  }

  close(): void {
    this.#isClosed = true;
    this.#urgent.length = 0;
    this.#lanes = [];
    this.#waiting.clear();
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (!this.#isClosed && this.#wire.writableLength < AHEAD && this.#next());
    this.#isPumping = false;
  }

  /** Sends one packet. False: there is none. */
  #next(): boolean {
    const packet = this.#urgent.shift();
    if (packet) return this.#write([this.#codec.packet(packet)]);
    const lane = this.#lanes.shift();
    if (!lane) return false;
    this.#waiting.delete(lane);
    const [item] = lane.items;
    if (item === undefined) return true;
    if (!Buffer.isBuffer(item)) {
      lane.items.shift();
      this.#write([this.#codec.packet(item)]);
    } else {
      const size = Math.min(item.length, PIECE, lane.credit());
      // Without credit it waits for `wake`.
      if (size <= 0) return true;
      const piece = item.length === size ? item : item.subarray(0, size);
      if (item.length === size) lane.items.shift();
      else lane.items[0] = item.subarray(size);
      this.#write([this.#codec.dataPrefix(lane.id, size), piece]);
      lane.sent(size);
    }
    if (lane.items.length > 0 && !this.#waiting.has(lane)) {
      this.#waiting.add(lane);
      this.#lanes.push(lane);
    }
    return true;
  }

  #write(parts: readonly Uint8Array[]): true {
    if (this.#wire.destroyed || this.#wire.writableEnded) {
      this.close();
      return true;
    }
    this.#wire.cork();
    const last = parts.length - 1;
    for (const [at, part] of parts.entries()) this.#wire.write(part, at === last ? () => this.#pump() : undefined);
    this.#wire.uncork();
    return true;
  }
}
