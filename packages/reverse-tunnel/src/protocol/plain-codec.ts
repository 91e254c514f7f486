import type { Codec } from "./codec.ts";
import { protocolError } from "./frames.ts";
import { Gather } from "./gather.ts";
import { decodePacket, encodePacket } from "./packets.ts";

/**
 * The framing between our server and our agent, directly on TLS: HTTP/2 would cut data into pieces of 16 KiB, copy each
 * twice, and keep a second window. The name is agreed on by ALPN, so that stock programs get HTTP/2.
 *
 * A frame is its kind (one byte) and the size of its content (four bytes, big-endian). Content: a packet in protobuf; a
 * stream's ID (eight bytes) and data; nothing (ping, pong); JSON (greeting, the first frame of each side); another
 * token of an agent (token), where the server's greeting says that it `renews`.
 */
export const PLAIN_PROTOCOL = "causeway-tunnel/1";

/** The first byte of a frame. */
export const KIND = { packet: 0, data: 1, ping: 2, pong: 3, greeting: 4, token: 5 } as const;

/** The bytes of a frame before its content: kind and size. */
export const PREFIX = 5;
const ID = 8;
/** Content of a frame that is not data is small: addresses and error texts. */
const LONGEST_CONTROL = 64 * 1024;
const LONGEST_DATA = 4 * 1024 * 1024;

/** A whole frame with a copy of its content. */
export function plainFrame(kind: number, content: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + content.length);
  frame[0] = kind;
  frame.writeUInt32BE(content.length, 1);
  frame.set(content, PREFIX);
  return frame;
}

/** The codec of a plain connection, which has pings of its own. */
export interface PlainCodec extends Codec {
  /** Called for each ping, which needs a response, and for each pong. */
  onPing: () => void;
  onPong: () => void;
  /** Called for each token that an agent sends after the one of its greeting. */
  onToken: (token: string) => void;
  ping(): Buffer;
  pong(): Buffer;
  token(token: string): Buffer;
}

/**
 * A codec for one connection: it keeps what a chunk has of an unfinished frame. `read` throws TUNNEL_PROTOCOL_ERROR.
 */
export function plainCodec(): PlainCodec {
  const reader = new PlainReader();
  const codec: PlainCodec = {
    keepsChunks: false,
    onPing() {},
    onPong() {},
    onToken() {},
    ping: () => plainFrame(KIND.ping, new Uint8Array()),
    pong: () => plainFrame(KIND.pong, new Uint8Array()),
    token: (token) => plainFrame(KIND.token, Buffer.from(token)),
    packet: (packet) => plainFrame(KIND.packet, encodePacket(packet)),
    dataPrefix(id, size) {
      const prefix = Buffer.allocUnsafe(PREFIX + ID);
      prefix[0] = KIND.data;
      prefix.writeUInt32BE(ID + size, 1);
      prefix.writeBigUInt64BE(id, PREFIX);
      return prefix;
    },
    read(chunk, handle) {
      reader.read(chunk, {
        control(kind, content) {
          if (kind === KIND.ping) return codec.onPing();
          if (kind === KIND.pong) return codec.onPong();
          if (kind === KIND.token) return codec.onToken(content.toString());
          const packet = decodePacket(content);
          if (packet) handle(packet);
        },
        data: (id, data) => handle({ type: "data", id, data }),
      });
    },
  };
  return codec;
}

interface Handler {
  readonly control: (kind: number, content: Buffer) => void;
  readonly data: (id: bigint, data: Buffer) => void;
}

/** Data is passed on as it comes, without a copy; only what precedes it and control frames are put together. */
class PlainReader {
  readonly #gather = new Gather();
  #id = 0n;
  /** Bytes of the frame of data that are still to come. */
  #left = 0;

  read(chunk: Buffer, handler: Handler): void {
    const gathered = this.#left > 0 ? chunk : this.#gather.push(chunk);
    if (gathered === undefined) return;
    let rest = gathered;
    while (rest.length > 0) {
      if (this.#left > 0) {
        const data = rest.length > this.#left ? rest.subarray(0, this.#left) : rest;
        this.#left -= data.length;
        rest = rest.subarray(data.length);
        handler.data(this.#id, data);
        continue;
      }
      const needed = neededOf(rest);
      if (rest.length < needed) return this.#gather.keep(rest, needed);
      if (rest[0] === KIND.data) {
        this.#id = rest.readBigUInt64BE(PREFIX);
        this.#left = rest.readUInt32BE(1) - ID;
      } else handler.control(rest[0] ?? 0, rest.subarray(PREFIX, needed));
      rest = rest.subarray(needed);
    }
    this.#gather.keep(rest, PREFIX);
  }
}

/** Bytes that have to be there before the frame is handled: all of it, or what precedes its data. */
function neededOf(rest: Buffer): number {
  const kind = rest[0] ?? 0;
  if (kind > KIND.token || kind === KIND.greeting) throw protocolError(`a frame has the unexpected kind ${kind}`);
  if (rest.length < PREFIX) return PREFIX;
  const size = rest.readUInt32BE(1);
  if (kind === KIND.data) {
    if (size < ID || size > ID + LONGEST_DATA) throw protocolError(`a frame of data has ${size} bytes`);
    return PREFIX + ID;
  }
  if (size > LONGEST_CONTROL) throw protocolError(`a frame has ${size} bytes, more than ${LONGEST_CONTROL}`);
  return PREFIX + size;
}
