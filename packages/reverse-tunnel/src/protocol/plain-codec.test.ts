import fc from "fast-check";
import { expect, test } from "vitest";
import { greetingFrame, readGreeting } from "./greeting.ts";
import type { TunnelPacket } from "./packets.ts";
import { KIND, plainCodec, plainFrame } from "./plain-codec.ts";
import { PassThrough } from "node:stream";

test("packets, data and pings are read in order, however they are cut", () => {
  const item = fc.oneof(
    fc.record({
      id: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
      data: fc.uint8Array({ minLength: 1, maxLength: 50 }),
    }),
    fc.constantFrom("drain", "ping", "pong", "token"),
  );
  fc.assert(
    fc.property(fc.array(item), fc.array(fc.nat(30)), (items, cuts) => {
      const sender = plainCodec();
      const bytes = items.map((each) => {
        if (each === "drain") return sender.packet({ type: "drain" });
        if (each === "token") return sender.token("token");
        if (typeof each === "string") return each === "ping" ? sender.ping() : sender.pong();
        return Buffer.concat([sender.dataPrefix(each.id, each.data.length), each.data]);
      });
      const seen: (string | { id: bigint; data: Buffer })[] = [];
      const onPacket = (packet: TunnelPacket): void => {
        const last = seen.at(-1);
        if (packet.type !== "data") seen.push(packet.type);
        else if (typeof last === "object" && last.id === packet.id) last.data = Buffer.concat([last.data, packet.data]);
        else seen.push({ id: packet.id, data: Buffer.from(packet.data) });
      };
      const codec = plainCodec();
      codec.onPing = () => seen.push("ping");
      codec.onPong = () => seen.push("pong");
      codec.onToken = (token) => seen.push(token);
      let rest = Buffer.concat(bytes);
      for (const cut of [...cuts, rest.length]) {
        codec.read(rest.subarray(0, cut), onPacket);
        rest = rest.subarray(cut);
      }
      codec.read(rest, onPacket);
      const wanted: typeof seen = [];
      for (const each of items) {
        const last = wanted.at(-1);
        if (typeof each === "string") wanted.push(each);
        else if (typeof last === "object" && last.id === each.id) last.data = Buffer.concat([last.data, each.data]);
        else wanted.push({ id: each.id, data: Buffer.from(each.data) });
      }
      expect(seen).toEqual(wanted);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["an unknown kind", Buffer.from([9])],
  ["a second greeting", plainFrame(KIND.greeting, Buffer.from("{}"))],
  ["data without a stream", Buffer.from([KIND.data, 0, 0, 0, 7])],
  ["data of more than 4 MiB", Buffer.from([KIND.data, 0, 0x40, 0, 9])],
  ["a packet of more than 64 KiB", Buffer.from([KIND.packet, 0, 1, 0, 1])],
])("%s breaks the protocol", (_title, bytes) => {
  expect(() => plainCodec().read(bytes, () => {})).toThrow(expect.objectContaining({ code: "TUNNEL_PROTOCOL_ERROR" }));
});

test("bytes behind a greeting remain in the stream, and a greeting in single bytes is read once", async () => {
  const wire = new PassThrough();
  const greeting = { agentId: "a", identifiers: "", token: "t".repeat(2_000), window: 5 };
  const frame = greetingFrame(greeting);
  const read = readGreeting(wire, new AbortController().signal);
  for (const byte of frame.subarray(0, -1)) wire.write(Buffer.from([byte]));
  wire.write(Buffer.concat([frame.subarray(-1), Buffer.from("rest")]));
  expect(await read).toEqual(greeting);
  expect(wire.read()?.toString()).toBe("rest");
});

test("a greeting is waited for until the signal or the end of the stream", async () => {
  const over = new AbortController();
  const waiting = readGreeting(new PassThrough(), over.signal);
  over.abort(new Error("too late"));
  await expect(waiting).rejects.toThrow("too late");
  const wire = new PassThrough();
  const ended = readGreeting(wire, new AbortController().signal);
  wire.destroy();
  await expect(ended).rejects.toThrow("the connection ended before the greeting");
});
