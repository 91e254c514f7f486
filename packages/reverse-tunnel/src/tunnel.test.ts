import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import {
  createAuthority,
  createMetrics,
  issueCertificate,
  parseCidr,
  silentLog,
  systemClock,
  type KeyPair,
  type Log,
  type DialRules,
} from "@causeway/foundation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startTunnelAgent, type TunnelAgent } from "./agent/agent.ts";
import type { CallOptions } from "./agent/call.ts";
import { greetingFrame } from "./protocol/greeting.ts";
import { KIND, PLAIN_PROTOCOL, plainFrame } from "./protocol/plain-codec.ts";
import { startTunnelServer, type TunnelServer } from "./server/server.ts";
import type { TunnelTenant } from "./tenants/tenants.ts";

const clock = systemClock;
const local = parseCidr("127.0.0.1/32");
const rules: DialRules = { allow: local ? [local] : [], deny: [], names: [] };
const year = 365 * 86_400_000;

let folder: string;
/** Whether agents offer gRPC alone. */
let grpcOnly = false;
let authorities: { a: KeyPair; b: KeyPair; serving: KeyPair };
let certificate: KeyPair;
const closers: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tunnel-"));
  // Both tenants' authorities have one name, as kubeadm's have.
  const [a, b, serving] = await Promise.all(
    [1, 2, 3].map(() => createAuthority({ commonName: "kubernetes", lifetime: year })),
  );
  if (!a || !b || !serving) throw new Error("no authority");
  authorities = { a, b, serving };
  const ipAddresses = ["127.0.0.1"];
  certificate = await issueCertificate(serving, {
    commonName: "gateway",
    ipAddresses,
    usages: ["server"],
    lifetime: year,
  });
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function tenant(name: string, authority: KeyPair, more: Partial<TunnelTenant> = {}): TunnelTenant {
  return {
    name,
    udsName: join(folder, `${name}.sock`),
    serverAuthorities: [authority.certificate],
    agentAuthorities: [authority.certificate],
    serverNames: [],
    rules,
    maxStreams: 300,
    ...more,
  };
}

async function serve(more: Partial<Parameters<typeof startTunnelServer>[0]> = {}): Promise<TunnelServer> {
  const { a, b } = authorities;
  const server = await startTunnelServer({
    serverId: "one",
    serverCount: 1,
    tenants: [tenant("a", a), tenant("b", b)],
    agents: { host: "127.0.0.1", port: 0, certificate },
    servers: { host: "127.0.0.1", port: 0, certificate },
    agentWait: 300,
    metrics: createMetrics(),
    clock,
    log: silentLog,
    ...more,
  });
  closers.push(() => server.close());
  return server;
}

async function agentOf(
  server: TunnelServer,
  authority: KeyPair,
  more: Partial<CallOptions> = {},
): Promise<TunnelAgent> {
  const own = await issueCertificate(authority, { commonName: "agent", usages: ["client"], lifetime: year });
  const target = (): CallOptions => ({
    host: "127.0.0.1",
    port: server.agentPort,
    tls: { ca: authorities.serving.certificate, cert: own.certificate, key: own.key },
    agentId: "node-1",
    agentIdentifiers: "",
    keepalive: 30_000,
    grpcOnly,
    ...more,
  });
  const agent = startTunnelAgent({ target, rules, syncInterval: 50, metrics: createMetrics(), clock, log: silentLog });
  closers.push(() => agent.close());
  return agent;
}

const agents = (server: TunnelServer, name: string, count: number): Promise<void> =>
  vi.waitFor(() => expect(server.status(name).agents).toBe(count), { timeout: 10_000, interval: 5 });

