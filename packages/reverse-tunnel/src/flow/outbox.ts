import type { Writable } from "node:stream";
import type { Codec, Control } from "../protocol/codec.ts";
import { free } from "./received.ts";

/** What one stream has to send, in order. */
export interface Lane {
  readonly id: bigint;
  readonly items: (Buffer | Control)[];
  /** Bytes of its items are of its own reads, and freed once they were sent: no wire needs them after its callback. */
  readonly frees: boolean;
  /** What the first item is the rest of. */
  whole?: Buffer | undefined;
  /** Bytes that may be sent now. */
  credit(): number;
  sent(bytes: number): void;
}

/** No packet has more data: streams take turns in such pieces. */
const PIECE = 64 * 1024;

/** The wire is given so much ahead, in bytes: streams that come later wait no longer than that takes. */
const AHEAD = 4 * PIECE;

/** Data of so many bytes is sent in one piece with what precedes it: to copy it takes less than to write two pieces. */
const SMALL = 2 * 1024;

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
  readonly #onWritten = (): void => this.#pump();
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
    if (packet) return this.#write(this.#codec.packet(packet), this.#onWritten);
    const lane = this.#lanes.shift();
    if (!lane) return false;
    this.#waiting.delete(lane);
    const [item] = lane.items;
    if (item === undefined) return true;
    if (!Buffer.isBuffer(item)) {
      lane.items.shift();
      lane.whole = undefined;
      this.#write(this.#codec.packet(item), this.#onWritten);
    } else {
      const size = Math.min(item.length, PIECE, lane.credit());
      // Without credit it waits for `wake`.
      if (size <= 0) return true;
      const isLast = item.length === size;
      const whole = lane.whole ?? item;
      if (isLast) lane.items.shift();
      else lane.items[0] = item.subarray(size);
      lane.whole = isLast ? undefined : whole;
      this.#send(
        lane.id,
        isLast ? item : item.subarray(0, size),
        isLast && lane.frees ? this.#released(whole) : this.#onWritten,
      );
      lane.sent(size);
    }
    if (lane.items.length > 0 && !this.#waiting.has(lane)) {
      this.#waiting.add(lane);
      this.#lanes.push(lane);
    }
    return true;
  }

  #send(id: bigint, piece: Buffer, onWritten: () => void): void {
    const prefix = this.#codec.dataPrefix(id, piece.length);
    if (piece.length <= SMALL) this.#write(Buffer.concat([prefix, piece]), onWritten);
    else this.#write(prefix, onWritten, piece);
  }

  /** Writes are done in order: after its last part the whole chunk was sent, and V8 would collect it late. */
  #released(chunk: Buffer): () => void {
    return () => {
      free(chunk);
      this.#pump();
    };
  }

  #write(first: Uint8Array, onWritten: () => void, second?: Uint8Array): true {
    const wire = this.#wire;
    if (wire.destroyed || wire.writableEnded) this.close();
    else if (second === undefined) wire.write(first, onWritten);
    else {
      wire.cork();
      wire.write(first);
      wire.write(second, onWritten);
      wire.uncork();
    }
    return true;
  }
}
