import { Duplex } from "node:stream";
import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { Deadlines } from "./deadlines.ts";
import type { Lane, Outbox } from "./outbox.ts";
import { LIMITS } from "./plan-stream.ts";
import { TunnelStream } from "./stream.ts";

/** A stream whose reader accepts no write whole, and what it does with its connection. */
function stalled({ isShared }: { readonly isShared: boolean }) {
  const clock = new VirtualClock(0);
  const handle = { writeQueueSize: LIMITS.mark };
  // No write ends: only the bytes that the kernel has not accepted become fewer.
  const socket = Object.assign(new Duplex({ read() {}, write() {} }), { _handle: handle });
  const [seen, outbox] = [[] as string[], { wake() {}, send() {} } as unknown as Outbox];
  const stream = new TunnelStream({
    id: 1n,
    socket,
    outbox,
    deadlines: new Deadlines(clock),
    windowed: false,
    credit: 0,
    isShared,
    role: "server",
    streams: () => 1,
    hold: () => void seen.push("hold"),
    release: () => void seen.push("release"),
    onClosed: () => void seen.push("closed"),
  });
  return { stream, clock, handle, seen };
}

test("a reader that is slow within one write holds the connection, and one that reads nothing does not", async () => {
  const { stream, clock, handle, seen } = stalled({ isShared: true });
  stream.handle({ type: "data", id: 1n, data: Buffer.alloc(LIMITS.mark + 1) });
  for (let i = 0; i < 20; i += 1) {
    handle.writeQueueSize -= 1_000;
    await clock.advance(2_000);
  }
  expect(seen).toEqual(["hold"]);
  await clock.advance(2_000);
  expect(seen).toEqual(["hold", "release"]);
  stream.dispatch({ type: "lost" });
});

test("a reader that reads nothing holds a connection that no other stream has, however long", async () => {
  const { stream, clock, seen } = stalled({ isShared: false });
  stream.handle({ type: "data", id: 1n, data: Buffer.alloc(LIMITS.mark + 1) });
  await clock.advance(3_600_000);
  expect(seen).toEqual(["hold"]);
  stream.dispatch({ type: "lost" });
});

/** The types of packets that a server sends when its client sends no more and writes to it end with `failure`. */
async function sentAtEnd(failure: Error | null, role: "server" | "agent" = "server"): Promise<string[]> {
  const sent: string[] = [];
  const wake = ({ items }: Lane): void => {
    for (const item of items.splice(0)) sent.push(Buffer.isBuffer(item) ? "data" : item.type);
  };
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done(failure) });
  const stream = new TunnelStream({
    id: 1n,
    socket,
    outbox: { wake, send() {} } as unknown as Outbox,
    deadlines: new Deadlines(new VirtualClock(0)),
    windowed: true,
    credit: 1_000,
    isShared: true,
    role,
    streams: () => 1,
    hold() {},
    release() {},
    onClosed() {},
  });
  socket.push("last words");
  socket.push(null);
  await new Promise((resolve) => setImmediate(resolve));
  stream.dispatch({ type: "lost" });
  return sent;
}

test("a client that only sends no more has its end passed on after its last bytes", async () => {
  expect(await sentAtEnd(null)).toEqual(["data", "end"]);
});

test("a client that is gone has its stream closed after its last bytes, without an end before", async () => {
  expect(await sentAtEnd(new Error("EPIPE"))).toEqual(["data", "close"]);
});

test("an agent's target that sends no more is not probed", async () => {
  expect(await sentAtEnd(new Error("EPIPE"), "agent")).toEqual(["data", "end"]);
});
