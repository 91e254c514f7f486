import { Duplex } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { plainCodec } from "../protocol/plain-codec.ts";
import { keepAlive } from "./keep-alive.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** A wire whose other side reads when it is let, and what it read. */
function stage() {
  const read: Buffer[] = [];
  const waiting: (() => void)[] = [];
  const wire = Object.assign(
    new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        waiting.push(() => {
          read.push(chunk);
          done();
        });
      },
    }),
    { bytesRead: 0 },
  );
  const errors: string[] = [];
  wire.on("error", ({ message }) => errors.push(message));
  const codec = plainCodec();
  keepAlive({ wire, codec }, 30_000);
  const peer = plainCodec();
  const kinds = (): (number | undefined)[] => read.map((chunk) => (chunk.length > 100 ? undefined : chunk[0]));
  return {
    wire,
    errors,
    kinds,
    arrives: (frame: "ping" | "pong") => codec.read(peer[frame](), () => {}),
    /** Until the other side has all. */
    drains: async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        next();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const [PING, PONG] = [2, 3];

test("pings that come while a stream fills the wire have one response, once it drains", async () => {
  const { wire, kinds, arrives, drains } = stage();
  wire.write(Buffer.alloc(5 * 1024 * 1024));
  for (let i = 0; i < 3; i++) arrives("ping");
  await drains();
  expect(kinds()).toEqual([undefined, PONG]);
  arrives("ping");
  await drains();
  expect(kinds()).toEqual([undefined, PONG, PONG]);
});

test("a peer whose response waits behind its data is there, and one that is silent is not", async () => {
  const { wire, errors, kinds, arrives, drains } = stage();
  vi.advanceTimersByTime(30_000);
  await drains();
  expect(kinds()).toEqual([PING]);
  // Bytes of a stream, and no pong among them.
  wire.bytesRead += 1_000;
  vi.advanceTimersByTime(30_000);
  arrives("pong");
  vi.advanceTimersByTime(30_000);
  await drains();
  expect([errors, wire.destroyed]).toEqual([[], false]);
  vi.advanceTimersByTime(30_000);
  await drains();
  expect(errors).toEqual(["the peer did not respond to a ping"]);
});
