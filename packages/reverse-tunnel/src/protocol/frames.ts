import { CausewayError } from "@causeway/foundation";
import { KeptChunks } from "./kept-chunks.ts";

/**
 * Bytes of a gRPC message's prefix: whether it is compressed, and its length. Source: gRPC over HTTP2,
 * Length-Prefixed-Message.
 */
const PREFIX = 5;
/** No message is longer. The stock programs send at most 32 KiB of data in one, and gRPC's own limit is 4 MiB. */
export const LONGEST_MESSAGE = 4 * 1024 * 1024;

/** The prefix of a message of that many bytes. */
export function framePrefix(size: number): Buffer {
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32BE(size, 1);
  return prefix;
}

/** Cuts what arrives into messages. Each byte is copied at most twice; what is kept is bounded by LONGEST_MESSAGE. */
export class FrameReader {
  readonly #kept = new KeptChunks();
  #size = 0;
  #needed = PREFIX;

  /** The messages that `chunk` completes. @throws TUNNEL_PROTOCOL_ERROR */
  push(chunk: Buffer): Buffer[] {
    this.#kept.add(chunk);
    this.#size += chunk.length;
    const messages: Buffer[] = [];
    while (this.#size >= this.#needed) {
      const all = this.#kept.take();
      const length = lengthOf(all);
      if (all.length < PREFIX + length) {
        this.#kept.add(all);
        this.#needed = PREFIX + length;
        break;
      }
      messages.push(all.subarray(PREFIX, PREFIX + length));
      const rest = all.subarray(PREFIX + length);
      if (rest.length > 0) this.#kept.add(rest);
      this.#size = rest.length;
      this.#needed = PREFIX;
    }
    return messages;
  }
}

function lengthOf(all: Buffer): number {
  if (all[0] !== 0) throw protocolError("a message is compressed");
  const length = all.readUInt32BE(1);
  if (length > LONGEST_MESSAGE) throw protocolError(`a message has ${length} bytes, more than ${LONGEST_MESSAGE}`);
  return length;
}

/** TUNNEL_PROTOCOL_ERROR: the connection to the peer ends with it. */
export function protocolError(why: string): CausewayError {
  return new CausewayError("TUNNEL_PROTOCOL_ERROR", `The other end of the tunnel breaks the protocol: ${why}.`, {
    hint: "Check that it is a konnectivity server or agent of a supported release.",
  });
}
