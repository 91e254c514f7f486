import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { FrameReader, framePrefix, LONGEST_MESSAGE } from "./frames.ts";
import { dataHeader, decodePacket, encodePacket, type TunnelPacket } from "./packets.ts";
import { PacketSchema, PacketType } from "./protocol.generated.ts";

/** What the generated code calls the content of a packet. */
const CASES = {
  dial: "dialRequest",
  dialled: "dialResponse",
  "cancel-dial": "closeDial",
  data: "data",
  close: "closeRequest",
  closed: "closeResponse",
  window: "window",
  end: "end",
  drain: "drain",
} as const;

describe("packets of the konnectivity protocol", () => {
  const packets: Exclude<TunnelPacket, { type: "data" }>[] = [
    { type: "dial", random: 2n ** 62n, protocol: "tcp", address: "10.0.0.1:10250" },
    { type: "dialled", random: 7n, id: 3n, error: "" },
    { type: "dialled", random: 7n, id: 0n, error: "refused" },
    { type: "cancel-dial", random: 7n },
    { type: "close", id: 3n },
    { type: "closed", id: 3n, error: "" },
    { type: "window", id: 3n, bytes: 131_072 },
    { type: "end", id: 3n },
    { type: "drain" },
  ];
  test.each(packets)("are read as they were written: $type", (packet) => {
    expect(decodePacket(encodePacket(packet))).toEqual(packet);
  });

  const int = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(0n, 127n, 128n, 2n ** 28n, 2n ** 31n, 2n ** 32n),
  );
  const text = fc.string({ unit: "grapheme" });
  const bytes = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  const anyPacket = fc.oneof(
    fc.record({ type: fc.constant("dial" as const), random: int, protocol: text, address: text }),
    fc.record({ type: fc.constant("dialled" as const), random: int, id: int, error: text }),
    fc.record({ type: fc.constant("cancel-dial" as const), random: int }),
    fc.record({ type: fc.constantFrom("close" as const, "end" as const), id: int }),
    fc.record({ type: fc.constant("closed" as const), id: int, error: text }),
    fc.record({ type: fc.constant("window" as const), id: int, bytes }),
    fc.constant({ type: "drain" as const }),
  );

  test("are written as the generated code writes them, and read as it reads them", () => {
    fc.assert(
      fc.property(anyPacket, (packet) => {
        const ours = encodePacket(packet);
        const read = fromBinary(PacketSchema, ours);
        expect(Buffer.from(toBinary(PacketSchema, read)).equals(ours)).toBe(true);
        expect(read.payload.case).toBe(CASES[packet.type]);
        expect(decodePacket(ours)).toEqual(packet);
      }),
      { numRuns: 200 },
    );
  });

  test("with unknown fields, or in parts, are read as the generated code reads them", () => {
    const unknown = fc.constantFrom(
      [0x78, 0x05],
      [0x79, 1, 2, 3, 4, 5, 6, 7, 8],
      [0x7d, 1, 2, 3, 4],
      [0x7a, 1, 9],
      [0x7b, 0x08, 0x01, 0x7c],
    );
    const parts = fc.array(
      fc.oneof(
        unknown,
        anyPacket.map((packet) => [...encodePacket(packet)]),
      ),
    );
    fc.assert(
      fc.property(parts, (all) => {
        const message = Uint8Array.from(all.flat());
        const { payload } = fromBinary(PacketSchema, message);
        const read = decodePacket(message);
        expect(read && CASES[read.type]).toBe(payload.case);
        if (read && payload.case !== undefined)
          expect(decodePacket(toBinary(PacketSchema, create(PacketSchema, { payload })))).toEqual(read);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ["a field without its value", [0x08]],
    ["content that is not there", [0x12, 5, 1]],
    ["a field without a number", [0x02, 0]],
    ["a number of eleven bytes", [0x08, ...Array.from({ length: 10 }, () => 0x80), 1]],
    ["a size of more than 32 bits", [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ["an end of a group that did not begin", [0x7c]],
    ["a group without an end", [0x7b]],
    ["groups in a thousand groups", Array.from({ length: 1_000 }, () => 0x7b)],
    ["an unknown way to write a field", [0x7e]],
  ])("break the protocol by %s", (_title, message) => {
    expect(() => decodePacket(Uint8Array.from(message))).toThrow(
      expect.objectContaining({ code: "TUNNEL_PROTOCOL_ERROR" }),
    );
  });

  test("carry data as the generated code writes it", () => {
    const sizes = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(16_383, 16_384, 65_536));
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 40n }), sizes, (id, size) => {
        const data = new Uint8Array(size).fill(7);
        const packet = { type: PacketType.DATA, payload: { case: "data", value: { connectID: id, data } } } as const;
        const ours = Buffer.concat([dataHeader(id, size), data]);
        const whole = toBinary(PacketSchema, create(PacketSchema, packet));
        // proto3 leaves out an empty field, which readers do not distinguish.
        if (size > 0) expect(ours.equals(whole)).toBe(true);
        const read = decodePacket(ours);
        expect(read).toMatchObject({ type: "data", id });
        if (read?.type === "data") expect(Buffer.compare(read.data, data)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  test("are ignored when they are of a later version", () => {
    expect(decodePacket(Uint8Array.from([0x08, 0x63]))).toBeUndefined();
  });
});

describe("messages of gRPC", () => {
  const framed = (text: string): Buffer => Buffer.concat([framePrefix(text.length), Buffer.from(text)]);

  test("are found however they are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme-ascii" })), fc.array(fc.nat(40)), (texts, cuts) => {
        const reader = new FrameReader();
        let rest = Buffer.concat(texts.map(framed));
        const read: string[] = [];
        for (const cut of [...cuts, rest.length]) {
          read.push(...reader.push(rest.subarray(0, cut)).map(String));
          rest = rest.subarray(cut);
        }
        read.push(...reader.push(rest).map(String));
        expect(read).toEqual(texts);
      }),
      { numRuns: 100 },
    );
  });

  test("that come in single bytes are kept in few buffers", () => {
    const joined = vi.spyOn(Buffer, "concat");
    const reader = new FrameReader();
    const text = "x".repeat(10_000);
    const messages = [...framed(text)].flatMap((byte) => reader.push(Buffer.from([byte])));
    const most = Math.max(...joined.mock.calls.map(([buffers]) => buffers.length));
    joined.mockRestore();
    expect(messages.map(String)).toEqual([text]);
    expect(most).toBeLessThan(20);
  });

  test("that are compressed or too long break the protocol", () => {
    expect(() => new FrameReader().push(Buffer.from([1, 0, 0, 0, 1]))).toThrow(/compressed/);
    expect(() => new FrameReader().push(framePrefix(LONGEST_MESSAGE + 1))).toThrow(/more than 4194304/);
  });
});
