import { createHash, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { silentLog, systemClock } from "@causeway/foundation";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { alertRecord, alerts } from "../preface/alert.ts";
import { authorityHeader } from "../preface/proxy-header.ts";
import { startApiProxy } from "../proxy/proxy.ts";
import { clientHello } from "../testing/build-hello.ts";
import { allOf, closed, firstOf, until, World } from "../testing/world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const helloOf = (name: string): Buffer => clientHello({ names: [{ type: 0, bytes: Buffer.from(`${name}.test`) }] });

describe("connections through one port", () => {
  test("reach the tenant that the ClientHello names, with its own certificate and the agreed protocol", async () => {
    const [a, b, c] = [await world.tlsTenant("a"), await world.tlsTenant("b"), await world.tlsTenant("c")];
    await world.start();
    expect(String(await firstOf(world.tls(a, "a")))).toBe("a h2\n");
    expect(String(await firstOf(world.tls(b, "b")))).toBe("b h2\n");
    expect(String(await firstOf(world.tls(c, "c")))).toBe("c h2\n");
    await expect(firstOf(world.tls(c, "a"))).rejects.toThrow(/certificate/);
    // The certificate of b is not one of a's authority.
    await expect(firstOf(world.tls(a, "b"))).rejects.toThrow(/certificate/);
  });

  test("follow each change of the routes", async () => {
    const ca = await world.tlsTenant("a");
    await world.start();
    const route = world.routes.get("a.test");
    world.routes.clear();
    await expect(firstOf(world.tls(ca, "a"))).rejects.toThrow(/unrecognized.name/i);
    if (route) world.routes.set("a.test", route);
    expect(String(await firstOf(world.tls(ca, "a")))).toBe("a h2\n");
  });

  test.each<[string, Buffer, number]>([
    ["without a server name", clientHello({ extensions: false }), alerts.missingExtension],
    ["with an unknown name", helloOf("unknown"), alerts.unrecognizedName],
    ["of HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), alerts.unexpectedMessage],
    ["of 64 kB of hello", clientHello({ names: [], padding: 65_000 }), alerts.decodeError],
    ["with a broken PROXY header", Buffer.from("\r\n\r\n\0\r\nQUIT\nXXXXXXXX", "latin1"), alerts.decodeError],
  ])("%s are refused with an alert", async (_, bytes, alert) => {
    await world.start();
    const socket = world.raw();
    socket.write(bytes);
    expect(await allOf(socket)).toEqual(alertRecord(alert as 10));
  });

  test("to an API server that does not listen are refused with an alert", async () => {
    await world.start();
    world.route("gone", 1);
    const socket = world.raw();
    socket.write(helloOf("gone"));
    expect(await allOf(socket)).toEqual(alertRecord(alerts.internalError));
    expect(await world.metric('causeway_api_gateway_dial_failures_total{tenant="gone"}')).toBe(1);
  });

  test("to a hibernated control plane are refused at once with an alert of their own, and reach it once it wakes", async () => {
    let dialled = 0;
    const ca = await world.tlsTenant("a");
    await world.rawTenant("asleep", (socket) => {
      dialled += 1;
      socket.destroy();
    });
    await world.start();
    for (const name of ["a", "asleep"]) {
      const route = world.routes.get(`${name}.test`);
      if (route) world.routes.set(`${name}.test`, { ...route, isHibernated: true });
    }
    const socket = world.raw();
    socket.write(helloOf("asleep"));
    expect(await allOf(socket)).toEqual(alertRecord(alerts.accessDenied));
    await expect(firstOf(world.tls(ca, "a"))).rejects.toThrow(/access.denied/i);
    expect(await world.metric('causeway_api_gateway_hibernated_total{tenant="a"}')).toBe(1);
    expect([dialled, world.gateway.connections]).toEqual([0, 0]);
    const { tenant = "", host = "", port = 0 } = world.routes.get("a.test") ?? {};
    world.routes.set("a.test", { tenant, host, port });
    expect(String(await firstOf(world.tls(ca, "a")))).toBe("a h2\n");
  });

  test("end each direction on its own", async () => {
    const received: Buffer[] = [];
    await world.rawTenant("raw", (socket) => {
      socket.on("data", (chunk: Buffer) => received.push(chunk));
      socket.on("end", () => socket.end(`got ${Buffer.concat(received).length}`));
    });
    await world.start();
    const [socket, body] = [world.raw(), randomBytes(300_000)];
    socket.write(helloOf("raw"));
    socket.end(body);
    const all = helloOf("raw").length + body.length;
    expect(String(await allOf(socket))).toBe(`got ${all}`);
    expect(Buffer.concat(received).equals(Buffer.concat([helloOf("raw"), body]))).toBe(true);
    await until("counted", async () => world.gateway.connections === 0);
    expect(await world.metric('causeway_api_gateway_bytes_total{tenant="raw",direction="received"}')).toBe(all);
  });

  test("that are not read hold up their own tenant only, and lose nothing", async () => {
    const body = randomBytes(64 * 2 ** 20);
    let source: Socket | undefined;
    await world.rawTenant("large", (socket) => {
      source = socket;
      socket.end(body);
    });
    const ca = await world.tlsTenant("b");
    await world.start();
    const slow = world.raw();
    slow.write(helloOf("large"));
    await until("it stalls", async () => {
      const before = source?.bytesWritten ?? 0;
      await systemClock.sleep(200);
      const isStalled = before > 0 && source?.bytesWritten === before;
      return isStalled && (source?.writableLength ?? 0) > 16 * 2 ** 20;
    });
    expect(String(await firstOf(world.tls(ca, "b")))).toBe("b h2\n");
    const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
    expect(digest(await allOf(slow))).toBe(digest(body));
  });

  test("are reset when their API server breaks off, so that nothing cut off seems complete", async () => {
    await world.rawTenant("breaks", (socket) => {
      socket.once("data", () => {
        socket.write("half");
        setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
    await world.start();
    const socket = world.raw();
    const error = new Promise<Error>((resolve) => socket.once("error", resolve));
    socket.resume();
    socket.write(helloOf("breaks"));
    expect(await error).toMatchObject({ code: "ECONNRESET" });
  });
});

describe("the connection limits of the gateway", () => {
  test("of one tenant refuse its next connection and no other's", async () => {
    const [a, b] = [await world.tlsTenant("a"), await world.tlsTenant("b")];
    await world.start({ limits: { perTenant: 2 } });
    const held = [world.tls(a, "a"), world.tls(a, "a")];
    for (const each of held) await firstOf(each);
    await expect(firstOf(world.tls(a, "a"))).rejects.toThrow(/internal.error/i);
    expect(String(await firstOf(world.tls(b, "b")))).toBe("b h2\n");
    expect(await world.metric('causeway_api_gateway_limited_total{tenant="a",limit="tenant"}')).toBe(1);
    held[0]?.destroy();
    await until("one has gone", () => world.gateway.connections === 2);
    expect(String(await firstOf(world.tls(a, "a")))).toBe("a h2\n");
  });

  test("of all tenants are paid by the one with the most connections, by its newest", async () => {
    const [a, b] = [await world.tlsTenant("a"), await world.tlsTenant("b")];
    await world.start({ limits: { total: 5 } });
    const held = Array.from({ length: 5 }, () => world.tls(a, "a"));
    for (const each of held) {
      each.on("error", () => {});
      await firstOf(each);
    }
    // a is the one with the most, and gets no more.
    await expect(firstOf(world.tls(a, "a"))).rejects.toThrow(/internal.error/i);
    for (const own of [world.tls(b, "b"), world.tls(b, "b")]) expect(String(await firstOf(own))).toBe("b h2\n");
    await Promise.all([closed(held[4] as Socket), closed(held[3] as Socket)]);
    expect(held.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true, true]);
    held[0]?.write("still there");
    expect(String(await firstOf(held[0] as Socket))).toBe("still there");
    // Three and two are as equal as five can be.
    await expect(firstOf(world.tls(b, "b"))).rejects.toThrow(/internal.error/i);
  });
});

describe("hostile clients of the gateway", () => {
  test("that send nothing, single bytes or garbage do not keep others from connecting", async () => {
    const ca = await world.tlsTenant("b");
    await world.start({ limits: { pending: 50 } });
    const silent = Array.from({ length: 200 }, () => world.reading());
    for (const [i, socket] of silent.entries()) if (i % 2 === 0) socket.write(Buffer.from([22]));
    const garbage = Array.from({ length: 50 }, () => world.reading());
    for (const socket of garbage) socket.end(randomBytes(70_000));
    const latencies: number[] = [];
    for (let i = 0; i < 20; i++) {
      const began = performance.now();
      expect(String(await firstOf(world.tls(ca, "b")))).toBe("b h2\n");
      latencies.push(performance.now() - began);
    }
    // A gateway that waits for one of them waits ten seconds.
    expect(Math.max(...latencies)).toBeLessThan(5_000);
    await until("most silent ones are gone", () => silent.filter(({ destroyed }) => !destroyed).length <= 50);
    expect(await world.metric('causeway_api_gateway_refused_total{reason="pending"}')).toBeGreaterThanOrEqual(150);
  });

  test("that send their ClientHello too slowly are ended, however often they send a byte", async () => {
    await world.start({ timing: { helloTimeout: 300 } });
    const [socket, hello] = [world.raw(), helloOf("a")];
    let sent = 0;
    const timer = setInterval(() => socket.write(hello.subarray(sent, ++sent)), 20);
    await closed(socket.resume());
    clearInterval(timer);
    expect(await world.metric('causeway_api_gateway_refused_total{reason="timeout"}')).toBe(1);
  });

  test("cannot choose the address under which they are counted", async () => {
    const ca = await world.tlsTenant("b");
    await world.start({ limits: { pending: 2 } });
    // A header with addresses (192.0.2.1) and no authority, from a peer that is no load balancer.
    const header = authorityHeader("x");
    const spoofed = Buffer.concat([
      header.subarray(0, 13),
      Buffer.from([0x11, 0, 12, 192, 0, 2, 1, 1, 1, 1, 1, 0, 1, 0, 1]),
    ]);
    const sockets = Array.from({ length: 6 }, () => world.reading());
    for (const socket of sockets) socket.write(spoofed);
    expect(String(await firstOf(world.tls(ca, "b")))).toBe("b h2\n");
    await until("the oldest are gone", () => sockets.filter(({ destroyed }) => destroyed).length >= 4);
  });
});

describe("a node's proxy", () => {
  const proxyTo = async (port: number, serverName: string, more: object = {}) => {
    const proxy = await startApiProxy({
      host: "127.0.0.1",
      port: 0,
      gateways: [{ host: "127.0.0.1", port }],
      serverName,
      metrics: world.metrics,
      clock: systemClock,
      log: silentLog,
      ...more,
    });
    world.after(() => proxy.close());
    return proxy;
  };

  test("passes on clients that send no server name, or that of Service kubernetes", async () => {
    const ca = await world.tlsTenant("a");
    await world.start();
    const proxy = await proxyTo(world.gateway.port, "a.test");
    expect(String(await firstOf(world.tls(ca, undefined, proxy.port)))).toBe("a h2\n");
    // "kubernetes.default.svc.test" has no route; the header goes before it.
    expect(String(await firstOf(world.tls(ca, "kubernetes.default.svc", proxy.port)))).toBe("a h2\n");
  });

  test("uses another gateway when one cannot be reached", async () => {
    const ca = await world.tlsTenant("a");
    const { port } = await world.start();
    const gateways = [1, port].map((each) => ({ host: "127.0.0.1", port: each }));
    const proxy = await proxyTo(port, "a.test", { gateways });
    expect(String(await firstOf(world.tls(ca, undefined, proxy.port)))).toBe("a h2\n");
    expect(await world.metric("causeway_api_proxy_dial_failures_total")).toBe(1);
  });

  test("resets its clients when no gateway can be reached, and when too many are open", async () => {
    const ca = await world.tlsTenant("a");
    await world.start();
    const away = await proxyTo(1, "a.test");
    await expect(firstOf(world.tls(ca, undefined, away.port))).rejects.toThrow();
    const small = await proxyTo(world.gateway.port, "a.test", { maxConnections: 1 });
    await firstOf(world.tls(ca, undefined, small.port));
    await expect(firstOf(world.tls(ca, undefined, small.port))).rejects.toThrow();
  });
});

describe("a drain", () => {
  test("keeps open connections until they end, and accepts no new one", async () => {
    const ca = await world.tlsTenant("a");
    const gateway = await world.start();
    const watch = world.tls(ca, "a");
    await firstOf(watch);
    let over = false;
    const draining = gateway.drain(new AbortController().signal).then(() => (over = true));
    await expect(firstOf(world.tls(ca, "a"))).rejects.toThrow(/ECONNREFUSED/);
    watch.write("an event");
    expect(String(await firstOf(watch))).toBe("an event");
    expect(over).toBe(false);
    watch.end();
    await draining;
  });

  test("ends when its grace does", async () => {
    const ca = await world.tlsTenant("a");
    const gateway = await world.start();
    await firstOf(world.tls(ca, "a"));
    const grace = new AbortController();
    const draining = gateway.drain(grace.signal);
    grace.abort();
    await draining;
    expect(gateway.connections).toBe(1);
  });
});
