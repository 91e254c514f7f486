import type { Codec } from "./codec.ts";
import { FrameReader, framePrefix } from "./frames.ts";
import { dataHeader, decodePacket, encodePacket } from "./packets.ts";

/** Konnectivity's messages: protobuf in gRPC's framing. */
export function grpcCodec(): Codec {
  const reader = new FrameReader();
  return {
    keepsChunks: true,
    packet(packet) {
      const bytes = encodePacket(packet);
      return Buffer.concat([framePrefix(bytes.length), bytes]);
    },
    dataPrefix(id, size) {
      const head = dataHeader(id, size);
      return Buffer.concat([framePrefix(head.length + size), head]);
    },
    read(chunk, handle) {
      for (const message of reader.push(chunk)) {
        const packet = decodePacket(message);
        if (packet) handle(packet);
      }
    },
  };
}
