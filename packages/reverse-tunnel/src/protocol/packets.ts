import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { PacketSchema, PacketType, type Packet } from "./protocol.generated.ts";

/**
 * A packet as its receiver handles it. Ids are the agent's; dials are known by a random number until the agent chose
 * one.
 */
export type TunnelPacket =
  | { readonly type: "dial"; readonly random: bigint; readonly protocol: string; readonly address: string }
  | { readonly type: "dialled"; readonly random: bigint; readonly id: bigint; readonly error: string }
  | { readonly type: "cancel-dial"; readonly random: bigint }
  | { readonly type: "data"; readonly id: bigint; readonly data: Uint8Array }
  | { readonly type: "close"; readonly id: bigint }
  | { readonly type: "closed"; readonly id: bigint; readonly error: string }
  | { readonly type: "window"; readonly id: bigint; readonly bytes: number }
  | { readonly type: "end"; readonly id: bigint }
  | { readonly type: "drain" };

/** The packet as protobuf; `data` goes through `encodeData`, which copies nothing. */
export function encodePacket(packet: Exclude<TunnelPacket, { type: "data" }>): Uint8Array {
  return toBinary(PacketSchema, messageOf(packet));
}

function messageOf(packet: Exclude<TunnelPacket, { type: "data" }>): Packet {
  switch (packet.type) {
    case "dial": {
      const { protocol, address, random } = packet;
      return packetOf(PacketType.DIAL_REQ, { case: "dialRequest", value: { protocol, address, random } });
    }
    case "dialled": {
      const { random, id: connectID, error } = packet;
      return packetOf(PacketType.DIAL_RSP, { case: "dialResponse", value: { random, connectID, error } });
    }
    case "cancel-dial":
      return packetOf(PacketType.DIAL_CLS, { case: "closeDial", value: { random: packet.random } });
    case "close":
      return packetOf(PacketType.CLOSE_REQ, { case: "closeRequest", value: { connectID: packet.id } });
    case "closed":
      return packetOf(PacketType.CLOSE_RSP, {
        case: "closeResponse",
        value: { connectID: packet.id, error: packet.error },
      });
    case "window":
      return packetOf(PacketType.WINDOW, {
        case: "window",
        value: { connectID: packet.id, bytes: BigInt(packet.bytes) },
      });
    case "end":
      return packetOf(PacketType.END, { case: "end", value: { connectID: packet.id } });
    case "drain":
      return packetOf(PacketType.DRAIN, { case: "drain", value: {} });
  }
}

type Init = NonNullable<Parameters<typeof create<typeof PacketSchema>>[1]>;

function packetOf(type: PacketType, payload: NonNullable<Init["payload"]>): Packet {
  return create(PacketSchema, { type, payload });
}

/** What precedes the bytes of a DATA packet: the beginning of the message, whose last field they are. */
export function dataHeader(id: bigint, size: number): Uint8Array {
  // Data: field 1 (connectID), field 3 (data). Packet: field 1 (type), field 4 (data).
  const head = [0x08, ...varint(id), 0x1a, ...varint(BigInt(size))];
  return Uint8Array.from([0x08, PacketType.DATA, 0x22, ...varint(BigInt(head.length + size)), ...head]);
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return bytes;
}

/** The packet, or undefined for one that this version does not know. Throws for what is no protobuf. */
export function decodePacket(bytes: Uint8Array): TunnelPacket | undefined {
  const { payload } = fromBinary(PacketSchema, bytes);
  switch (payload.case) {
    case "data":
      return { type: "data", id: payload.value.connectID, data: payload.value.data };
    case "dialRequest": {
      const { random, protocol, address } = payload.value;
      return { type: "dial", random, protocol, address };
    }
    case "dialResponse": {
      const { random, connectID: id, error } = payload.value;
      return { type: "dialled", random, id, error };
    }
    case "closeDial":
      return { type: "cancel-dial", random: payload.value.random };
    case "closeRequest":
      return { type: "close", id: payload.value.connectID };
    case "closeResponse":
      return { type: "closed", id: payload.value.connectID, error: payload.value.error };
    case "window":
      return { type: "window", id: payload.value.connectID, bytes: Number(payload.value.bytes) };
    case "end":
      return { type: "end", id: payload.value.connectID };
    case "drain":
      return { type: "drain" };
    case undefined:
      return undefined;
  }
}
