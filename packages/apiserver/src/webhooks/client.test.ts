import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { openStore } from "../store/index.ts";
import { createWebhookClient } from "./client.ts";
import type { WebhookClient, WebhookClientConfig } from "../contract/webhooks.ts";

const HOUR = 3_600_000;
const store = openStore({});
const cluster = { name: "", store };
let server: Server;
let client: WebhookClient;
let caBundle = "";
let leaf = "";
let port = 0;
let seen: { url: string | undefined; authorization: string | undefined; body: string }[] = [];

beforeAll(async () => {
  const authority = await createAuthority({ commonName: "webhook", lifetime: HOUR });
  const names = ["localhost", "hook.apps.svc"];
  const issued = {
    commonName: "hook",
    dnsNames: names,
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: HOUR,
  };
  const { certificate, key } = await issueCertificate(authority, { ...issued, usages: ["server"] });
  caBundle = Buffer.from(authority.certificate).toString("base64");
  leaf = Buffer.from(certificate).toString("base64");
  server = createServer({ cert: certificate, key }, (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const url = request.url ?? "";
      seen.push({ url, authorization: request.headers.authorization, body });
      if (url.startsWith("/slow")) return;
      if (url.startsWith("/endless")) return endless(response);
      if (url.startsWith("/drip")) return void response.write("{");
      if (url.startsWith("/broken")) return void response.writeHead(500).end("boom");
      if (url.startsWith("/elsewhere")) return void response.writeHead(307, { location: "/ok" }).end();
      if (url.startsWith("/switch"))
        return void request.socket.write("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      if (url.startsWith("/text")) return void response.end("hello");
      response.end(JSON.stringify({ from: request.socket.remotePort }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as AddressInfo).port;
  client = createWebhookClient(cluster, true);
});
afterAll(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await store.close();
});

/** Writes as long as it is read. */
function endless(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, " ");
  const more = (): void => {
    if (!response.destroyed) response.write(chunk, () => setImmediate(more));
  };
  more();
}

const at = (path: string): WebhookClientConfig => ({ url: `https://127.0.0.1:${port}${path}`, caBundle });

test("posts JSON without a credential, sends the timeout, and keeps the connection", async () => {
  seen = [];
  const first = await client.call(at("/ok"), { kind: "Question" }, { timeout: 9500 });
  const second = await client.call(at("/ok"), { kind: "Question" }, { timeout: 9500 });
  expect(seen[0]).toEqual({ url: "/ok?timeout=10s", authorization: undefined, body: '{"kind":"Question"}' });
  expect(second).toEqual(first);
});

test("a webhook's client asks for a clean path, as client-go does", async () => {
  seen = [];
  for (const path of ["//ok", "/ok/", "/a/../ok"]) await client.call(at(path), {}, { timeout: 5000 });
  expect(seen.map(({ url }) => url)).toEqual(["/ok?timeout=5s", "/ok?timeout=5s", "/ok?timeout=5s"]);
});

test("trusts a bundle that is the server's own certificate, without the authority that signed it", async () => {
  const answer = await client.call({ ...at("/ok"), caBundle: leaf }, {}, { timeout: 5000 });
  expect(answer).toHaveProperty("from");
});

const service = { namespace: "apps", name: "hook", path: "/ok" };
const put = (resource: string, name: string, rest: object): Promise<unknown> => {
  const object = { apiVersion: "v1", kind: "X", metadata: { name, namespace: "apps" }, ...rest };
  return store.create({ cluster: "", resource, namespace: "apps", name }, object);
};

test("a webhook's client reaches a Service by a ready endpoint, and asks for the Service's own name", async () => {
  await expect(client.call({ service, caBundle }, {}, { timeout: 1000 })).rejects.toThrow(
    'Post "https://hook.apps.svc:443/ok?timeout=1s": service "hook" not found',
  );
  await put("/services", "hook", { spec: { ports: [{ name: "web", port: 443 }] } });
  await expect(client.call({ service, caBundle }, {}, { timeout: 1000 })).rejects.toThrow(
    'no endpoints available for service "hook"',
  );
  await expect(client.call({ service: { ...service, port: 1 }, caBundle }, {}, { timeout: 1000 })).rejects.toThrow(
    'no service port 1 found for service "hook"',
  );
  await put("discovery.k8s.io/endpointslices", "hook-1", {
    metadata: { name: "hook-1", namespace: "apps", labels: { "kubernetes.io/service-name": "hook" } },
    ports: [{ name: "web", port }],
    endpoints: [
      { addresses: ["192.0.2.1"], conditions: { ready: false } },
      { addresses: ["127.0.0.1"], conditions: { ready: true } },
    ],
  });
  expect(await client.call({ service, caBundle }, {}, { timeout: 5000 })).toMatchObject({ from: expect.any(Number) });
});

describe("a failed call of a webhook is reported as kube-apiserver reports it:", () => {
  test.each<[string, () => WebhookClientConfig, RegExp]>([
    [
      "no listener",
      () => ({ url: "https://127.0.0.1:1/x", caBundle }),
      /^Post "https:\/\/127\.0\.0\.1:1\/x\?timeout=1s": dial tcp 127\.0\.0\.1:1: connect: connection refused$/,
    ],
    [
      "another authority",
      () => ({ url: `https://127.0.0.1:${port}/ok` }),
      /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    ],
    ["no answer in time", () => at("/slow"), /\/slow\?timeout=1s": context deadline exceeded$/],
    ["an error", () => at("/broken"), /^an error on the server \("boom"\) has prevented the request from succeeding$/],
    [
      "a redirect",
      () => at("/elsewhere"),
      /^the server responded with the status code 307 but did not return more information$/,
    ],
    ["an answer in another protocol", () => at("/switch"), /its response switches protocols, which was not requested$/],
    ["no JSON", () => at("/text"), /json parse error/],
    [
      "an answer that does not end",
      () => at("/endless"),
      /\/endless\?timeout=9s": the answer is longer than 262144 bytes$/,
    ],
    ["an answer that stops in the middle", () => at("/drip"), /\/drip\?timeout=1s": context deadline exceeded$/],
  ])("%s", async (_name, config, message) => {
    const timeout = /timeout=(\d)s/.exec(String(message))?.[1] ?? "1";
    await expect(client.call(config(), {}, { timeout: Number(timeout) * 1000, limit: 262_144 })).rejects.toMatchObject({
      code: "WEBHOOK_CALL_FAILED",
      message: expect.stringMatching(message),
    });
  });

  test("a cluster that may not call out makes no call", async () => {
    seen = [];
    const refused = createWebhookClient(cluster, false);
    await expect(refused.call(at("/ok"), {}, { timeout: 1000 })).rejects.toThrow("this cluster may not call webhooks");
    expect(seen).toEqual([]);
  });
});
