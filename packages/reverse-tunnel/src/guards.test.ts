/** What a tunnel refuses, keeps apart and survives: addresses, tenants, credentials, lost clients and servers. */
import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { parseCidr, silentLog, systemClock, VirtualClock, type DialRules, type Log } from "@causeway/foundation";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { TunnelAgent } from "./agent/agent.ts";
import type { TunnelServer } from "./server/server.ts";
import { agents, dial, echoed, localRules, Stage, YEAR } from "./testing/stage.ts";

const stage = new Stage();
const echo = (): Promise<number> => stage.target((socket) => void socket.pipe(socket));
const MINUTE = 60_000;
const soon = { timeout: 10_000, interval: 5 };

async function opened(name: string, port: number): Promise<Socket> {
  const { line, socket } = await dial(stage.unix(name), `127.0.0.1:${port}`);
  expect(line).toMatch(/ 200 /);
  return socket;
}

describe.each([
  ["plain frames", false],
  ["gRPC", true],
])("a tunnel with %s", (_protocol, isGrpc) => {
  beforeEach(() => {
    stage.grpcOnly = isGrpc;
  });

  test("has agents that refuse what their own rules do not allow, whatever the server's rules are", async () => {
    const network = (text: string) => parseCidr(text) ?? expect.fail(text);
    const all: DialRules = {
      allow: [network("0.0.0.0/0"), network("127.0.0.0/8"), network("169.254.0.0/16")],
      deny: [],
      names: undefined,
    };
    const { a } = stage.authorities;
    const server = await stage.serve({ tenants: [stage.tenant("a", a, { rules: all })] });
    const rules = { ...localRules, deny: [network("127.0.0.128/25")], names: ["svc"] };
    await stage.agentOf(server, a, { options: { rules } });
    await agents(server, "a", 1);
    const refused: [string, RegExp][] = [
      ["169.254.169.254:80", /refused by the agent: 169.254.169.254 is a link-local address/],
      ["10.250.0.1:443", /refused by the agent: 10.250.0.1 is in no allowed network/],
      ["127.0.0.2:443", /refused by the agent: 127.0.0.2 is a loopback address/],
      ["management.example.com:443", /refused by the agent: "management.example.com" is not an allowed name/],
    ];
    for (const [address, line] of refused) expect((await dial(stage.unix("a"), address)).line).toMatch(line);
    expect(server.status("a").streams).toBe(0);
  });

  test("leads each of two tenants with the same networks to its own agent", async () => {
    const port = await echo();
    const server = await stage.serve();
    const [a, b] = [await stage.agentOf(server, stage.authorities.a), await stage.agentOf(server, stage.authorities.b)];
    await Promise.all([agents(server, "a", 1), agents(server, "b", 1)]);
    const ofA = await opened("a", port);
    expect([a.streams, b.streams]).toEqual([1, 0]);
    const ofB = await Promise.all([opened("b", port), opened("b", port)]);
    expect([a.streams, b.streams]).toEqual([1, 2]);
    expect(["a", "b"].map((name) => server.status(name).streams)).toEqual([1, 2]);
    for (const socket of [ofA, ...ofB]) expect(await echoed(socket, "still here")).toBe("still here");
    for (const socket of [ofA, ...ofB]) socket.destroy();
  });

  test("keeps ten open streams when the agent's token is replaced, and the next connection has the new one", async () => {
    const port = await echo();
    let [valid, reached] = ["first", 0];
    const reviewed: string[] = [];
    const reviewToken = (token: string) => {
      reviewed.push(token);
      return Promise.resolve(token === valid ? undefined : "the token has expired");
    };
    const tenants = (udsName: string) => [
      stage.tenant("a", stage.authorities.a, {
        agentAuthorities: [],
        serverNames: ["localhost"],
        udsName: `${stage.folder}/${udsName}.sock`,
        reviewToken,
      }),
    ];
    const one = await stage.serve({ serverCount: 2, tenants: tenants("a") });
    const two = await stage.serve({ serverId: "two", serverCount: 2, tenants: tenants("second") });
    let token = valid;
    await stage.agentOf(one, stage.authorities.b, {
      tls: { ca: stage.authorities.serving.certificate, servername: "localhost" },
      each: () => ({ token, port: (reached === 0 ? one : two).agentPort }),
    });
    await agents(one, "a", 1);
    const open = await Promise.all(Array.from({ length: 10 }, () => opened("a", port)));
    // The API server accepts another token from now on; the agent reads it for its next connection.
    [valid, token, reached] = ["second", "second", 1];
    await agents(two, "a", 1);
    expect(reviewed.at(-1)).toBe("second");
    expect(one.status("a")).toEqual({ agents: 1, streams: 10 });
    for (const [i, socket] of open.entries()) expect(await echoed(socket, `stream ${i}`)).toBe(`stream ${i}`);
    for (const socket of open) socket.destroy();
  });

  describe("whose agent's token expires after an hour", () => {
    const issue = (minutes: number, name: string): string =>
      `${name}.${Buffer.from(JSON.stringify({ exp: (clock.now() + minutes * MINUTE) / 1_000 })).toString("base64url")}.s`;
    let clock: VirtualClock;
    let [token, port, reviews] = ["", 0, [] as string[]];
    let review: (token: string) => string | undefined;
    let server: TunnelServer;
    let agent: TunnelAgent;

    beforeEach(async () => {
      clock = new VirtualClock(Date.now());
      [token, port, reviews] = [issue(60, "first"), await echo(), []];
      review = () => undefined;
      const reviewToken = async (given: string) => {
        reviews.push(given.split(".")[0] ?? "");
        return review(given);
      };
      const more = { agentAuthorities: [], serverNames: ["localhost"], reviewToken };
      server = await stage.serve({ clock, tenants: [stage.tenant("a", stage.authorities.a, more)] });
      agent = await stage.agentOf(server, stage.authorities.b, {
        tls: { ca: stage.authorities.serving.certificate, servername: "localhost" },
        each: () => ({ token }),
        options: { clock, syncInterval: MINUTE, syncIntervalCap: MINUTE },
      });
      await agents(server, "a", 1);
    });

    test("an idle connection ends then, and the next one has the token of that time", async () => {
      await clock.advance(59 * MINUTE);
      expect([server.status("a").agents, reviews]).toEqual([1, ["first"]]);
      review = (given) => (given.startsWith("second") ? undefined : "it has expired");
      token = issue(60, "second");
      if (isGrpc) await clock.advance(MINUTE);
      await vi.waitFor(async () => {
        await clock.advance(isGrpc ? 100 : MINUTE);
        expect([agent.connections, server.status("a").agents, reviews.at(-1)]).toEqual([1, 1, "second"]);
      }, soon);
      expect(await echoed(await opened("a", port), "again")).toBe("again");
    });

    test("an agent without a valid token is gone then, and is not accepted again", async () => {
      review = () => "it has expired";
      await clock.advance(60 * MINUTE);
      await vi.waitFor(() => expect([server.status("a").agents, agent.connections]).toEqual([0, 0]), soon);
      await vi.waitFor(async () => {
        await clock.advance(MINUTE);
        expect(reviews.length).toBeGreaterThan(2);
      }, soon);
      expect(server.status("a").agents).toBe(0);
    });

    test("an open stream continues for an hour more, and no longer", async () => {
      review = () => "it has expired";
      const socket = await opened("a", port);
      await clock.advance(119 * MINUTE);
      expect(await echoed(socket, "still here")).toBe("still here");
      const ended = new Promise((resolve) => void socket.once("end", resolve).resume());
      await clock.advance(MINUTE);
      await ended;
      socket.destroy();
      expect(server.status("a")).toEqual({ agents: 0, streams: 0 });
    });

    test("an expired connection ends with its last stream", async () => {
      review = () => "it has expired";
      const sockets = [await opened("a", port), await opened("a", port)];
      await clock.advance(61 * MINUTE);
      for (const socket of sockets) {
        expect(server.status("a").agents).toBe(1);
        socket.destroy();
        await vi.waitFor(() => expect(server.status("a").streams).toBeLessThan(2), soon);
      }
      await vi.waitFor(() => expect(server.status("a")).toEqual({ agents: 0, streams: 0 }), soon);
    });

    test.skipIf(isGrpc)(
      "an agent of ours sends each new token, and none of ten streams ends in ten hours",
      async () => {
        const open = await Promise.all(Array.from({ length: 10 }, () => opened("a", port)));
        for (let hour = 1; hour <= 10; hour++) {
          // The API server is away when the fifth token comes, and is back when the fourth one expires.
          review = () => (hour === 5 ? "the token cannot be reviewed" : undefined);
          await clock.advance(48 * MINUTE);
          token = issue(60, `at hour ${hour}`);
          await vi.waitFor(async () => {
            await clock.advance(10_000);
            expect(reviews.at(-1)).toBe(`at hour ${hour}`);
          }, soon);
          review = () => undefined;
        }
        for (const [i, socket] of open.entries()) expect(await echoed(socket, `stream ${i}`)).toBe(`stream ${i}`);
        expect([agent.connections, server.status("a")]).toEqual([1, { agents: 1, streams: 10 }]);
        for (const socket of open) socket.destroy();
      },
    );

    test.skipIf(isGrpc)("a new token that is refused changes nothing of the old one's time", async () => {
      review = () => "the service account is not konnectivity-agent";
      token = issue(600, "foreign");
      await vi.waitFor(async () => {
        await clock.advance(10_000);
        expect(reviews.at(-1)).toBe("foreign");
      }, soon);
      await clock.advance(60 * MINUTE);
      await vi.waitFor(() => expect(server.status("a").agents).toBe(0), soon);
    });
  });

  test("ends the connection of an agent whose certificate expired, and accepts it no more", async () => {
    const clock = new VirtualClock(Date.now());
    const server = await stage.serve({ clock });
    const agent = await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    await clock.advance(YEAR - 3_600_000);
    expect(server.status("a").agents).toBe(1);
    // The certificate is issued after the clock was made: on a machine with load, seconds later.
    await clock.advance(3_600_000 + 5 * MINUTE);
    await vi.waitFor(() => expect([server.status("a").agents, agent.connections]).toEqual([0, 0]), soon);
  });

  test("leaves no stream of clients that vanish, at the server, the agent and the target", async () => {
    const connections = new Set<Socket>();
    const port = await stage.target((socket) => {
      connections.add(socket);
      socket.once("close", () => connections.delete(socket));
      socket.pipe(socket);
    });
    const server = await stage.serve();
    const agent = await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const open = await Promise.all(Array.from({ length: 50 }, () => opened("a", port)));
    for (const socket of open) expect(await echoed(socket, "x")).toBe("x");
    expect([server.status("a").streams, agent.streams, connections.size]).toEqual([50, 50, 50]);
    for (const socket of open) socket.destroy();
    await vi.waitFor(
      () => expect([server.status("a").streams, agent.streams, connections.size]).toEqual([0, 0, 0]),
      soon,
    );
  });

  test("ends the stream of a client that closed its socket, and keeps that of one that only sends no more", async () => {
    // The target reads everything, and neither sends nor ends by itself.
    const received = new Map<string, Socket>();
    const port = await stage.target((socket) => {
      socket.on("data", (chunk) => received.set(chunk.toString(), socket));
    });
    const clock = new VirtualClock(Date.now());
    const server = await stage.serve({ clock });
    const agent = await stage.agentOf(server, stage.authorities.a);
    await agents(server, "a", 1);
    const [gone, quiet] = [await opened("a", port), await opened("a", port)];
    gone.end("last words");
    quiet.end("a question");
    await vi.waitFor(() => expect([...received.keys()].toSorted()).toEqual(["a question", "last words"]), soon);
    expect(agent.streams).toBe(2);
    gone.destroy();
    await vi.waitFor(async () => {
      await clock.advance(50);
      expect([server.status("a").streams, agent.streams]).toEqual([1, 1]);
    }, soon);
    received.get("a question")?.end("an answer");
    quiet.resume();
    const [answer] = (await once(quiet, "data")) as [Buffer];
    expect(answer.toString()).toBe("an answer");
  });

  test("loses with one of two servers only its streams, and dials go through the other one", async () => {
    const port = await echo();
    const { a } = stage.authorities;
    const other = stage.tenant("a", a, { udsName: `${stage.folder}/other.sock` });
    const one = await stage.serve({ serverCount: 2 });
    const two = await stage.serve({ serverId: "two", serverCount: 2, tenants: [other] });
    let turn = 0;
    const agent = await stage.agentOf(one, a, { each: () => ({ port: (turn++ % 2 === 0 ? one : two).agentPort }) });
    await Promise.all([agents(one, "a", 1), agents(two, "a", 1)]);
    const [lost, kept] = [await opened("a", port), await opened("other", port)];
    const ended = new Promise((resolve) => {
      lost.once("end", resolve).once("error", resolve).resume();
    });
    const closed = one.close();
    await ended;
    lost.destroy();
    await closed;
    expect(await echoed(kept, "still here")).toBe("still here");
    expect(await echoed(await opened("other", port), "new")).toBe("new");
    await vi.waitFor(() => expect(agent.connections).toBe(1), soon);
    kept.destroy();
  });

  test("serves dials again within two seconds of its own time after the only server crashed", async () => {
    const port = await echo();
    const { a } = stage.authorities;
    // Time moves only while the agent waits by itself, and not while a connection takes the time it takes.
    const clock = new VirtualClock(Date.now());
    let [current, begun, ended, refused] = [await stage.serve(), 0, 0, 0];
    const count = (message: string): void => {
      const isRefusal = message === "the agent cannot connect";
      if (isRefusal) refused++;
      if (isRefusal || message === "connected to a server of the tunnel") ended++;
    };
    const log: Log = { ...silentLog, info: count, warn: count };
    const each = () => {
      begun++;
      return { port: current.agentPort };
    };
    const agent = await stage.agentOf(current, a, { each, options: { clock, log, syncInterval: 1_000 } });
    await agents(current, "a", 1);
    const wait = async (isOver: () => boolean): Promise<void> => {
      while (!isOver()) {
        if (begun === ended) await clock.advance(10);
        await setImmediate();
      }
    };
    const crashed = clock.now();
    await current.close();
    await wait(() => refused === 1);
    current = await stage.serve({ agentWait: 60_000 });
    const dialling = opened("a", port);
    await wait(() => agent.connections === 1);
    expect(clock.now() - crashed).toBeLessThanOrEqual(2_000);
    expect(await echoed(await dialling, "again")).toBe("again");
  });

  describe("behind a router that forgets connections after an idle minute", () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
    afterEach(() => void vi.useRealTimers());

    test("has bytes in both directions every half minute, so that an idle stream outlives ten minutes", async () => {
      const port = await echo();
      const server = await stage.serve();
      const router = await startRouter(server.agentPort);
      stage.closers.push(() => router.close());
      await stage.agentOf(server, stage.authorities.a, { port: router.port });
      await agents(server, "a", 1);
      const socket = await opened("a", port);
      expect(await echoed(socket, "before")).toBe("before");
      for (let halfMinutes = 0; halfMinutes < 20; halfMinutes++) {
        await router.quiet();
        const before = { ...router.bytes };
        vi.advanceTimersByTime(30_000);
        await until(() => router.bytes.up > before.up && router.bytes.down > before.down);
      }
      expect(await echoed(socket, "after")).toBe("after");
      expect(server.status("a")).toEqual({ agents: 1, streams: 1 });
      socket.destroy();
    });
  });
});

