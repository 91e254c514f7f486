import { spawn } from "node:child_process";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { silentLog, VirtualClock, type Log } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import type { ApiServer, ApiServerOptions } from "../interface.ts";
import { startApiServer } from "../start.ts";
import { eventually, rawClient } from "../testing/client.ts";
import { ConnectionPool, defaultLimits } from "./connection-pool.ts";
import { listen } from "./listener.ts";
import { LogLimit } from "./log-limit.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

async function started(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = await startApiServer(options);
  opened.push(server);
  return server;
}

interface Peer {
  readonly socket: Socket;
  isOpen: boolean;
  received: string;
}

function peer(socket: Socket): Peer {
  const made = { socket, isOpen: true, received: "" };
  socket.on("data", (chunk: Buffer) => (made.received += chunk.toString()));
  socket.on("error", () => {});
  socket.on("close", () => (made.isOpen = false));
  opened.push({ close: () => socket.destroy() });
  return made;
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

const tcp = (url: string): Peer => peer(connectTcp(addressOf(url)));
const tls = (url: string, protocol = "http/1.1"): Promise<Peer> =>
  new Promise((resolve) => {
    const options = { ...addressOf(url), rejectUnauthorized: false, ALPNProtocols: [protocol] };
    const socket = connectTls(options, () => resolve(made));
    const made = peer(socket);
  });

test("connections that do not continue are closed", async () => {
  const clock = new VirtualClock();
  const { management } = await started();
  const pool = new ConnectionPool(defaultLimits(), new LogLimit(silentLog, clock));
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    certificate: management.authority,
    handler: (request, response) => void (request.method === "GET" && response.end("version")),
    accepted: () => {},
    steady: clock,
    pool,
    isManagement: true,
  });
  opened.push(listener);
  const url = `https://127.0.0.1:${listener.port}`;
  const silent = tcp(url);
  const mute = await tls(url);
  const half = await tls(url);
  half.socket.write("GET /version HTTP/1.1\r\nHost: x\r\n");
  const slow = await tls(url);
  slow.socket.write("POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
  const idle = await tls(url);
  idle.socket.write("GET /version HTTP/1.1\r\nHost: x\r\n\r\n");
  const session = connectHttp2(url, { rejectUnauthorized: false });
  opened.push({ close: () => session.destroy() });
  await new Promise((resolve) => session.once("connect", resolve));
  await eventually(async () => (idle.received.includes("version") ? true : undefined));
  await clock.advance(8000);
  expect(silent.isOpen).toBe(true);
  await clock.advance(8000);
  await eventually(async () => (silent.isOpen ? undefined : true));
  expect([mute.isOpen, half.isOpen, session.closed]).toEqual([true, true, false]);
  await clock.advance(24_000);
  await eventually(async () => (mute.isOpen || half.isOpen || !session.destroyed ? undefined : true));
  expect(idle.isOpen).toBe(true);
  await clock.advance(60_000);
  await eventually(async () => (idle.isOpen || slow.isOpen ? undefined : true));
});

test("a watch over HTTP/2, whose request has no body, outlives the time for bodies", async () => {
  const clock = new VirtualClock();
  const { management } = await started();
  const pool = new ConnectionPool(defaultLimits(), new LogLimit(silentLog, clock));
  let served = 0;
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    certificate: management.authority,
    handler: (_request, response) => {
      served += 1;
      if ("stream" in response) response.stream.respond({ ":status": 200 });
    },
    accepted: () => {},
    steady: clock,
    pool,
    isManagement: true,
  });
  opened.push(listener);
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
  opened.push({ close: () => session.destroy() });
  const watch = session.request({ ":path": "/api/v1/pods?watch=true" });
  const slow = session.request({ ":path": "/api/v1/pods", ":method": "POST" }, { endStream: false });
  slow.on("error", () => {});
  await eventually(async () => (served === 2 ? true : undefined));
  for (let seconds = 0; seconds < 200; seconds += 20) await clock.advance(20_000);
  await eventually(async () => (slow.destroyed ? true : undefined));
  expect([watch.destroyed, session.closed]).toEqual([false, false]);
});

test("connections are kept for the management cluster where it is served, and all are for tenants elsewhere", () => {
  expect(defaultLimits(1000)).toEqual({ total: 700, management: 175, perListener: 350 });
  expect(defaultLimits(1000, false)).toEqual({ total: 700, management: 0, perListener: 350 });
});

