import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameReader, framePrefix, LONGEST_MESSAGE } from "./frames.ts";
import { dataHeader, decodePacket, encodePacket, type TunnelPacket } from "./packets.ts";
import { PacketSchema, PacketType } from "./protocol.generated.ts";

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

  test("that are compressed or too long break the protocol", () => {
    expect(() => new FrameReader().push(Buffer.from([1, 0, 0, 0, 1]))).toThrow(/compressed/);
    expect(() => new FrameReader().push(framePrefix(LONGEST_MESSAGE + 1))).toThrow(/more than 4194304/);
  });
});
