import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { afterEach, expect, test, vi } from "vitest";
import { createFront } from "./front.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

/** A server whose targets return what they read and then "end", with what it was requested. */
async function front() {
  const folder = mkdtempSync(join(tmpdir(), "front-"));
  closers.push(() => rmSync(folder, { recursive: true }));
  const requested = { agents: 0, dials: [] as string[] };
  const clock = new VirtualClock();
  const server = createFront({
    async dial({ host, port }, accept) {
      requested.dials.push(`${host}:${port}`);
      const socket = accept();
      socket.on("data", (chunk) => socket.write(chunk)).on("end", () => socket.end("end"));
    },
    agents: () => {
      requested.agents++;
      return { agents: 1, since: "2026-01-01T00:00:00.000Z" };
    },
    clock,
    log: silentLog,
    onConnections: () => {},
  });
  const path = join(folder, "a.sock");
  await new Promise<void>((done) => server.listen(path, done));
  closers.push(() => server.close());
  /** Sends the pieces, one after the other, over a connection of its own. */
  const begin = async (...pieces: string[]) => {
    const socket = connect({ path, allowHalfOpen: true });
    const received = text(socket);
    for (const piece of pieces) {
      socket.write(piece, "latin1");
      await new Promise((done) => setImmediate(done));
    }
    return { socket, received };
  };
  return { begin, clock, requested, path };
}

/** What a connection that sends these pieces receives until its end, and what the server was requested. */
async function send(...pieces: string[]) {
  const { begin, requested } = await front();
  const { socket, received } = await begin(...pieces);
  socket.end();
  return { received: await received, ...requested };
}

test.for(["/ProxyService/Proxy", "/Other/Call"])(
  "a connection of HTTP/2 whose call of %s neither dials nor ends is ended after 30 s",
  async (method) => {
    const { path, clock } = await front();
    const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
    closers.push(() => session.destroy());
    const call = session.request({ ":method": "POST", ":path": method, "content-type": "application/grpc" });
    call.on("error", () => {}).resume();
    await once(call, "response");
    const closed = once(session, "close");
    await clock.advance(29_999);
    expect(session.closed).toBe(false);
    await clock.advance(1);
    await closed;
  },
);

const GET = "GET /agents HTTP/1.1\r\nHost: a\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
const CONNECT = "CONNECT 192.0.2.1:1 HTTP/1.1\r\nHost: a\r\n\r\n";
const DIALLED = "HTTP/1.1 200 Connection Established\r\n\r\n";

test.for<[title: string, bytes: string, agents: number, status: string]>([
  ["200 requests for agents at once are one response, and one search for the tenant", GET.repeat(200), 1, "200"],
  ["a request for agents after a refused one is not served", POST + GET, 0, "405"],
  ["CONNECT after another request on the connection is not served", GET + CONNECT, 1, "200"],
])("%s", async ([, bytes, agents, status]) => {
  const { received, ...requested } = await send(bytes);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
  expect(requested).toEqual({ agents, dials: [] });
});

test.for<[title: string, pieces: string[], received: string, dials: string[]]>([
  ["CONNECT in one piece", [CONNECT], `${DIALLED}end`, ["192.0.2.1:1"]],
  ["CONNECT with bytes behind it", [`${CONNECT}early`], `${DIALLED}earlyend`, ["192.0.2.1:1"]],
  [
    "CONNECT in pieces",
    [CONNECT.slice(0, 3), CONNECT.slice(3, 40), `${CONNECT.slice(40)}early`],
    `${DIALLED}earlyend`,
    ["192.0.2.1:1"],
  ],
  ["CONNECT of an IPv6 address without headers", ["CONNECT [::1]:80 HTTP/1.1\r\n\r\n"], `${DIALLED}end`, ["::1:80"]],
  ["CONNECT with a header of 20 KiB", [`CONNECT a:1 HTTP/1.1\r\nA: ${"b".repeat(20_000)}\r\n\r\n`], "", []],
  ["CONNECT with a line that is no header", ["CONNECT a:1 HTTP/1.1\r\nno header\r\n\r\n"], "", []],
  ["no byte", [], "", []],
  ["what is no HTTP", ["\x16\x03\x01"], "", []],
])("%s is dialled at most once, with what follows", async ([, pieces, wanted, dials]) => {
  const { received, ...requested } = await send(...pieces);
  expect(received).toBe(wanted);
  expect(requested).toEqual({ agents: 0, dials });
});

test("a request that is not there after a minute ends its connection, and no tunnel ends by that", async () => {
  const { begin, clock, requested } = await front();
  const slow = await begin("CONN");
  const silent = await begin();
  const whole = await begin(CONNECT);
  const pieces = await begin(CONNECT.slice(0, 20), CONNECT.slice(20));
  await vi.waitFor(() => expect(requested.dials).toHaveLength(2), { interval: 2 });
  await clock.advance(60_000);
  expect([await slow.received, await silent.received]).toEqual(["", ""]);
  for (const { socket } of [whole, pieces]) socket.end("late");
  expect([await whole.received, await pieces.received]).toEqual([`${DIALLED}lateend`, `${DIALLED}lateend`]);
});
