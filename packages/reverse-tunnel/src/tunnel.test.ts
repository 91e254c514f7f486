import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { json } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import type { Socket } from "node:net";
import { issueCertificate, silentLog, systemClock, type KeyPair, type Log } from "@causeway/foundation";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { greetingFrame } from "./protocol/greeting.ts";
import { KIND, PLAIN_PROTOCOL, plainFrame } from "./protocol/plain-codec.ts";
import { agents, dial, readAll, Stage, YEAR } from "./testing/stage.ts";

const clock = systemClock;
const stage = new Stage();

describe.each([
  ["plain frames", false],
  ["gRPC", true],
])("a server and an agent of this package, with %s,", (_protocol, isGrpc) => {
  beforeEach(() => {
    stage.grpcOnly = isGrpc;
  });

  test("carry bytes both ways, and the end of each way on its own", async () => {
    const port = await stage.target((socket) => {
      let size = 0;
      socket.on("data", (chunk: Buffer) => (size += chunk.length)).on("end", () => socket.end(`read ${size}`));
    });
    const server = await stage.serve();
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const { line, socket } = await dial(stage.unix("a"), `127.0.0.1:${port}`);
    expect(line).toBe("HTTP/1.1 200 Connection Established");
    socket.write(Buffer.alloc(3_000_000));
    socket.end();
    // The target answers only after the end of what it reads.
    expect((await readAll(socket)).toString()).toBe("read 3000000");
    await vi.waitFor(() => expect(server.status("a").streams).toBe(0), { timeout: 10_000, interval: 5 });
  });

  test("serve API servers with a certificate of the tenant over TCP, and refuse others", async () => {
    const port = await stage.target((socket) => socket.end("hello"));
    const server = await stage.serve();
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const over = async (authority: KeyPair | undefined): Promise<{ line: string; socket: Socket }> => {
      const own =
        authority && (await issueCertificate(authority, { commonName: "kas", usages: ["client"], lifetime: YEAR }));
      const socket = connectTls({
        host: "127.0.0.1",
        port: server.serverPort ?? 0,
        ca: stage.authorities.serving.certificate,
        ...(own && { cert: own.certificate, key: own.key }),
      });
      socket.on("error", () => {});
      return dial(socket, `127.0.0.1:${port}`);
    };
    const { line, socket } = await over(stage.authorities.a);
    expect(line).toMatch(/ 200 /);
    expect((await readAll(socket)).toString()).toBe("hello");
    expect((await over(stage.authorities.b)).line).toMatch(/^HTTP\/1.1 503 no agent of tenant b is connected since 2/);
    expect((await over(stage.authorities.serving)).line).toMatch(/ 403 the certificate is of no tenant/);
    expect((await over(undefined)).line).toMatch(/ 403 the certificate is of no tenant/);
  });

  test("report how many agents a tenant has, and since when, to those with a certificate of it", async () => {
    const server = await stage.serve();
    const report = async (
      authority: KeyPair,
    ): Promise<{ status: number | undefined; body: Record<string, unknown> }> => {
      const own = await issueCertificate(authority, { commonName: "kas", usages: ["client"], lifetime: YEAR });
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const tls = { ca: stage.authorities.serving.certificate, cert: own.certificate, key: own.key };
        const request = get({ host: "127.0.0.1", port: server.serverPort, path: "/agents", agent: false, ...tls });
        request.once("response", resolve).once("error", reject);
      });
      return { status: response.statusCode, body: (await json(response)) as Record<string, unknown> };
    };
    const before = clock.now();
    expect((await report(stage.authorities.a)).body).toMatchObject({ agents: 0 });
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const { status, body } = await report(stage.authorities.a);
    expect([status, body["agents"]]).toEqual([200, 1]);
    expect(Date.parse(String(body["since"]))).toBeGreaterThanOrEqual(before);
    expect((await report(stage.authorities.b)).body).toMatchObject({ agents: 0 });
    expect(await report(stage.authorities.serving)).toMatchObject({ status: 403 });
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
    const server = await stage.serve();
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    for (const [title, address, line] of refused) {
      expect((await dial(stage.unix("a"), address)).line, title).toMatch(line);
    }
  });

  test("report the agent's reason when the target refuses the connection", async () => {
    const server = await stage.serve();
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const { line } = await dial(stage.unix("a"), "127.0.0.1:1");
    expect(line).toBe("HTTP/1.1 502 dial tcp 127.0.0.1:1: connect: connection refused");
  });

  test("keep tenants apart: an agent with another tenant's certificate gets no dial of this tenant", async () => {
    const server = await stage.serve();
    await stage.agentOf(server, stage.authorities.b);
    await agents(server, "b", 1);
    expect(server.status("a").agents).toBe(0);
    expect((await dial(stage.unix("a"), "127.0.0.1:1")).line).toMatch(/ 503 no agent of tenant a is connected since/);
  });

  test("end the streams of an agent that is lost, and dial through its next connection", async () => {
    const port = await stage.target((socket) => void socket.write("hello"));
    const server = await stage.serve({ agentWait: 60_000 });
    const first = await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const { socket } = await dial(stage.unix("a"), `127.0.0.1:${port}`);
    const received = once(socket, "data");
    socket.resume();
    // Bytes that an agent had not sent when it was lost are lost with it.
    expect(String((await received)[0])).toBe("hello");
    socket.pause();
    await first.close();
    expect(String(await readAll(socket).catch(() => ""))).toBe("");
    // The dial waits for the agent.
    const later = dial(stage.unix("a"), `127.0.0.1:${port}`);
    await stage.agentOf(server, stage.authorities.a);
    expect((await later).line).toMatch(/ 200 /);
  });

  test("drain: open streams end by themselves, and new dials are refused", async () => {
    const port = await stage.target((socket) => void socket.pipe(socket));
    const server = await stage.serve();
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const { socket } = await dial(stage.unix("a"), `127.0.0.1:${port}`);
    const over = new AbortController();
    const drained = server.drain(over.signal);
    expect((await dial(stage.unix("a"), `127.0.0.1:${port}`)).line).toMatch(/ 503 this server of the tunnel drains/);
    socket.end("last words");
    expect((await readAll(socket)).toString()).toBe("last words");
    await drained;
    expect(server.status("a").streams).toBe(0);
  });

  test("hold what a stalled reader does not take, without holding up others", async () => {
    let sent = 0;
    const port = await stage.target((socket) => {
      const fill = (): void => {
        while (!socket.destroyed && sent < 64_000_000 && socket.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      socket.once("data", (first) => {
        if (first.toString() === "echo") return void socket.end("quick");
        socket.on("drain", fill);
        fill();
      });
    });
    const server = await stage.serve();
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const stalled = await dial(stage.unix("a"), `127.0.0.1:${port}`);
    stalled.socket.write("flood");
    const count = async (): Promise<number> => {
      for (let before = -1; before !== sent;) {
        before = sent;
        const { socket } = await dial(stage.unix("a"), `127.0.0.1:${port}`);
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
    const port = await stage.target((socket) => void socket.pipe(socket));
    const server = await stage.serve({ tenants: [stage.tenant("a", stage.authorities.a, { maxStreams: 1 })] });
    await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const { socket } = await dial(stage.unix("a"), `127.0.0.1:${port}`);
    expect((await dial(stage.unix("a"), `127.0.0.1:${port}`)).line).toMatch(
      / 503 tenant a has 1 open streams, its limit/,
    );
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
      stage.tenant(name, stage.authorities.a, {
        agentAuthorities: [],
        serverNames: [`${name}.example`],
        reviewToken: review(name),
      }),
    );
    const named = await issueCertificate(stage.authorities.serving, {
      commonName: "gateway",
      dnsNames: ["a.example", "b.example", "localhost"],
      usages: ["server"],
      lifetime: YEAR,
    });
    const server = await stage.serve({ tenants, agents: { host: "127.0.0.1", port: 0, certificate: named } });
    const tls = { ca: stage.authorities.serving.certificate };
    await stage.agentOf(server, stage.authorities.b, { host: "localhost", tls, token: "token-of-a" });
    await vi.waitFor(() => expect(server.status("a").agents + server.status("b").agents).toBe(0));
    expect(reviewed).toEqual([]);
    await stage.agentOf(server, stage.authorities.b, { tls: { ...tls, servername: "b.example" }, token: "token-of-a" });
    await vi.waitFor(() => expect(reviewed).toContain("b token-of-a"), { timeout: 10_000, interval: 5 });
    await stage.agentOf(server, stage.authorities.b, { tls: { ...tls, servername: "a.example" }, token: "token-of-a" });
    await agents(server, "a", 1);
    expect(server.status("b").agents).toBe(0);
  });
});

describe("a client that begins with plain frames", () => {
  const greeted = async (first: Buffer): Promise<Buffer> => {
    const server = await stage.serve();
    const own = await issueCertificate(stage.authorities.a, {
      commonName: "agent",
      usages: ["client"],
      lifetime: YEAR,
    });
    const socket = connectTls({
      host: "127.0.0.1",
      port: server.agentPort,
      ca: stage.authorities.serving.certificate,
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
  const server = await stage.serve({ keepalive: 50, log });
  const own = await issueCertificate(stage.authorities.a, { commonName: "agent", usages: ["client"], lifetime: YEAR });
  const socket = connectTls({
    host: "127.0.0.1",
    port: server.agentPort,
    ca: stage.authorities.serving.certificate,
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
  expect(reasons).toContain("the peer did not respond to a ping");
});
