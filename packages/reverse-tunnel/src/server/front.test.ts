import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { silentLog } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import { createFront } from "./front.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

/** What a connection that sends these bytes receives until its end, and what the server was requested. */
async function send(bytes: string) {
  const folder = mkdtempSync(join(tmpdir(), "front-"));
  closers.push(() => rmSync(folder, { recursive: true }));
  const requested = { agents: 0, dials: 0 };
  const server = createFront({
    dial: async () => void requested.dials++,
    agents: () => {
      requested.agents++;
      return { agents: 1, since: "2026-01-01T00:00:00.000Z" };
    },
    log: silentLog,
    onConnections: () => {},
  });
  const path = join(folder, "a.sock");
  await new Promise<void>((done) => server.listen(path, done));
  closers.push(() => server.close());
  const socket = connect(path);
  socket.write(bytes);
  return { received: await text(socket), ...requested };
}

const GET = "GET /agents HTTP/1.1\r\nHost: a\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
const CONNECT = "CONNECT 192.0.2.1:1 HTTP/1.1\r\nHost: a\r\n\r\n";

test.for<[title: string, bytes: string, agents: number, status: string]>([
  ["200 requests for agents at once are one response, and one search for the tenant", GET.repeat(200), 1, "200"],
  ["a request for agents after a refused one is not served", POST + GET, 0, "405"],
  ["CONNECT after another request on the connection is not served", GET + CONNECT, 1, "200"],
])("%s", async ([, bytes, agents, status]) => {
  const { received, ...requested } = await send(bytes);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
  expect(requested).toEqual({ agents, dials: 0 });
});
