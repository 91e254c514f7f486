/**
 * The reverse tunnel with our server and agent, and with konnectivity's, each as two processes on this machine:
 * throughput of one stream each way, latency of an echo and of a dial, and 200 streams of which one reader stalls.
 * Processor time and memory are those of both processes. Targets and clients are this process.
 */
import { once } from "node:events";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { konnectivityBinaries } from "../../scripts/kubernetes-programs.ts";
import { freePorts } from "../support/free-ports.ts";
import { pour, read, swallow } from "./tunnel/bytes.ts";

/** The command as it is installed, with the flags of Node that it chooses. */
const CAUSEWAY = resolve(import.meta.dirname, "../../packages/causeway/src/launch.sh");
const DAY = 86_400_000;
const MIB = 1024 * 1024;
const BULK = 128 * MIB;
const ECHOES = 1_000;
const DIALS = 200;
const STREAMS = 200;
/** Pairs of rounds with and without a stalled reader. */
const ROUNDS = 5;
/** Bytes of each of these streams. */
const EACH = 2 * MIB;

interface Row {
  readonly name: string;
  /** The figure that both sides are compared by. */
  readonly by: string;
  readonly ours: Readonly<Record<string, number>>;
  readonly upstream?: Readonly<Record<string, number>>;
}

interface Tunnel {
  readonly side: "ours" | "upstream";
  readonly children: readonly ChildProcess[];
  readonly socket: string;
}

const { values } = parseArgs({ options: { json: { type: "string" } } });
const address =
  Object.values(networkInterfaces())
    .flat()
    .find((each) => each && !each.internal && each.family === "IPv4")?.address ?? "127.0.0.1";
const dir = mkdtempSync(join(tmpdir(), "bench-tunnel-"));
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text, { mode: 0o600 });
  return join(dir, name);
};

