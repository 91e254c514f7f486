import { request } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { silentLog, type ResolveAll } from "@causeway/foundation";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startSinkProxy, type SinkProxy } from "./sink-proxy.ts";

const ADDRESSES: Readonly<Record<string, string>> = { "sink.test": "127.0.0.1", "outside.test": "10.0.0.9" };
const resolve: ResolveAll = (name, done) => done(null, [{ address: ADDRESSES[name] ?? "", family: 4 }]);

let proxy: SinkProxy;
let sink: Server;
let port: number;
beforeEach(async () => {
  sink = createServer((socket) => socket.on("error", () => {}).pipe(socket));
  await new Promise<void>((done) => sink.listen(0, "127.0.0.1", done));
  ({ port } = sink.address() as AddressInfo);
  proxy = await startSinkProxy({ networks: ["127.0.0.0/8"], log: silentLog, resolve });
});
afterEach(async () => {
  await proxy.close();
  await new Promise((done) => sink.close(done));
});

interface Joined {
  readonly status: number | undefined;
  readonly socket: Socket;
}

/** What becomes of a CONNECT to a host and port. */
function connectTo(to: string, by = proxy.url): Promise<Joined> {
  const { hostname, port: at, username, password } = new URL(by);
  const auth = `${username}:${password}`;
  const sent = request({ hostname, port: at, method: "CONNECT", path: to, agent: false });
  sent.setHeader("proxy-authorization", `Basic ${Buffer.from(auth).toString("base64")}`);
  return new Promise((done, failed) => {
    sent.once("connect", ({ statusCode }, socket) => done({ status: statusCode, socket: socket as Socket }));
    sent.once("error", failed);
    sent.end();
  });
}

async function statusOf(to: string, by?: string): Promise<number | undefined> {
  const { status, socket } = await connectTo(to, by);
  socket.destroy();
  return status;
}

test.for<[string, (port: number) => { lead: string; to: string }, number]>([
  ["its sink by address", (at) => ({ lead: `https://127.0.0.1:${at}/events`, to: `127.0.0.1:${at}` }), 200],
  ["its sink by name", (at) => ({ lead: `https://sink.test:${at}/events`, to: `sink.test:${at}` }), 200],
  ["its sink by name in other letters", (at) => ({ lead: `https://Sink.test:${at}`, to: `SINK.test:${at}` }), 200],
  ["another host", (at) => ({ lead: `https://127.0.0.1:${at}`, to: `127.0.0.2:${at}` }), 403],
  ["another port", (at) => ({ lead: `https://127.0.0.1:${at}`, to: `127.0.0.1:${at - 1}` }), 403],
  [
    "the port of https where the sink has another",
    (at) => ({ lead: `https://127.0.0.1:${at}`, to: "127.0.0.1:443" }),
    403,
  ],
  ["what is no address", (at) => ({ lead: `https://127.0.0.1:${at}`, to: "127.0.0.1:x" }), 403],
  ["a sink outside of the networks", () => ({ lead: "https://10.0.0.9", to: "10.0.0.9:443" }), 403],
  ["a sink whose name leads outside of them", () => ({ lead: "https://outside.test", to: "outside.test:443" }), 502],
])("the proxy of an audit sink returns a status for %s", async ([, at, status]) => {
  const { lead, to } = at(port);
  proxy.lead(lead);
  expect(await statusOf(to)).toBe(status);
});

test("the proxy of an audit sink demands its password, and leads nowhere before it has a sink", async () => {
  expect(await statusOf(`127.0.0.1:${port}`)).toBe(403);
  proxy.lead(`https://127.0.0.1:${port}`);
  expect(await statusOf(`127.0.0.1:${port}`, proxy.url.replace(/:[^:@]+@/, ":other@"))).toBe(407);
});

test("the proxy of an audit sink requests nothing by itself: a redirect to http:// ends there", async () => {
  proxy.lead(`https://127.0.0.1:${port}`);
  const { hostname, port: at } = new URL(proxy.url);
  const status = await new Promise((done, failed) => {
    const sent = request({ hostname, port: at, path: `http://127.0.0.1:${port}/`, agent: false });
    sent.once("response", ({ statusCode }) => done(statusCode));
    sent.once("error", failed);
    sent.end();
  });
  expect(status).toBe(403);
});

test("the proxy of an audit sink carries bytes both ways, and ends them when it is closed", async () => {
  proxy.lead(`https://127.0.0.1:${port}`);
  const { socket } = await connectTo(`127.0.0.1:${port}`);
  const echoed = new Promise<string>((done) => socket.once("data", (chunk: Buffer) => done(chunk.toString())));
  socket.write("hello");
  expect(await echoed).toBe("hello");
  const ended = new Promise<void>((done) => socket.once("close", () => done()));
  socket.on("error", () => {});
  await proxy.close();
  await ended;
});

test("the proxy of an audit sink ends a connection once its client did, though the sink does not end its side", async () => {
  let patient: Socket | undefined;
  let read = "";
  const sinks = createServer({ allowHalfOpen: true }, (socket) => {
    patient = socket.on("error", () => {}).on("data", (chunk: Buffer) => (read += chunk.toString()));
  });
  await new Promise<void>((done) => sinks.listen(0, "127.0.0.1", done));
  const { port: at } = sinks.address() as AddressInfo;
  proxy.lead(`https://127.0.0.1:${at}`);
  const { socket } = await connectTo(`127.0.0.1:${at}`);
  const ended = new Promise<void>((done) => socket.once("close", () => done()));
  socket.resume().end("the last bytes");
  await ended;
  await vi.waitFor(() => expect(read).toBe("the last bytes"));
  patient?.destroy();
  await new Promise((done) => sinks.close(done));
});
