import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { KubernetesClient, WatchEvent, WatchOptions } from "./interface.ts";
import { ConfigMap } from "../types/core.ts";
import { createClient } from "./client.ts";
import type { ClientOptions } from "./transport.ts";
import { Streams } from "./streams.ts";
import { lines } from "./watch-stream.ts";

const DAY = 86_400_000;
const opened: { stop(): Promise<void> }[] = [];
let authority: KeyPair;
let serving: KeyPair;

beforeAll(async () => {
  authority = await createAuthority({ commonName: "test-ca", lifetime: DAY });
  serving = await issueCertificate(authority, {
    commonName: "api",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: DAY,
  });
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop();
});

/** A server of HTTP/2 and its connections and streams so far. */
async function serve(
  answer: (stream: ServerHttp2Stream, path: string) => void,
  settings = {},
  clientOptions: ClientOptions = {},
) {
  const server: Http2SecureServer = createSecureServer({
    allowHTTP1: true,
    cert: serving.certificate,
    key: serving.key,
    settings,
  });
  const sockets = new Set<Socket>();
  const seen = { connections: 0, streams: 0, http1: 0, closed: 0 };
  server.on("connection", (socket: Socket) => {
    seen.connections += 1;
    sockets.add(socket);
  });
  server.on("sessionError", () => {});
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    seen.streams += 1;
    stream.on("error", () => {});
    stream.on("close", () => (seen.closed += 1));
    answer(stream, String(headers[":path"]));
  });
  server.on("request", (request, response) => {
    if (request.httpVersionMajor !== 1) return;
    seen.http1 += 1;
    response.writeHead(200, { "content-type": "application/json" });
    if (request.url?.includes("watch=true") === true) response.write(lineOf("http1"));
    else response.end(objectOf("http1"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = { server: `https://127.0.0.1:${port}`, ca: authority.certificate };
  const client = createClient(config, clientOptions);
  opened.push({
    async stop() {
      await client.close();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
  return { client, seen, sockets, server: { host: "127.0.0.1", port } };
}

const objectOf = (name: string): string => JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const lineOf = (name: string): string => `{"type":"ADDED","object":${objectOf(name)}}\n`;

const begin = (stream: ServerHttp2Stream, name: string): void => {
  stream.respond({ ":status": 200, "content-type": "application/json" });
  stream.write(lineOf(name));
};

const watchOf = (client: KubernetesClient, options: WatchOptions): AsyncIterator<WatchEvent<ConfigMap>, void> =>
  client.watch(ConfigMap, options)[Symbol.asyncIterator]();

const nameOf = (result: IteratorResult<WatchEvent<ConfigMap>, void>): string | undefined =>
  result.done !== true && result.value.type === "ADDED" ? result.value.object.metadata.name : undefined;

const streamsTo = ({ port }: { readonly port: number }): Streams =>
  new Streams({
    origin: `https://127.0.0.1:${port}`,
    tls: { ca: authority.certificate },
    connectTimeout: 60_000,
    headersTimeout: 60_000,
  });

describe("watches of a Kubernetes client over HTTP/2:", () => {
  test("twenty watches take one connection", async () => {
    const { client, seen } = await serve((stream, path) => begin(stream, path.slice(0, 20)));
    const watches = Array.from({ length: 20 }, () => watchOf(client, { resourceVersion: "1" }));
    await Promise.all(watches.map((watch) => watch.next()));
    expect(seen).toMatchObject({ connections: 1, streams: 20 });
    for (const watch of watches) await watch.return?.();
    await expect.poll(() => seen.closed).toBe(20);
  });

  test("a watch that is not read holds up no other", async () => {
    const more = lineOf("x".repeat(1_000_000));
    const { client } = await serve((stream, path) => {
      begin(stream, "first");
      if (path.includes("namespaces/slow")) stream.write(more);
      else stream.write(lineOf("second"));
    });
    const slow = watchOf(client, { namespace: "slow", resourceVersion: "1" });
    expect(nameOf(await slow.next())).toBe("first");
    const other = watchOf(client, { namespace: "other", resourceVersion: "1" });
    expect([nameOf(await other.next()), nameOf(await other.next())]).toEqual(["first", "second"]);
    expect(nameOf(await slow.next())).toHaveLength(1_000_000);
  });

  test("more watches than the server accepts on one connection get connections of their own", async () => {
    const { client, seen } = await serve((stream) => begin(stream, "http2"), { maxConcurrentStreams: 2 });
    const watches = [1, 2, 3, 4].map(() => watchOf(client, { resourceVersion: "1" }));
    const names = await Promise.all(watches.map(async (watch) => nameOf(await watch.next())));
    expect(names.toSorted((a = "", b = "") => a.localeCompare(b))).toEqual(["http1", "http1", "http2", "http2"]);
    expect(seen).toEqual({ connections: 3, streams: 2, http1: 2, closed: 0 });
  });

  test("a read uses the connection of watches unless one of calls is open", async () => {
    const { client, seen } = await serve((stream, path) => {
      if (path.includes("watch=true")) return begin(stream, "a");
      stream.respond({ ":status": 200, "content-type": "application/json" });
      stream.end(objectOf("http2"));
    });
    const key = { namespace: "default", name: "a" };
    const read = async (): Promise<string> => (await client.get(ConfigMap, key)).metadata.name;
    await watchOf(client, { resourceVersion: "1" }).next();
    expect(await read()).toBe("http2");
    expect(seen).toMatchObject({ connections: 1, streams: 2 });
    await client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: key });
    expect(await read()).toBe("http1");
    expect(seen).toMatchObject({ streams: 2, http1: 2 });
  });

  test.each<[string, (stream: ServerHttp2Stream, sockets: ReadonlySet<Socket>) => void]>([
    // To close it would end the data first, as if they were whole.
    ["fails", (stream) => stream.destroy(new Error("a failure"))],
    ["ends the connection", (_, all) => all.forEach((socket) => socket.destroy())],
  ])("what was received of a response is no answer when the server %s within it", async (_, cut) => {
    const halves: ServerHttp2Stream[] = [];
    const { client, sockets } = await serve((stream, path) => {
      if (path.includes("watch=true")) return begin(stream, "a");
      stream.respond({ ":status": 200, "content-type": "text/plain" });
      stream.write("a line\nhalf of a");
      halves.push(stream);
    });
    await watchOf(client, { resourceVersion: "1" }).next();
    const text = client.request("GET", "/metrics");
    const failure = expect(text).rejects.toMatchObject({ code: "KUBERNETES_UNREACHABLE" });
    await expect.poll(() => halves.length).toBe(1);
    for (const half of halves) cut(half, sockets);
    await failure;
  });

  test("an error whose text does not end is thrown in time", async () => {
    const { client } = await serve(
      (stream, path) => {
        if (path.includes("watch=true")) return begin(stream, "a");
        stream.respond({ ":status": 500, "content-type": "application/json" });
        stream.write("{");
      },
      {},
      { readTimeout: 20 },
    );
    await watchOf(client, { resourceVersion: "1" }).next();
    const read = client.get(ConfigMap, { namespace: "default", name: "a" });
    await expect(read).rejects.toMatchObject({ code: "KUBERNETES_UNREACHABLE" });
  });

  test("a lost connection ends its watches, and the next watch gets another connection", async () => {
    const { client, seen, sockets } = await serve((stream) => begin(stream, "a"));
    const watch = watchOf(client, { resourceVersion: "1" });
    await watch.next();
    const end = expect(watch.next()).rejects.toMatchObject({ code: "KUBERNETES_UNREACHABLE" });
    for (const socket of sockets) socket.destroy();
    await end;
    expect(nameOf(await watchOf(client, { resourceVersion: "1" }).next())).toBe("a");
    expect(seen).toMatchObject({ connections: 2, streams: 2 });
  });

  test("after a server has announced the end of a connection the next watch gets another, and the first continues", async () => {
    const streams: ServerHttp2Stream[] = [];
    const { client, seen } = await serve((stream) => {
      streams.push(stream);
      begin(stream, "a");
    });
    const first = watchOf(client, { resourceVersion: "1" });
    await first.next();
    streams[0]?.session?.goaway(constants.NGHTTP2_NO_ERROR, streams[0].id);
    streams[0]?.write(lineOf("after"));
    expect(nameOf(await first.next())).toBe("after");
    expect(nameOf(await watchOf(client, { resourceVersion: "1" }).next())).toBe("a");
    expect(seen).toMatchObject({ connections: 2, streams: 2 });
    streams[0]?.end(lineOf("last"));
    expect(nameOf(await first.next())).toBe("last");
  });

  test("an aborted watch ends with the signal's reason, and others on its connection continue", async () => {
    const streams: ServerHttp2Stream[] = [];
    const { client, seen } = await serve((stream) => {
      streams.push(stream);
      begin(stream, "a");
    });
    const stopping = new AbortController();
    const one = watchOf(client, { resourceVersion: "1", signal: stopping.signal });
    const two = watchOf(client, { resourceVersion: "1" });
    await one.next();
    await two.next();
    const end = one.next();
    stopping.abort(new Error("enough"));
    await expect(end).rejects.toThrow("enough");
    await expect.poll(() => seen.closed).toBe(1);
    streams[1]?.write(lineOf("b"));
    expect(nameOf(await two.next())).toBe("b");
  });

  test("a signal that aborts just as the connection is there is heard", async () => {
    const { server } = await serve((stream) => begin(stream, "a"));
    const streams = streamsTo(server);
    try {
      await streams.request({ path: "/api", headers: {} });
      for (let turns = 0; turns < 8; turns++) {
        const stopping = new AbortController();
        const request = streams.request({ path: "/api", headers: {}, signal: stopping.signal });
        const failure = expect(request, `${turns} turns`).rejects.toThrow("enough");
        for (let i = 0; i < turns; i++) await Promise.resolve();
        stopping.abort(new Error("enough"));
        await failure;
      }
    } finally {
      streams.destroy();
    }
  });

  test("what is closed while it connects ends its requests, and no more", async () => {
    const { server } = await serve((stream) => begin(stream, "a"));
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on("uncaughtException", note);
    try {
      const streams = streamsTo(server);
      const request = streams.request({ path: "/api", headers: {} });
      streams.destroy();
      await expect(request).rejects.toThrow("the server ended the connection");
      expect(uncaught).toEqual([]);
    } finally {
      process.off("uncaughtException", note);
    }
  });

  test("a watch whose stream breaks before the response is repeated once", async () => {
    let requests = 0;
    const { client, seen } = await serve((stream) => {
      requests += 1;
      if (requests === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else begin(stream, "a");
    });
    expect(nameOf(await watchOf(client, { resourceVersion: "1" }).next())).toBe("a");
    expect(seen.streams).toBe(2);
  });

  test("an error of the server is thrown with its status", async () => {
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410 };
    const { client } = await serve((stream) => {
      stream.respond({ ":status": 410, "content-type": "application/json" });
      stream.end(JSON.stringify(status));
    });
    await expect(watchOf(client, { resourceVersion: "1" }).next()).rejects.toMatchObject({
      code: "KUBERNETES_EXPIRED",
    });
  });

  test("a connection whose server is gone without a word is ended when it is used again", async () => {
    const { server } = await serve((stream) => begin(stream, "a"));
    const proxied: Socket[] = [];
    const proxy = createServer((socket) => {
      const upstream = connect(server);
      proxied.push(
        socket.on("error", () => {}),
        upstream.on("error", () => {}),
      );
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const origin = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const options = {
      origin,
      tls: { ca: authority.certificate },
      connectTimeout: 60_000,
      headersTimeout: 60_000,
      silence: 60_000,
    };
    const streams = new Streams(options);
    try {
      const request = { path: "/api", headers: {} };
      expect((await streams.request(request))?.statusCode).toBe(200);
      for (const socket of proxied) socket.unpipe();
      options.silence = 0;
      await expect(streams.request(request)).rejects.toThrow("the server does not respond");
      options.silence = 60_000;
      expect((await streams.request(request))?.statusCode).toBe(200);
      expect(proxied).toHaveLength(4);
    } finally {
      streams.destroy();
      for (const socket of proxied) socket.destroy();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
    }
  });
});

test("a watch that waits for the next event keeps no bytes of the last one", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let received: WeakRef<ArrayBufferLike> | undefined;
  const silence = Promise.withResolvers<void>();
  const send = (): IteratorResult<Uint8Array> => {
    const bytes = new Uint8Array(Buffer.from(lineOf("a")));
    received = new WeakRef(bytes.buffer);
    return { done: false, value: bytes };
  };
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      if (received === undefined) return send();
      await silence.promise;
      return { done: true, value: undefined };
    },
  };
  const events = lines({ [Symbol.asyncIterator]: () => iterator });
  await events.next();
  const next = events.next();
  const isFree = async (): Promise<boolean> => {
    await new Promise((done) => setImmediate(done));
    collect();
    return received?.deref() === undefined;
  };
  await expect.poll(isFree).toBe(true);
  silence.resolve();
  expect(await next).toEqual({ done: true, value: undefined });
});