test("one client port at two addresses of the server is two connections, and each is closed when it does not continue", async () => {
  const clock = new VirtualClock();
  const { management } = await started();
  const listener = await listen({
    host: "0.0.0.0",
    port: 0,
    certificate: management.authority,
    handler: () => {},
    accepted: () => {},
    steady: clock,
    pool: new ConnectionPool(defaultLimits(), new LogLimit(silentLog, clock)),
    isManagement: true,
  });
  opened.push(listener);
  const { port } = listener;
  const first = peer(connectTcp({ host: "127.0.0.1", port, localAddress: "127.0.0.1" }));
  await new Promise((resolve) => first.socket.once("connect", resolve));
  const localPort = first.socket.localPort ?? 0;
  const second = peer(connectTcp({ host: "127.0.0.2", port, localAddress: "127.0.0.1", localPort }));
  await new Promise((resolve) => second.socket.once("connect", resolve));
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let seconds = 0; seconds < 20; seconds += 2) await clock.advance(2000);
  await eventually(async () => (first.isOpen || second.isOpen ? undefined : true));
});

test("a tenant's clients leave connections to others, and the log has few lines of it", async () => {
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void lines.push(message), with: () => log };
  const server = await started({ log, connections: { total: 12, management: 4, perListener: 100 } });
  const listen = { host: "127.0.0.1", port: 0, names: [] };
  const tenant = await server.ensureCluster("tenant", { listen });
  const peers = Array.from({ length: 40 }, () => tcp(tenant.url));
  await eventually(async () => (peers.filter((p) => p.isOpen).length <= 8 ? true : undefined));
  const api = await rawClient(server.management);
  opened.push(api);
  expect((await api.call("GET", "/version")).code).toBe(200);
  expect(lines.filter((l) => l.includes("too many are open")).length).toBeLessThanOrEqual(10);
  for (const { socket } of peers) socket.destroy();
  const again = await rawClient(tenant);
  opened.push(again);
  await eventually(async () => again.call("GET", "/version").catch(() => undefined));
});

test("a client that does not speak TLS gets an HTTP 400 that says so", async () => {
  const server = await started();
  const plain = tcp(server.management.url);
  plain.socket.write("GET /version HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(async () => (plain.isOpen ? undefined : true));
  expect(plain.received).toBe("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
});

test("long headers and request lines are read", async () => {
  const server = await started();
  const api = await rawClient(server.management);
  opened.push(api);
  const selector = `a in (${Array.from({ length: 8000 }, (_, i) => `v${i}`).join(",")})`;
  const { code } = await api.call("GET", `/api/v1/configmaps?labelSelector=${encodeURIComponent(selector)}`);
  expect(code).toBe(200);
});

const WRITER = `
import { Agent, request } from "node:https";
const { url, token } = JSON.parse(process.argv[1]);
const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
const put = (i) => new Promise((resolve) => {
  const metadata = { name: "big" };
  const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: i + "x".repeat(700_000) } });
  const headers = { authorization: "Bearer " + token, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const sent = request(url + "/api/v1/namespaces/default/configmaps/big", { method: "PUT", agent, headers }, (response) => {
    response.resume();
    response.on("end", () => resolve(response.statusCode));
    response.on("error", (error) => resolve(error.code));
  });
  sent.on("error", (error) => resolve(error.code));
  sent.end(body);
});
const answers = {};
for (let i = 0; i < 60; i += 1) {
  const answer = await put(i);
  answers[answer] = (answers[answer] ?? 0) + 1;
}
console.log(JSON.stringify(answers));
process.exit(0);
`;

test("one connection takes one large body after the other from a busy server", async () => {
  const server = await started();
  const api = await rawClient(server.management);
  opened.push(api);
  const CORE = "/api/v1/namespaces/default";
  await api.call("POST", `${CORE}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "big" } });
  await api.call("POST", `${CORE}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "w" },
  });
  const subjects = [{ kind: "ServiceAccount", name: "w", namespace: "default" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" };
  const type = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" };
  const binding = { ...type, metadata: { name: "w" }, roleRef, subjects };
  await api.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding);
  const issued = await api.call("POST", `${CORE}/serviceaccounts/w/token`, { spec: {} });
  const { token } = issued.body["status"] as { token: string };
  // The server is busy most of the time, so that it hears late of what its clients have read.
  const busy = setInterval(() => {
    const end = performance.now() + 6;
    while (performance.now() < end);
  }, 10);
  opened.push({ close: () => clearInterval(busy) });
  const about = JSON.stringify({ url: server.management.url, token });
  const child = spawn(process.execPath, ["--input-type=module", "-e", WRITER, about]);
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  expect(JSON.parse(said)).toEqual({ 200: 60 });
}, 60_000);
