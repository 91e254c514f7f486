import { connect as connectTls } from "node:tls";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { GATEWAY_CONTROLLER } from "../names.ts";
import { Gateway, GatewayClass, HTTPRoute } from "../objects/gateway.ts";
import { installGatewayKinds } from "../testing/gateway-kinds.ts";
import { Packets, type PacketRequest } from "../testing/packets.ts";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const HOUR = 3_600_000;
let w: IngressWorld;
let packets: Packets;

beforeAll(async () => {
  w = await IngressWorld.start({ dataPath: true });
  packets = new Packets(w);
  await installGatewayKinds(w.client);
  for (const [i, name] of ["one", "two", "three"].entries()) await packets.serve(name, 30_001 + i);
  w.run();
});
afterAll(async () => {
  await w.close();
  packets.close();
});

const seen = (address: string, asking: PacketRequest): Promise<string> => packets.seen(address, asking);

test("requests of an Ingress reach the Service of the most specific path, by elements", async () => {
  const paths = [to("one"), to("two", "/shop"), to("three", "/shop/cart", "Exact")];
  await w.ingress("shop", { rules: [{ host: "shop.example", http: { paths } }] });
  const address = await w.address("shop");
  const of = (path: string) => seen(address, { host: "shop.example", path });
  await w.until("the last path", async () => (await of("/shop/cart").catch(() => "")) === "three");
  const wanted = {
    "/": "one",
    "/shop": "two",
    "/shop/": "two",
    "/shop/x?a=b": "two",
    "/shopping": "one",
    "/shop/cart": "three",
    "/shop/cart/": "two",
  };
  const found = await Promise.all(Object.keys(wanted).map(async (path) => [path, await of(path)] as const));
  expect(Object.fromEntries(found)).toEqual(wanted);
  expect(await seen(address, { host: "other.example" })).toBe("503");
});

test("TLS of an Ingress ends with the certificate of the server name, and the one of a changed Secret", async () => {
  const authority = await createAuthority({ commonName: "ca", lifetime: HOUR });
  const issue = (name: string) =>
    issueCertificate(authority, { commonName: name, dnsNames: [name], usages: ["server"], lifetime: HOUR });
  for (const name of ["a", "b"]) await w.secret(`${name}-tls`, await issue(`${name}.example`));
  const rule = (host: string, service: string) => ({ host, http: { paths: [to(service)] } });
  await w.ingress("tls", {
    tls: [{ secretName: "a-tls" }, { secretName: "b-tls" }],
    rules: [rule("a.example", "one"), rule("b.example", "two")],
  });
  const address = await w.address("tls");
  const ca = authority.certificate;
  await w.until("TLS", async () => (await seen(address, { host: "b.example", ca }).catch(() => "")) === "two");
  expect(await seen(address, { host: "a.example", ca })).toBe("one");
  const serial = async (servername: string): Promise<string> => {
    const at = await packets.place(address, 443);
    return new Promise((done, failed) => {
      const socket = connectTls({ ...at, ca, servername }, () => {
        done(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.on("error", failed);
    });
  };
  const before = await serial("b.example");
  await w.secret("b-tls", await issue("b.example"));
  await w.until("the new certificate", async () => (await serial("b.example").catch(() => before)) !== before);
  expect(await seen(address, { host: "b.example", ca })).toBe("two");
});

test("requests of a Gateway are redirected, matched by headers, and shared by weight", async () => {
  const apiVersion = "gateway.networking.k8s.io/v1";
  const spec = { controllerName: GATEWAY_CONTROLLER };
  await w.client.create(GatewayClass, { apiVersion, kind: "GatewayClass", metadata: { name: "octavia" }, spec });
  const listeners = [{ name: "http", port: 80, protocol: "HTTP" }];
  const metadata = { name: "web", namespace: "default" };
  await w.client.create(Gateway, {
    apiVersion,
    kind: "Gateway",
    metadata,
    spec: { gatewayClassName: "octavia", listeners },
  });
  const path = (value: string) => ({ type: "PathPrefix", value });
  const one = [{ name: "one", port: 80 }];
  await w.client.create(HTTPRoute, {
    apiVersion,
    kind: "HTTPRoute",
    metadata,
    spec: {
      parentRefs: [{ name: "web" }],
      hostnames: ["web.example"],
      rules: [
        { matches: [{ path: path("/") }], backendRefs: one },
        {
          matches: [{ path: path("/old") }],
          filters: [{ type: "RequestRedirect", requestRedirect: { hostname: "new.example", statusCode: 301 } }],
        },
        {
          matches: [{ path: path("/"), headers: [{ name: "version", value: "two" }] }],
          backendRefs: [{ name: "two", port: 80 }],
        },
        {
          matches: [{ path: path("/both") }],
          backendRefs: [
            { name: "one", port: 80, weight: 3 },
            { name: "three", port: 80, weight: 1 },
          ],
        },
      ],
    },
  });
  const address = await w.until("the Gateway's address", async () => {
    const gateway = await w.client.get(Gateway, { namespace: "default", name: "web" });
    return gateway.status?.addresses?.[0]?.value;
  });
  const host = "web.example";
  const version = { version: "two" };
  await w.until("both", async () => /one|three/.test(await seen(address, { host, path: "/both" }).catch(() => "")));
  await w.until("headers", async () => (await seen(address, { host, headers: version })) === "two");
  expect(await seen(address, { host })).toBe("one");
  const moved = await packets.get(address, { host, path: "/old/x?a=b" });
  expect([moved.status, moved.headers.location]).toEqual([301, "http://new.example/old/x?a=b"]);
  const counts: Record<string, number> = {};
  for (let i = 0; i < 40; i += 1) {
    const name = await seen(address, { host, path: "/both" });
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts).toEqual({ one: 30, three: 10 });
});
