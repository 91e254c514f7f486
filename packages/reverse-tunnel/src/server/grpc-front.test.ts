import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { issueCertificate, systemClock, type KeyPair } from "@causeway/foundation";
import { describe, expect, test, vi } from "vitest";
import { Connection, type OtherPacket } from "../flow/connection.ts";
import { socketPair } from "../flow/socket-pair.ts";
import { grpcCodec } from "../protocol/grpc-codec.ts";
import { agents, Stage, YEAR } from "../testing/stage.ts";

const stage = new Stage();
const soon = { timeout: 10_000, interval: 5 };

type Answer = Extract<OtherPacket, { type: "dialled" }> & { readonly socket: Duplex };

/** What an API server with proxyProtocol GRPC does: a connection, a call, a dial. */
class ApiServer {
  readonly session: ClientHttp2Session;
  readonly call: ClientHttp2Stream;
  readonly connection: Connection;
  readonly answers: Answer[] = [];

  constructor(socket: Duplex, path = "/ProxyService/Proxy") {
    this.session = connectHttp2("http://localhost", { createConnection: () => socket });
    this.session.on("error", () => {});
    this.call = this.session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    this.call.on("error", () => {});
    stage.closers.push(() => this.session.destroy());
    this.connection = new Connection({
      wire: this.call,
      codec: grpcCodec(),
      role: "server",
      peerWindow: undefined,
      clock: systemClock,
      onPacket: (packet) => {
        if (packet.type !== "dialled") return;
        const [socket, joined] = socketPair();
        if (packet.error === "") this.connection.open(packet.id, joined, () => {});
        this.answers.push({ ...packet, socket });
      },
      onLost: () => {},
    });
  }

  static of(name: string, path?: string): ApiServer {
    return new ApiServer(connect(join(stage.folder, `${name}.sock`)), path);
  }

  dial(address: string, protocol = "tcp"): Promise<Answer> {
    const random = BigInt(this.answers.length + 1);
    this.connection.send({ type: "dial", random, protocol, address });
    return vi.waitFor(() => {
      const found = this.answers.find((each) => each.random === random);
      if (!found) throw new Error("no response");
      return found;
    }, soon);
  }
}

async function served(handle: (socket: Socket) => void) {
  const port = await stage.target(handle);
  const server = await stage.serve();
  await stage.agentOf(server, stage.authorities.a);
  await agents(server, "a", 1);
  const unused = async (): Promise<void> => {
    await vi.waitFor(() => expect(server.status("a").streams).toBe(0), soon);
  };
  return { server, address: `127.0.0.1:${port}`, unused };
}

describe("API servers that speak gRPC", () => {
  test("reach a target, read all that it sends, and see its end", async () => {
    const bytes = randomBytes(3_000_000);
    const { address, unused } = await served((socket) => {
      socket.resume();
      socket.end(bytes);
    });
    const { socket, error } = await ApiServer.of("a").dial(address);
    expect(error).toBe("");
    const read = await buffer(socket);
    expect(createHash("sha256").update(read).digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
    await unused();
  });

  test("send to a target what it reads, and close it", async () => {
    let size = 0;
    let ended = false;
    const { address, unused } = await served((socket) => {
      socket.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size === 3_000_000) socket.write("all");
      });
      socket.on("end", () => {
        ended = true;
        socket.end();
      });
    });
    const apiServer = ApiServer.of("a");
    const { socket, id } = await apiServer.dial(address);
    socket.write(randomBytes(3_000_000));
    expect(String((await once(socket, "data"))[0])).toBe("all");
    apiServer.connection.send({ type: "close", id });
    await vi.waitFor(() => expect([size, ended]).toEqual([3_000_000, true]), soon);
    await unused();
  });

  test("that are gone leave no stream, and no connection to the target", async () => {
    let closed = 0;
    const { address, unused } = await served((socket) => {
      socket.resume().on("close", () => (closed += 1));
      socket.on("end", () => socket.end());
      socket.write("hello");
    });
    const apiServer = ApiServer.of("a");
    const { socket } = await apiServer.dial(address);
    expect(String((await once(socket, "data"))[0])).toBe("hello");
    apiServer.session.destroy();
    await unused();
    await vi.waitFor(() => expect(closed).toBe(1), soon);
  });

  test.for<[string, string, string, RegExp]>([
    [
      "an address that is not allowed",
      "10.0.0.1:443",
      "tcp",
      /10\.0\.0\.1 is in no allowed network, so it is not dialled/,
    ],
    ["UDP", "127.0.0.1:53", "udp", /not of TCP to HOST:PORT/],
    ["no port", "127.0.0.1", "tcp", /not of TCP to HOST:PORT/],
    ["a port that refuses", "127.0.0.1:1", "tcp", /connection refused/],
  ])("are refused a dial to %s, with the reason", async ([, address, protocol, reason]) => {
    const { unused } = await served(() => {});
    const { error } = await ApiServer.of("a").dial(address, protocol);
    expect(error).toMatch(reason);
    await unused();
  });

  test("of a tenant without agents are refused a dial with the reason, as those of other calls are", async () => {
    await stage.serve();
    expect((await ApiServer.of("b").dial("127.0.0.1:1")).error).toMatch(/no agent of tenant b is connected/);
    const { call } = ApiServer.of("b", "/AgentService/Connect");
    const [headers] = (await once(call, "response")) as [Record<string, unknown>];
    expect(headers["grpc-status"]).toBe("12");
  });

  test("that dial again and again in one call, or twice by one number, lose it", async () => {
    await stage.serve();
    for (const [count, step] of [
      [17, 1n],
      [2, 0n],
    ] as const) {
      const { call, connection, answers } = ApiServer.of("b");
      const lost = once(call, "close");
      for (let i = 0n; i < count; i += 1n)
        connection.send({ type: "dial", random: i * step, protocol: "tcp", address: "127.0.0.1:1" });
      await lost;
      expect(answers).toEqual([]);
    }
  });

  test("are served over TCP with a certificate of the tenant alone", async () => {
    const { server, address } = await served((socket) => socket.end("hello"));
    const over = async (authority: KeyPair): Promise<ApiServer> => {
      const own = await issueCertificate(authority, { commonName: "kas", usages: ["client"], lifetime: YEAR });
      const socket = connectTls({
        host: "127.0.0.1",
        port: server.serverPort ?? 0,
        ca: stage.authorities.serving.certificate,
        cert: own.certificate,
        key: own.key,
        ALPNProtocols: ["h2"],
      });
      await once(socket, "secureConnect");
      return new ApiServer(socket);
    };
    const { socket } = await (await over(stage.authorities.a)).dial(address);
    expect(String(await buffer(socket))).toBe("hello");
    const { session } = await over(stage.authorities.serving);
    await vi.waitFor(() => expect(session.destroyed).toBe(true), soon);
  });

  test("wait for a target that reads nothing, however long, and lose nothing then", async () => {
    const size = 24 * 1024 * 1024;
    let reading: Socket | undefined;
    const { address } = await served((socket) => {
      reading = socket.pause();
    });
    const { socket } = await ApiServer.of("a").dial(address);
    const bytes = randomBytes(size);
    socket.write(bytes);
    // What the sockets, the agent and both windows hold is less: the rest is not read from the API server.
    await vi.waitFor(() => expect(reading).toBeDefined(), soon);
    const digest = createHash("sha256");
    let read = 0;
    reading?.on("data", (chunk: Buffer) => {
      digest.update(chunk);
      read += chunk.length;
    });
    reading?.resume();
    await vi.waitFor(() => expect(read).toBe(size), { timeout: 30_000, interval: 10 });
    expect(digest.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
  });
});
