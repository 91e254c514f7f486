/** What HTTP/1.1 asks of a proxy, and a member sees of it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DataPathListener } from "../interface.ts";
import { at, textAt } from "../kernel/json.ts";
import { startClient, type Client } from "../testing-client.ts";
import { asksForSwitch } from "./http-messages.ts";

let cloud: Client;
let place: { host: string; port: number };
let impatient: { host: string; port: number };
/** What the member does with the next requests. */
let serve: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => void response.end("ok");
const member = createServer((request, response) => serve(request, response));
member.on("checkContinue", (request, response) => serve(request, response));
member.on("upgrade", (_, socket) => {
  socket.on("error", () => {});
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
});

beforeAll(async () => {
  cloud = await startClient({ dataPath: true });
  await new Promise<void>((done) => void member.listen(0, "127.0.0.1", done));
  const post = async (path: string, body: unknown): Promise<string> =>
    textAt(Object.values((await cloud.call("POST", path, body)).body as object)[0], "id") ?? "";
  const network_id = await post("/network/v2.0/networks", { network: { name: "n" } });
  const vip_subnet_id = await post("/network/v2.0/subnets", {
    subnet: { network_id, ip_version: 4, cidr: "10.201.78.0/24" },
  });
  cloud.simulator.dataPath?.setMembers({ "10.201.78.11:80": `127.0.0.1:${(member.address() as AddressInfo).port}` });
  const members = [{ address: "10.201.78.11", protocol_port: 80 }];
  const pool = { name: "p", protocol: "HTTP", lb_algorithm: "ROUND_ROBIN", members };
  const listeners = [
    { protocol: "HTTP", protocol_port: 80, default_pool: { name: "p" } },
    { protocol: "HTTP", protocol_port: 81, default_pool: { name: "p" }, timeout_client_data: 200 },
  ];
  const loadbalancer = { vip_subnet_id, provider: "amphora", listeners, pools: [pool] };
  await post("/load-balancer/v2/lbaas/loadbalancers", { loadbalancer });
  const rows = async (): Promise<DataPathListener[]> =>
    at((await cloud.call("GET", "/_control/data-path")).body, "listeners") as DataPathListener[];
  while ((await rows()).filter((row) => row.at !== null).length < 2) await new Promise((done) => setTimeout(done, 10));
  const placeOf = async (port: number) => {
    const [host = "", local] = ((await rows()).find((row) => row.port === port)?.at ?? "").split(":");
    return { host, port: Number(local) };
  };
  [place, impatient] = [await placeOf(80), await placeOf(81)];
});
afterAll(async () => {
  await cloud.simulator.close();
  member.closeAllConnections();
  member.close();
});

/** A connection of a client, and all that it has received. */
class Wire {
  readonly socket: Socket;
  text = "";
  closed = false;

  constructor(to = place) {
    this.socket = connect(to);
    this.socket.setNoDelay(true);
    this.socket.on("data", (chunk: Buffer) => (this.text += chunk.toString("latin1")));
    this.socket.on("close", () => (this.closed = true));
    this.socket.on("error", () => {});
  }

  send(...lines: string[]): void {
    this.socket.write(lines.join("\r\n"));
  }

  async until(pattern: RegExp): Promise<string> {
    await expect.poll(() => this.text).toMatch(pattern);
    return this.text;
  }
}

/** The next request of the member with its whole body, to which it responds with "got METHOD". */
async function received(): Promise<{ request: IncomingMessage; body: string }> {
  const request = await new Promise<IncomingMessage>((done) => {
    serve = (next, response) => {
      next.once("end", () => response.end(`got ${next.method}`));
      done(next);
    };
  });
  return { request, body: await textOf(request) };
}

test.each(["DELETE", "GET", "OPTIONS", "POST"])(
  "a %s with a chunked body keeps its body, trailers and end",
  async (method) => {
    const wire = new Wire();
    const first = received();
    wire.send(
      `${method} /x HTTP/1.1`,
      "Host: a",
      "Transfer-Encoding: chunked",
      "Trailer: X-Sum",
      "",
      "5",
      "hello",
      "0",
      "X-Sum: 7",
      "",
      "",
    );
    const { request, body } = await first;
    expect([request.method, body, request.trailers["x-sum"]]).toEqual([method, "hello", "7"]);
    await wire.until(new RegExp(`got ${method}`));
    // What follows is a request of its own.
    const second = received();
    wire.send("GET /next HTTP/1.1", "Host: a", "", "");
    expect((await second).request.url).toBe("/next");
    wire.socket.destroy();
  },
);

test("a DELETE with a length keeps its body", async () => {
  const wire = new Wire();
  const next = received();
  wire.send("DELETE /x HTTP/1.1", "Host: a", "Content-Length: 5", "", "hello");
  expect((await next).body).toBe("hello");
  wire.socket.destroy();
});

