import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { probe } from "./probe.ts";

const closes: (() => void)[] = [];

afterEach(() => {
  for (const close of closes.splice(0)) close();
});

/** Both ends of a Unix socket, of which the client has sent its last byte. */
async function ended(end: (client: Socket) => void): Promise<Socket> {
  const folder = mkdtempSync(join(tmpdir(), "tunnel-probe-"));
  const path = join(folder, "socket");
  const server = createServer({ allowHalfOpen: true });
  await once(server.listen(path), "listening");
  const client = connect({ path, allowHalfOpen: true });
  const [socket] = (await once(server, "connection")) as [Socket];
  closes.push(() => {
    client.destroy();
    socket.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  end(client);
  await once(socket.resume(), "end");
  return socket;
}

test("a client that closed its Unix socket is gone, which takes no stack trace", async () => {
  const socket = await ended((client) => client.destroy());
  const failed = once(socket, "error") as Promise<[Error]>;
  const { stackTraceLimit } = Error;
  expect(await new Promise((resolve) => probe(socket, resolve))).toBe(true);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  const [{ message, stack }] = await failed;
  expect(message).toContain("EPIPE");
  expect(stack).not.toContain("\n");
});

test("a client that only sends no more is there", async () => {
  const socket = await ended((client) => client.end());
  expect(await new Promise((resolve) => probe(socket, resolve))).toBe(false);
});