/** Waits in real time for what happens in it. */
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    if (i === 2_000) throw new Error("it did not happen");
    await systemClock.sleep(5);
  }
}

/** Between agent and server: it counts what passes in each direction. */
async function startRouter(serverPort: number) {
  const bytes = { up: 0, down: 0 };
  const open = new Set<Socket>();
  const router: Server = createServer((agent) => {
    const server = connect(serverPort, "127.0.0.1");
    for (const each of [agent, server]) {
      open.add(each);
      each.on("error", () => {}).once("close", () => (agent.destroy(), server.destroy()));
    }
    agent.on("data", (chunk: Buffer) => (bytes.up += chunk.length)).pipe(server);
    server.on("data", (chunk: Buffer) => (bytes.down += chunk.length)).pipe(agent);
  });
  await new Promise<void>((done) => router.listen(0, "127.0.0.1", done));
  return {
    port: (router.address() as AddressInfo).port,
    bytes,
    /**
     * Until nothing passed in many turns of the event loop, in which all four sockets are: every ping has its answer.
     */
    async quiet(): Promise<void> {
      for (let [turns, before] = [0, -1]; turns < 25; turns++) {
        if (before !== bytes.up + bytes.down) turns = 0;
        before = bytes.up + bytes.down;
        await systemClock.sleep(2);
      }
    },
    close(): Promise<void> {
      for (const socket of open) socket.destroy();
      return new Promise((done) => router.close(() => done()));
    },
  };
}
