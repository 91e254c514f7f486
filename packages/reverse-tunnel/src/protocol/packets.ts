import { appendBytes, appendField, appendVarint, FieldReader } from "./protobuf.ts";

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

/** Field 1 of a packet, and the field that its content is in. Source: proto/client.proto. */
const KINDS = {
  dial: { type: 0, field: 2 },
  dialled: { type: 1, field: 3 },
  close: { type: 2, field: 5 },
  closed: { type: 3, field: 6 },
  data: { type: 4, field: 4 },
  "cancel-dial": { type: 5, field: 7 },
  drain: { type: 6, field: 8 },
  window: { type: 1000, field: 1000 },
  end: { type: 1001, field: 1001 },
} as const satisfies Readonly<Record<TunnelPacket["type"], { readonly type: number; readonly field: number }>>;
const FIELDS: ReadonlyMap<number, TunnelPacket["type"]> = new Map(
  (Object.keys(KINDS) as TunnelPacket["type"][]).map((kind) => [KINDS[kind].field, kind]),
);

/**
 * The packet as protobuf, written by hand: a dial waits for four packets, and a library that reads schemas takes a
 * tenth of a millisecond for each. `data` goes behind `dataHeader`, which copies nothing.
 */
export function encodePacket(packet: Exclude<TunnelPacket, { type: "data" }>): Uint8Array {
  const { type, field } = KINDS[packet.type];
  const bytes: number[] = [];
  appendField(bytes, 1, type);
  appendBytes(bytes, field, contentOf(packet));
  return Uint8Array.from(bytes);
}

function contentOf(packet: Exclude<TunnelPacket, { type: "data" }>): readonly number[] {
  const bytes: number[] = [];
  const append = (...values: readonly (bigint | number | string)[]): void => {
    for (const [i, value] of values.entries()) appendField(bytes, i + 1, value);
  };
  switch (packet.type) {
    case "dial":
      append(packet.protocol, packet.address, packet.random);
      break;
    case "dialled":
      append(packet.error, packet.id, packet.random);
      break;
    case "cancel-dial":
      append(packet.random);
      break;
    case "close":
    case "end":
      append(packet.id);
      break;
    case "closed":
      append(packet.error, packet.id);
      break;
    case "window":
      append(packet.id, packet.bytes);
      break;
    case "drain":
  }
  return bytes;
}

/** What precedes the bytes of a DATA packet: the beginning of the message, whose last field they are. */
export function dataHeader(id: bigint, size: number): Uint8Array {
  // Data: field 1 (connectID), field 3 (data). Packet: field 1 (type), field 4 (data).
  const head = [0x08];
  appendVarint(head, id);
  head.push(0x1a);
  appendVarint(head, size);
  const bytes: number[] = [];
  appendField(bytes, 1, KINDS.data.type);
  bytes.push(KINDS.data.field * 8 + 2);
  appendVarint(bytes, head.length + size);
  return Uint8Array.from([...bytes, ...head]);
}

/**
 * The packet, or undefined for one that this version does not know. @throws TUNNEL_PROTOCOL_ERROR for what is no
 * protobuf
 */
export function decodePacket(bytes: Uint8Array): TunnelPacket | undefined {
  let kind: TunnelPacket["type"] | undefined;
  let parts: Uint8Array[] = [];
  for (const reader = new FieldReader(bytes); reader.next();) {
    const found = FIELDS.get(reader.field);
    if (found === undefined || reader.content === undefined) continue;
    // A message that comes in parts is their sum; one of another kind replaces it.
    if (found !== kind) parts = [];
    parts.push(reader.content);
    kind = found;
  }
  const [first = NOTHING] = parts;
  return kind === undefined ? undefined : packetOf(kind, parts.length > 1 ? Buffer.concat(parts) : first);
}

const NOTHING = new Uint8Array();

function packetOf(type: TunnelPacket["type"], content: Uint8Array): TunnelPacket {
  const ints = [0n, 0n, 0n, 0n];
  const contents: Uint8Array[] = [NOTHING, NOTHING, NOTHING, NOTHING];
  for (const reader = new FieldReader(content); reader.next();) {
    if (reader.field >= ints.length) continue;
    if (reader.int !== undefined) ints[reader.field] = reader.int;
    if (reader.content !== undefined) contents[reader.field] = reader.content;
  }
  const int = (field: 1 | 2 | 3): bigint => ints[field] ?? 0n;
  const text = (field: 1 | 2): string => Buffer.from(contents[field] ?? NOTHING).toString();
  switch (type) {
    case "data":
      return { type, id: int(1), data: contents[3] ?? NOTHING };
    case "dial":
      return { type, random: int(3), protocol: text(1), address: text(2) };
    case "dialled":
      return { type, random: int(3), id: int(2), error: text(1) };
    case "cancel-dial":
      return { type, random: int(1) };
    case "close":
    case "end":
      return { type, id: int(1) };
    case "closed":
      return { type, id: int(2), error: text(1) };
    case "window":
      return { type, id: int(1), bytes: Number(int(2)) };
    case "drain":
      return { type };
  }
}