test("a request with a length and chunks is refused, so that none can be hidden in another", async () => {
  const wire = new Wire();
  wire.send("POST / HTTP/1.1", "Host: a", "Content-Length: 5", "Transfer-Encoding: chunked", "", "0", "", "");
  expect(await wire.until(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 400 /);
});

test("headers of one connection are not passed on, either way, and the client's connection remains open", async () => {
  let seen: IncomingMessage["headers"] = {};
  serve = (request, response) => {
    seen = request.headers;
    response.writeHead(200, { connection: "close", "keep-alive": "timeout=1", "x-own": "1", trailer: "x-sum" });
    response.write("part");
    response.addTrailers({ "x-sum": "9" });
    response.end();
  };
  const wire = new Wire();
  wire.send("GET / HTTP/1.1", "Host: a", "Connection: keep-alive", "Keep-Alive: 5", "Proxy-Connection: x", "", "");
  const text = await wire.until(/0\r\nx-sum: 9\r\n\r\n$/);
  expect(text).toMatch(/x-own: 1/);
  expect(text).not.toMatch(/connection: close|timeout=1/i);
  expect(seen).not.toHaveProperty("keep-alive");
  expect(seen).not.toHaveProperty("proxy-connection");
  const next = received();
  wire.send("GET /again HTTP/1.1", "Host: a", "", "");
  expect((await next).request.url).toBe("/again");
  wire.socket.destroy();
});

test("a client that expects 100 Continue gets it from the member, and sends nothing where the member refuses", async () => {
  serve = (request, response) => {
    if (request.url === "/no") return void response.writeHead(413).end("too large");
    response.writeContinue();
    void textOf(request).then((body) => response.end(`got ${body}`));
  };
  const expecting = (path: string) => [
    `PUT ${path} HTTP/1.1`,
    "Host: a",
    "Expect: 100-continue",
    "Content-Length: 4",
    "",
    "",
  ];
  const yes = new Wire();
  yes.send(...expecting("/yes"));
  expect(await yes.until(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  yes.send("body");
  await yes.until(/got body/);
  yes.socket.destroy();
  const no = new Wire();
  no.send(...expecting("/no"));
  await expect.poll(() => no.closed).toBe(true);
  expect(no.text).toMatch(/^HTTP\/1.1 413 /);
  expect(no.text).toMatch(/connection: close/i);
  expect(no.text).not.toContain("100 Continue");
});

test("a request that tries HTTP/2 without TLS is served by HTTP/1.1, with its body", async () => {
  const wire = new Wire();
  const next = received();
  wire.send(
    "POST / HTTP/1.1",
    "Host: a",
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAA",
    "Content-Length: 2",
    "",
    "hi",
  );
  const { request, body } = await next;
  expect([body, request.headers.upgrade, request.headers["http2-settings"]]).toEqual(["hi", undefined, undefined]);
  await wire.until(/got POST/);
  wire.socket.destroy();
});

test.each<[boolean, string[]]>([
  [true, ["Connection", "Upgrade", "Upgrade", "websocket"]],
  [true, ["connection", "keep-alive, Upgrade", "upgrade", "SPDY/3.1", "Content-Length", "0"]],
  [false, ["Connection", "Upgrade", "Upgrade", "h2c"]],
  [false, ["Connection", "Upgrade", "Upgrade", "websocket", "Content-Length", "2"]],
  [false, ["Connection", "Upgrade", "Upgrade", "websocket", "Transfer-Encoding", "chunked"]],
  [false, ["Connection", "keep-alive", "Upgrade", "websocket"]],
  [false, ["Connection", "Upgrade"]],
])("a change of protocol is requested: %s by %o", (expected, raw) => {
  expect(asksForSwitch(raw)).toBe(expected);
});

test("an idle WebSocket ends after the client's time, without a page in it", async () => {
  const wire = new Wire(impatient);
  wire.send("GET /ws HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: websocket", "", "");
  await wire.until(/101 Switching/);
  await expect.poll(() => wire.closed).toBe(true);
  expect(wire.text).not.toContain("408");
});

test("a client that sends its header too slowly gets 408, and one that stops in its body is closed", async () => {
  const slow = new Wire(impatient);
  slow.send("GET / HTTP/1.1", "Host");
  await expect.poll(() => slow.closed).toBe(true);
  expect(slow.text).toMatch(/^HTTP\/1.1 408 /);
  let ended = false;
  serve = (request) => void request.on("close", () => (ended = true));
  const stuck = new Wire(impatient);
  stuck.send("POST / HTTP/1.1", "Host: a", "Content-Length: 100", "", "some");
  await expect.poll(() => stuck.closed).toBe(true);
  await expect.poll(() => ended).toBe(true);
});

test("a body that the member does not read is not read from the client either, and arrives whole in the end", async () => {
  const SIZE = 64 * 1024 * 1024;
  let taken: IncomingMessage | undefined;
  let size = 0;
  serve = (request, response) => {
    taken = request;
    request.pause();
    request.on("end", () => response.end("got all"));
  };
  const wire = new Wire();
  wire.send("PUT /large HTTP/1.1", "Host: a", `Content-Length: ${SIZE}`, "", "");
  const piece = Buffer.alloc(1024 * 1024);
  let sent = 0;
  const feed = (): void => {
    while (sent < SIZE) {
      sent += piece.length;
      if (!wire.socket.write(piece)) return;
    }
  };
  wire.socket.on("drain", feed);
  feed();
  await expect.poll(() => taken !== undefined).toBe(true);
  // Nothing moves any more: buffers of the kernel and of the proxy are full.
  let before = -1;
  await expect.poll(() => [before, (before = sent)][0] === sent, { interval: 300 }).toBe(true);
  expect(sent).toBeLessThan(0.75 * SIZE);
  taken?.on("data", (chunk: Buffer) => (size += chunk.length));
  taken?.resume();
  await wire.until(/got all/);
  expect(size).toBe(SIZE);
  wire.socket.destroy();
});
