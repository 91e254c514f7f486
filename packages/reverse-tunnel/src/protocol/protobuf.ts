import { protocolError } from "./frames.ts";

/** How a field is written. Source: protobuf, Encoding. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, group: 3, groupEnd: 4, fixed32: 5 } as const;

/** Groups within groups: a message of this protocol has none, and what is skipped may not fill the stack. */
const MOST_GROUPS = 100;

/** Appends a number of 64 bits; a negative one as the number without a sign that has its bits. */
export function appendVarint(bytes: number[], value: bigint | number): void {
  if (value < 0 || value > LARGEST_SMALL) return appendLarge(bytes, BigInt.asUintN(64, BigInt(value)));
  let rest = Number(value);
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

/** Arithmetic of larger numbers takes ten times as long, and few are. */
const LARGEST_SMALL = 0x7fff_ffff;

function appendLarge(bytes: number[], value: bigint): void {
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
}

/** Appends a field; one with the default value is left out, as proto3 does. */
export function appendField(bytes: number[], field: number, value: bigint | number | string): void {
  if (typeof value === "string") {
    if (value !== "") appendBytes(bytes, field, Buffer.from(value));
  } else if (value !== 0n && value !== 0) {
    appendVarint(bytes, field * 8 + WIRE.varint);
    appendVarint(bytes, value);
  }
}

/** Appends a field of bytes, or a message. */
export function appendBytes(bytes: number[], field: number, content: ArrayLike<number>): void {
  appendVarint(bytes, field * 8 + WIRE.bytes);
  appendVarint(bytes, content.length);
  for (let i = 0; i < content.length; i++) bytes.push(content[i] ?? 0);
}

/** Reads the fields of a message one after the other. Bytes are not copied. */
export class FieldReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** Of the field that `next` read. */
  field = 0;
  /** The value of a varint, with a sign; undefined for other fields. */
  int: bigint | undefined;
  /** The content of bytes, texts and messages; undefined for other fields. */
  content: Uint8Array | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Reads the next field; false at the end. @throws TUNNEL_PROTOCOL_ERROR */
  next(): boolean {
    if (this.#at === this.#bytes.length) return false;
    const tag = this.#small();
    this.field = Math.floor(tag / 8);
    if (this.field === 0) throw protocolError("a message is no protobuf");
    this.int = undefined;
    this.content = undefined;
    if (tag % 8 === WIRE.varint) this.int = BigInt(this.#varint());
    else if (tag % 8 === WIRE.bytes) this.content = this.#take(this.#small());
    else this.#skip(tag, MOST_GROUPS);
    return true;
  }

  #skip(tag: number, depth: number): void {
    if (tag < 8 || depth === 0) throw protocolError("a message is no protobuf");
    switch (tag % 8) {
      case WIRE.varint:
        return void this.#varint();
      case WIRE.fixed64:
        return void this.#take(8);
      case WIRE.bytes:
        return void this.#take(this.#small());
      case WIRE.fixed32:
        return void this.#take(4);
      case WIRE.group:
        for (let inner = this.#small(); inner !== tag + 1; inner = this.#small()) this.#skip(inner, depth - 1);
        return;
      default:
        throw protocolError("a message is no protobuf");
    }
  }

  #take(size: number): Uint8Array {
    const end = this.#at + size;
    if (end > this.#bytes.length) throw protocolError("a message ends within a field");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** A tag or a size: what has more than 32 bits is neither. */
  #small(): number {
    const value = this.#varint();
    if (value < 0 || value > 0xffff_ffff) throw protocolError("a message is no protobuf");
    return Number(value);
  }

  #varint(): bigint | number {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return low;
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw protocolError("a message has a number of more than ten bytes");
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw protocolError("a message ends within a field");
    return byte;
  }
}
