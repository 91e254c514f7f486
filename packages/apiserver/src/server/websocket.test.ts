import { connect, type TLSSocket } from "node:tls";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { ApiServer } from "../interface.ts";
import { at, records, text, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { eventually, rawClient, type Raw } from "../testing/client.ts";
import { ConnectionPool, defaultLimits } from "./connection-pool.ts";
import { listen } from "./listener.ts";
import { LogLimit } from "./log-limit.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const HANDSHAKE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://x\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const COUNT = 20;
const CLIENTS = 10;
/** Clients that do not read may cost this: without a bound they would hold 200 MB. */
const MOST = 60 * 1024 * 1024;
const TIMEOUT = 60_000;

let server: ApiServer;
let api: Raw;
let identity: { ca: string; cert: string; key: string };
const opened: { destroy(): unknown }[] = [];

beforeAll(async () => {
  server = await startApiServer();
  api = await rawClient(server.management);
  const kubeconfig: unknown = parse(await server.management.kubeconfig());
  const user = records(at(kubeconfig, "users"))[0];
  const pem = (name: string): string => Buffer.from(text(at(user, "user", name)), "base64").toString();
  const ca = server.management.authority.certificate;
  identity = { ca, cert: pem("client-certificate-data"), key: pem("client-key-data") };
  for (let i = 0; i < COUNT; i += 1) {
    const metadata = { name: `m${i}` };
    const body: Json = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "x".repeat(1_000_000) } };
    expect((await api.call("POST", MAPS, body)).code).toBe(201);
  }
}, TIMEOUT);
afterEach(() => {
  for (const one of opened.splice(0)) one.destroy();
});
afterAll(async () => {
  api.close();
  await server.close();
});

/** A client that asks for a watch by WebSocket; it is paused. */
function asked(path: string, url = server.management.url): Promise<TLSSocket> {
  const { port, hostname: host } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ ...identity, host, port: Number(port), rejectUnauthorized: false }, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${HANDSHAKE}\r\n`, () => resolve(socket));
    });
    socket.pause();
    socket.on("error", reject);
    opened.push(socket);
  });
}

/** What the server holds, at the least of a second: what is read meanwhile does not count. */
async function held(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { arrayBuffers, external } = process.memoryUsage();
  return Math.max(arrayBuffers, external);
}

/** A frame of a client, with a mask of zeros. */
function frame(opcode: number, payload: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(payload.length));
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | 127]), length, Buffer.alloc(4), payload]);
}
const short = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);

async function watches(): Promise<number> {
  const metrics = text((await api.call("GET", "/metrics")).body["text"]);
  const line = metrics
    .split("\n")
    .find((l) => l.startsWith("apiserver_longrunning_requests") && l.includes('resource="configmaps"'));
  return Number(line?.split(" ").at(-1) ?? 0);
}

test(
  "WebSocket watches that are never read cost a bounded amount, and end with their connections",
  async () => {
    const before = await held();
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => asked(`${MAPS}?watch=true`)));
    expect((await held()) - before).toBeLessThan(MOST);
    expect(await watches()).toBe(CLIENTS);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => ((await watches()) === 0 ? true : undefined));
  },
  TIMEOUT,
);

test(
  "a client that sends pings and reads nothing costs a bounded amount",
  async () => {
    const socket = await asked(`${MAPS}?watch=true&fieldSelector=metadata.name%3Dnone`);
    socket.once("readable", () => {});
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => short(9, Buffer.alloc(125, 1))));
    const before = await held();
    // 100 MB of pings: the client's kernel takes what the server reads.
    for (let i = 0; i < 800; i += 1) {
      if (!socket.write(pings)) await new Promise((resolve) => socket.once("drain", resolve));
    }
    expect((await held()) - before).toBeLessThan(MOST);
  },
  TIMEOUT,
);

test("a message that is too long ends the connection of its client", async () => {
  const socket = await asked(`${MAPS}?watch=true&fieldSelector=metadata.name%3Dnone`);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume();
  socket.write(frame(2, Buffer.alloc(65 * 1024)));
  await closed;
});

test("a watch by WebSocket outlives the time for bodies and for the next request", async () => {
  const clock = new VirtualClock();
  let served = 0;
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    certificate: server.management.authority,
    handler: (_request, response) => {
      served += 1;
      if ("flushHeaders" in response) response.flushHeaders();
    },
    accepted: () => {},
    steady: clock,
    pool: new ConnectionPool(defaultLimits(), new LogLimit(silentLog, clock)),
    isManagement: true,
  });
  try {
    const socket = await asked("/api/v1/pods?watch=true", `https://127.0.0.1:${listener.port}`);
    socket.resume();
    await eventually(async () => (served === 1 ? true : undefined));
    for (let seconds = 0; seconds < 200; seconds += 20) await clock.advance(20_000);
    expect(socket.destroyed || socket.readableEnded).toBe(false);
  } finally {
    await listener.close();
  }
});