try {
  const authority = await createAuthority({ commonName: "bench-ca", lifetime: DAY });
  const names = { commonName: "bench", ipAddresses: ["127.0.0.1"], lifetime: DAY };
  const serving = await issueCertificate(authority, { ...names, usages: ["server"] });
  const client = await issueCertificate(authority, { commonName: "agent", usages: ["client"], lifetime: DAY });
  file("ca.crt", authority.certificate);
  file("tls.crt", serving.certificate);
  file("tls.key", serving.key);
  file("agent.crt", client.certificate);
  file("agent.key", client.key);
  await warmUp();
  const built = await konnectivityBinaries();
  if ("reason" in built) console.log(`upstream is not measured: ${built.reason}`);
  const tunnels = [await start([CAUSEWAY, "run", "tunnel-server"], [CAUSEWAY, "run", "tunnel-agent"], true)];
  if ("dir" in built)
    tunnels.push(await start([join(built.dir, "proxy-server")], [join(built.dir, "proxy-agent")], false));
  const rows = await measured(tunnels);
  for (const { name, by, ...sides } of rows) {
    console.log(`${name} (by ${by})`);
    console.table(sides);
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, undefined, 2)}\n`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit();

/**
 * Without a tunnel: the code of this process is compiled before either side is measured, which the first one would pay
 * for with each of its first dials.
 */
async function warmUp(): Promise<void> {
  const socket = join(dir, "direct.sock");
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    client.once("data", (request: Buffer) => {
      const upstream = connect({ host: address, port: Number(/:(\d+) HTTP/.exec(String(request))?.[1]) });
      for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
        from.on("error", () => to.destroy()).once("close", () => to.destroy());
      }
      upstream.once("connect", () => {
        client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        client.pipe(upstream).pipe(client);
      });
    });
  });
  await new Promise<void>((done) => proxy.listen(socket, done));
  const direct = { side: "ours", children: [], socket } as const;
  for (let i = 0; i < 10; i++) await dials(direct);
  await echoes(direct);
  await bulk(direct, "down");
  await bulk(direct, "up");
  proxy.close();
}

async function start(server: readonly string[], agent: readonly string[], isOurs: boolean): Promise<Tunnel> {
  const [port = 0, ...others] = await freePorts(5);
  const side = isOurs ? "ours" : "upstream";
  const socket = join(dir, `${side}.sock`);
  const at = (name: string): string => join(dir, name);
  const children = [
    run([
      ...server,
      "--mode=http-connect",
      `--uds-name=${socket}`,
      "--server-port=0",
      `--agent-port=${port}`,
      `--cluster-cert=${at("tls.crt")}`,
      `--cluster-key=${at("tls.key")}`,
      `--cluster-ca-cert=${at("ca.crt")}`,
      `--health-port=${others[0]}`,
      `--admin-port=${others[1]}`,
      ...(isOurs ? ["--log-level=silent"] : ["-v=0"]),
    ]),
    run([
      ...agent,
      "--proxy-server-host=127.0.0.1",
      `--proxy-server-port=${port}`,
      `--ca-cert=${at("ca.crt")}`,
      `--agent-cert=${at("agent.crt")}`,
      `--agent-key=${at("agent.key")}`,
      "--sync-interval=200ms",
      `--health-server-port=${others[2]}`,
      `--admin-server-port=${others[3]}`,
      ...(isOurs ? ["--log-level=silent"] : ["-v=0"]),
    ]),
  ];
  const tunnel: Tunnel = { side, children, socket };
  const { port: echo, close } = await target((each) => void each.pipe(each));
  try {
    for (let i = 0; i < 600; i++) {
      const dialled = await dial(tunnel, echo);
      if (typeof dialled !== "string") {
        dialled.destroy();
        return tunnel;
      }
      if (children.some(({ exitCode }) => exitCode !== null)) throw new Error("a program of the tunnel ended");
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error("the tunnel carries nothing");
  } finally {
    close();
  }
}

function run([program = "", ...args]: readonly string[]): ChildProcess {
  const child = spawn(program, args, { stdio: "ignore" });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

/** Each work for one side after the other: what else the machine does meets both. */
async function measured(tunnels: readonly Tunnel[]): Promise<Row[]> {
  const works: ((tunnel: Tunnel) => Promise<Row>)[] = [
    (tunnel) => bulk(tunnel, "down"),
    (tunnel) => bulk(tunnel, "up"),
    echoes,
    dials,
    stalled,
    shares,
    memory,
  ];
  const rows: Row[] = [];
  for (const work of works) {
    const sides: Row[] = [];
    for (const tunnel of tunnels) {
      const row = await work(tunnel);
      console.log(tunnel.side, row.name, JSON.stringify(row.ours));
      sides.push(row);
    }
    const [ours, upstream] = sides;
    if (ours) rows.push({ ...ours, ...(upstream && { upstream: upstream.ours }) });
  }
  for (const { children } of tunnels) {
    for (const child of children) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    }
  }
  return rows;
}

async function memory({ children: [server, agent] }: Tunnel): Promise<Row> {
  const ours = { serverMiB: memoryOf(server), agentMiB: memoryOf(agent) };
  return { name: "most memory in all of this", by: "serverMiB", ours };
}

async function bulk(tunnel: Tunnel, way: "down" | "up"): Promise<Row> {
  const { port, close } = await target((socket) =>
    way === "down" ? socket.once("data", () => pour(socket, BULK)) : swallow(socket, BULK),
  );
  const socket = await dialled(tunnel, port);
  const [cpu, begun] = [cpuOf(tunnel), performance.now()];
  // A stock server may pass on data before its response to CONNECT, so the client speaks first.
  if (way === "down") {
    socket.write("r");
    await read(socket, BULK);
  } else {
    pour(socket, BULK);
    await read(socket, 1);
  }
  const seconds = (performance.now() - begun) / 1000;
  socket.destroy();
  close();
  const figures = { mibPerSecond: Math.round(BULK / MIB / seconds), cpuSeconds: hundredth(cpuOf(tunnel) - cpu) };
  return {
    name: `one stream of ${BULK / MIB} MiB, ${way === "down" ? "to" : "from"} the API server`,
    by: "mibPerSecond",
    ours: figures,
  };
}

async function echoes(tunnel: Tunnel): Promise<Row> {
  const { port, close } = await target((socket) => void socket.pipe(socket));
  const socket = await dialled(tunnel, port);
  const times: number[] = [];
  for (let i = 0; i < ECHOES; i++) {
    const begun = performance.now();
    socket.write("x");
    await read(socket, 1);
    times.push(performance.now() - begun);
  }
  socket.destroy();
  close();
  return { name: `${ECHOES} echoes of one byte`, by: "p50Milliseconds", ours: quantiles(times) };
}

async function dials(tunnel: Tunnel): Promise<Row> {
  const { port, close } = await target((socket) => void socket.resume());
  const times: number[] = [];
  for (let i = 0; i < DIALS; i++) {
    const begun = performance.now();
    const socket = await dialled(tunnel, port);
    times.push(performance.now() - begun);
    socket.destroy();
  }
  close();
  return { name: `${DIALS} dials`, by: "p50Milliseconds", ours: quantiles(times) };
}

/** 199 readers next to one that reads nothing: of a tunnel that is held up by it none finishes. */
async function stalled(tunnel: Tunnel): Promise<Row> {
  const { rates, seconds } = await readers(tunnel, true);
  const finished = rates.filter((rate) => rate > 0).length;
  return {
    name: `${STREAMS - 1} streams of ${EACH / MIB} MiB next to a stalled reader`,
    by: "mibPerSecond",
    ours: { finished, mibPerSecond: Math.round((finished * EACH) / MIB / seconds) },
  };
}

/**
 * The rate of each of 199 readers next to a stalled one, in percent of its rate without: the slowest of one round is
 * compared with the slowest of the other, and so on. Rounds alternate, and of each pair of rates the median counts.
 */
async function shares(tunnel: Tunnel): Promise<Row> {
  const rounds: number[][] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const alone = (await readers(tunnel, false)).rates;
    const next = (await readers(tunnel, true)).rates;
    // One that does not finish even without a stalled reader has no share.
    rounds.push(next.map((rate, k) => ((alone[k] ?? 0) > 0 ? (rate / (alone[k] ?? 1)) * 100 : 0)));
    if (alone.includes(0) || next.includes(0)) break;
  }
  const median = (all: readonly number[]): number => all.toSorted((x, y) => x - y)[Math.floor(all.length / 2)] ?? 0;
  const each = Array.from({ length: STREAMS - 1 }, (_, k) => median(rounds.map((round) => round[k] ?? 0)));
  return {
    name: `share of each of ${STREAMS - 1} streams next to a stalled reader`,
    by: "leastPercent",
    ours: { leastPercent: Math.round(Math.min(...each)), medianPercent: Math.round(median(each)) },
  };
}

/** Bytes a second of each of 199 readers, sorted; 0 of one that does not finish within 30 s. */
async function readers(tunnel: Tunnel, isStalled: boolean): Promise<{ rates: number[]; seconds: number }> {
  const { port, close } = await target(
    (socket) => void socket.once("data", (first: Buffer) => pour(socket, String(first) === "s" ? 64 * MIB : EACH)),
  );
  const idle = await dialled(tunnel, port);
  if (isStalled) idle.pause().write("s");
  await new Promise((done) => setTimeout(done, 1_000));
  const rates = Array.from({ length: STREAMS - 1 }, () => 0);
  const begun = performance.now();
  const all = Promise.all(
    rates.map(async (_, k) => {
      const socket = await dialled(tunnel, port);
      socket.write("r");
      await read(socket, EACH);
      rates[k] = EACH / ((performance.now() - begun) / 1000);
      socket.destroy();
    }),
  ).catch(() => {});
  await Promise.race([all, new Promise((done) => setTimeout(done, 30_000))]);
  const seconds = (performance.now() - begun) / 1000;
  idle.destroy();
  close();
  return { rates: rates.toSorted((x, y) => x - y), seconds };
}

async function target(handle: (socket: Socket) => void): Promise<{ port: number; close: () => void }> {
  // It ends with its client: a half-open stream would count as open for another minute.
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    handle(socket);
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

async function dial({ socket: path }: Tunnel, port: number): Promise<Socket | string> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => socket.destroy());
  socket.write(`CONNECT ${address}:${port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  const head = await new Promise<string>((done) => {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      done(chunk.toString("latin1"));
    });
    socket.once("close", () => done(""));
  });
  const end = head.indexOf("\r\n\r\n");
  if (!head.startsWith("HTTP/1.1 200 ") || end < 0) {
    socket.destroy();
    return head.split("\r\n")[0] ?? "";
  }
  if (head.length > end + 4) socket.unshift(Buffer.from(head.slice(end + 4), "latin1"));
  return socket;
}

async function dialled(tunnel: Tunnel, port: number): Promise<Socket> {
  const socket = await dial(tunnel, port);
  if (typeof socket === "string") throw new Error(`a dial through the tunnel failed: ${socket}`);
  return socket;
}

function quantiles(times: readonly number[]): Record<string, number> {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => hundredth(sorted[Math.floor(sorted.length * share)] ?? 0);
  return { p50Milliseconds: at(0.5), p99Milliseconds: at(0.99) };
}

/** Of both processes, user and system. */
function cpuOf({ children }: Tunnel): number {
  return children.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}

function memoryOf(child: ChildProcess | undefined): number {
  const status = readFileSync(`/proc/${child?.pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

function hundredth(value: number): number {
  return Math.round(value * 100) / 100;
}
