import type { TunnelPacket } from "./packets.ts";

/** Packets that are not bytes of a stream. */
export type Control = Exclude<TunnelPacket, { type: "data" }>;

/** How packets are written on the wire of a connection, and read from it. One object serves one connection. */
export interface Codec {
  /** What arrived is in use after `read`, too: of an unfinished packet, or because the wire cut it from more memory. */
  readonly keepsChunks: boolean;
  packet(packet: Control): Buffer;
  /** What precedes that many bytes of a stream. */
  dataPrefix(id: bigint, size: number): Buffer;
  /** Handles the packets of what arrived. Data may be handled in several pieces. @throws TUNNEL_PROTOCOL_ERROR */
  read(chunk: Buffer, handle: (packet: TunnelPacket) => void): void;
}