/** A TCP server that handles each connection. */
async function target(handle: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The status line of a CONNECT, and the socket. */
async function dial(through: Socket, host: string): Promise<{ line: string; socket: Socket }> {
  through.write(`CONNECT ${host} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  let head = "";
  for (;;) {
    const chunk = await new Promise<Buffer | undefined>((resolve) => {
      through.once("data", resolve);
      through.once("close", () => resolve(undefined));
    });
    if (!chunk) break;
    through.pause();
    head += chunk.toString("latin1");
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const rest = head.slice(end + 4);
    if (rest !== "") through.unshift(Buffer.from(rest, "latin1"));
    break;
  }
  return { line: head.split("\r\n")[0] ?? "", socket: through };
}
const unix = (name: string): Socket => connect({ path: join(folder, `${name}.sock`), allowHalfOpen: true });

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe.each([
  ["plain frames", false],
  ["gRPC", true],
])("a server and an agent of this package, with %s,", (_protocol, isGrpc) => {
  beforeEach(() => {
    grpcOnly = isGrpc;
  });

  test("carry bytes both ways, and the end of each way on its own", async () => {
    const port = await target((socket) => {
      let size = 0;
      socket.on("data", (chunk: Buffer) => (size += chunk.length)).on("end", () => socket.end(`read ${size}`));
    });
    const server = await serve();
    await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    const { line, socket } = await dial(unix("a"), `127.0.0.1:${port}`);
    expect(line).toBe("HTTP/1.1 200 Connection Established");
    socket.write(Buffer.alloc(3_000_000));
    socket.end();
    // The target answers only after the end of what it reads.
    expect((await readAll(socket)).toString()).toBe("read 3000000");
    await vi.waitFor(() => expect(server.status("a").streams).toBe(0), { timeout: 10_000, interval: 5 });
  });

  test("serve API servers with a certificate of the tenant over TCP, and refuse others", async () => {
    const port = await target((socket) => socket.end("hello"));
    const server = await serve();
    await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    const over = async (authority: KeyPair | undefined): Promise<{ line: string; socket: Socket }> => {
      const own =
        authority && (await issueCertificate(authority, { commonName: "kas", usages: ["client"], lifetime: year }));
      const socket = connectTls({
        host: "127.0.0.1",
        port: server.serverPort ?? 0,
        ca: authorities.serving.certificate,
        ...(own && { cert: own.certificate, key: own.key }),
      });
      socket.on("error", () => {});
      return dial(socket, `127.0.0.1:${port}`);
    };
    const { line, socket } = await over(authorities.a);
    expect(line).toMatch(/ 200 /);
    expect((await readAll(socket)).toString()).toBe("hello");
    expect((await over(authorities.b)).line).toMatch(/^HTTP\/1.1 503 no agent of tenant b is connected since 2/);
    expect((await over(authorities.serving)).line).toMatch(/ 403 the certificate is of no tenant/);
    expect((await over(undefined)).line).toMatch(/ 403 the certificate is of no tenant/);
  });

  const refused: [title: string, address: string, line: RegExp][] = [
    ["an address outside the tenant's networks", "10.0.0.1:443", / 403 10.0.0.1 is in no allowed network/],
    ["the metadata service", "169.254.169.254:80", / 403 169.254.169.254 is a link-local address/],
    ["a mapped form of an address", "[::ffff:169.254.169.254]:80", / 403 169.254.169.254 is a link-local/],
    ["another loopback address", "127.0.0.2:80", / 403 127.0.0.2 is a loopback address/],
    ["a number that resolvers read as an address", "2130706433:80", / 403 "2130706433" is neither an address/],
    ["what is no target", "nonsense", / 400 the target of CONNECT/],
  ];
  test("refuse what the tenant's rules do not allow", async () => {
    const server = await serve();
    await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    for (const [title, address, line] of refused) {
      expect((await dial(unix("a"), address)).line, title).toMatch(line);
    }
  });

  test("report the agent's reason when the target refuses the connection", async () => {
    const server = await serve();
    await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    const { line } = await dial(unix("a"), "127.0.0.1:1");
    expect(line).toBe("HTTP/1.1 502 dial tcp 127.0.0.1:1: connect: connection refused");
  });

  test("keep tenants apart: an agent with another tenant's certificate gets no dial of this tenant", async () => {
    const server = await serve();
    await agentOf(server, authorities.b);
    await agents(server, "b", 1);
    expect(server.status("a").agents).toBe(0);
    expect((await dial(unix("a"), "127.0.0.1:1")).line).toMatch(/ 503 no agent of tenant a is connected since/);
  });

  test("end the streams of an agent that is lost, and dial through its next connection", async () => {
    const port = await target((socket) => void socket.write("hello"));
    const server = await serve();
    const first = await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    const { socket } = await dial(unix("a"), `127.0.0.1:${port}`);
    await first.close();
    expect((await readAll(socket).catch(() => Buffer.from("hello"))).toString()).toBe("hello");
    // The dial waits for the agent.
    const later = dial(unix("a"), `127.0.0.1:${port}`);
    await agentOf(server, authorities.a);
    expect((await later).line).toMatch(/ 200 /);
  });

  test("drain: open streams end by themselves, and new dials are refused", async () => {
    const port = await target((socket) => void socket.pipe(socket));
    const server = await serve();
    await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    const { socket } = await dial(unix("a"), `127.0.0.1:${port}`);
    const over = new AbortController();
    const drained = server.drain(over.signal);
    expect((await dial(unix("a"), `127.0.0.1:${port}`)).line).toMatch(/ 503 this server of the tunnel drains/);
    socket.end("last words");
    expect((await readAll(socket)).toString()).toBe("last words");
    await drained;
    expect(server.status("a").streams).toBe(0);
  });

  test("hold what a stalled reader does not take, without holding up others", async () => {
    let sent = 0;
    const port = await target((socket) => {
      const fill = (): void => {
        while (!socket.destroyed && sent < 64_000_000 && socket.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      socket.once("data", (first) => {
        if (first.toString() === "echo") return void socket.end("quick");
        socket.on("drain", fill);
        fill();
      });
    });
    const server = await serve();
    await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    const stalled = await dial(unix("a"), `127.0.0.1:${port}`);
    stalled.socket.write("flood");
    const count = async (): Promise<number> => {
      for (let before = -1; before !== sent;) {
        before = sent;
        const { socket } = await dial(unix("a"), `127.0.0.1:${port}`);
        socket.write("echo");
        expect((await readAll(socket)).toString()).toBe("quick");
        await clock.sleep(50);
      }
      return sent;
    };
    // The window, and what sockets of the kernel hold on three hops.
    expect(await count()).toBeLessThan(32_000_000);
    expect(server.status("a").streams).toBe(1);
    stalled.socket.destroy();
    await vi.waitFor(() => expect(server.status("a").streams).toBe(0), { timeout: 10_000, interval: 5 });
  });

  test("refuse more streams than the tenant may have", async () => {
    const port = await target((socket) => void socket.pipe(socket));
    const server = await serve({ tenants: [tenant("a", authorities.a, { maxStreams: 1 })] });
    await agentOf(server, authorities.a);
    await agents(server, "a", 1);
    const { socket } = await dial(unix("a"), `127.0.0.1:${port}`);
    expect((await dial(unix("a"), `127.0.0.1:${port}`)).line).toMatch(/ 503 tenant a has 1 open streams, its limit/);
    socket.destroy();
  });

  test("know an agent by the token that the API server of the tenant with that server name reviewed", async () => {
    const reviewed: string[] = [];
    const review = (name: string) => (token: string) => {
      reviewed.push(`${name} ${token}`);
      return Promise.resolve(
        token === `token-of-${name}` ? undefined : "the tenant's API server does not know the token",
      );
    };
    const tenants = ["a", "b"].map((name) =>
      tenant(name, authorities.a, {
        agentAuthorities: [],
        serverNames: [`${name}.example`],
        reviewToken: review(name),
      }),
    );
    const named = await issueCertificate(authorities.serving, {
      commonName: "gateway",
      dnsNames: ["a.example", "b.example", "localhost"],
      usages: ["server"],
      lifetime: year,
    });
    const server = await serve({ tenants, agents: { host: "127.0.0.1", port: 0, certificate: named } });
    const tls = { ca: authorities.serving.certificate };
    await agentOf(server, authorities.b, { host: "localhost", tls, token: "token-of-a" });
    await vi.waitFor(() => expect(server.status("a").agents + server.status("b").agents).toBe(0));
    expect(reviewed).toEqual([]);
    await agentOf(server, authorities.b, { tls: { ...tls, servername: "b.example" }, token: "token-of-a" });
    await vi.waitFor(() => expect(reviewed).toContain("b token-of-a"), { timeout: 10_000, interval: 5 });
    await agentOf(server, authorities.b, { tls: { ...tls, servername: "a.example" }, token: "token-of-a" });
    await agents(server, "a", 1);
    expect(server.status("b").agents).toBe(0);
  });
});

describe("a client that begins with plain frames", () => {
  const greeted = async (first: Buffer): Promise<Buffer> => {
    const server = await serve();
    const own = await issueCertificate(authorities.a, { commonName: "agent", usages: ["client"], lifetime: year });
    const socket = connectTls({
      host: "127.0.0.1",
      port: server.agentPort,
      ca: authorities.serving.certificate,
      cert: own.certificate,
      key: own.key,
      ALPNProtocols: [PLAIN_PROTOCOL],
    });
    socket.on("error", () => {});
    socket.once("secureConnect", () => void socket.write(first));
    return readAll(socket).catch(() => Buffer.alloc(0));
  };
  const content = (answer: Buffer): unknown => JSON.parse(answer.subarray(5).toString());

  test("is refused with a reason when it names no agent", async () => {
    const answer = await greeted(greetingFrame({ agentId: "", identifiers: "", window: 1 }));
    expect(content(answer)).toEqual({ status: 3, refusal: "header agentID has no agent's ID" });
  });

  test.each([
    ["another frame", plainFrame(KIND.ping, new Uint8Array())],
    ["no JSON", plainFrame(KIND.greeting, Buffer.from("{"))],
    ["a list", plainFrame(KIND.greeting, Buffer.from("[]"))],
    ["a greeting that is too long", Buffer.from([KIND.greeting, 1, 0, 0, 0])],
    ["a request of HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
  ])("is disconnected for %s", async (_title, first) => {
    expect((await greeted(first)).length).toBe(0);
  });
});

test("an agent that answers no ping is lost", async () => {
  const reasons: unknown[] = [];
  const log: Log = { ...silentLog, info: (_, fields) => void reasons.push(fields?.["reason"]) };
  const server = await serve({ keepalive: 50, log });
  const own = await issueCertificate(authorities.a, { commonName: "agent", usages: ["client"], lifetime: year });
  const socket = connectTls({
    host: "127.0.0.1",
    port: server.agentPort,
    ca: authorities.serving.certificate,
    cert: own.certificate,
    key: own.key,
    ALPNProtocols: [PLAIN_PROTOCOL],
  });
  socket.on("error", () => {});
  socket.once("secureConnect", () => {
    socket.write(greetingFrame({ agentId: "node-1", identifiers: "", window: 1 }));
  });
  await agents(server, "a", 1);
  socket.resume();
  await agents(server, "a", 0);
  expect(reasons).toContain("it answered no ping");
});
