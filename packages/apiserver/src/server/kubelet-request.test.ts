import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import { createServer as createHttpsServer, request as httpsRequest, type Server } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { createClient, loadKubeconfig, Node, Pod, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogicalCluster } from "../interface.ts";
import { startApiServer } from "../start.ts";

const year = 365 * 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "kubelets-"));
const tunnel = join(folder, "tunnel.sock");
let kubelet: Server;
let proxy: HttpServer | undefined;
let server: Awaited<ReturnType<typeof startApiServer>>;
let cluster: LogicalCluster;
let client: KubernetesClient;
const asked: string[] = [];
const targets: string[] = [];
let refusal = "";

/** Answers each request with its path; says who sent it; agrees to each upgrade, and then returns what it reads. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const { CN, O } = (request.socket as TLSSocket).getPeerCertificate().subject;
  asked.push(
    `${request.method} ${request.url} ${String(CN)} ${String(O)} ${request.headers.authorization ?? "no token"}`,
  );
  if (request.url?.includes("missing")) return void response.writeHead(404).end("the container is gone\n");
  response.write("first\n");
  if (!request.url?.includes("follow")) return void response.end("last\n");
  setTimeout(() => response.end("later\n"), 50);
}

beforeAll(async () => {
  const authority = await createAuthority({ commonName: "cluster", lifetime: year });
  const own = { commonName: "kubelet", ipAddresses: ["127.0.0.1"], lifetime: year };
  const { certificate: cert, key } = await issueCertificate(authority, { ...own, usages: ["server"] });
  kubelet = createHttpsServer(
    { cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
    answer,
  );
  kubelet.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    asked.push(
      `${request.method} ${request.url} upgrade ${request.headers.upgrade} ${request.headers["sec-websocket-protocol"] ?? ""}`,
    );
    if (request.url?.includes("refused"))
      return void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno\n");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => kubelet.listen(0, "127.0.0.1", resolve));
  const listening = createServer().on("connect", (request: IncomingMessage, socket: Socket) => {
    targets.push(request.url ?? "");
    if (refusal !== "") return void socket.end(`HTTP/1.1 503 ${refusal}\r\n\r\n`);
    const other = connect((kubelet.address() as AddressInfo).port, "127.0.0.1");
    for (const each of [socket, other]) each.on("error", () => {});
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => listening.listen(tunnel, resolve));
  proxy = listening;
  server = await startApiServer();
  cluster = await server.ensureCluster("tenant", {
    authority,
    kubelets: { networks: ["127.0.0.1/32", "10.6.0.0/16"], tunnel, authority: authority.certificate, connections: 3 },
    listen: { host: "127.0.0.1", port: 0, names: ["127.0.0.1"] },
  });
  client = createClient(loadKubeconfig({ text: await cluster.kubeconfig() }));
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: "default", name: "default" } };
  await client.request("POST", "/api/v1/namespaces/default/serviceaccounts", { body: account }).catch(() => undefined);
  await machine("near", "127.0.0.1");
  await machine("metadata", "169.254.169.254");
  await machine("management", "192.0.2.1");
  await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "blank" }, spec: {} });
  for (const name of ["near", "metadata", "management", "blank"]) await pod(name);
});

afterAll(async () => {
  await client.close();
  await server.close();
  proxy?.close();
  kubelet.closeAllConnections();
  kubelet.close();
  rmSync(folder, { recursive: true });
});

async function machine(name: string, address: string): Promise<void> {
  await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
  const port = { Port: (kubelet.address() as AddressInfo).port };
  const addresses = [
    { type: "Hostname", address: "localhost" },
    { type: "InternalIP", address },
  ];
  await client.request("PATCH", `/api/v1/nodes/${name}/status`, {
    contentType: "application/merge-patch+json",
    body: { status: { addresses, daemonEndpoints: { kubeletEndpoint: port } } },
  });
}

function pod(nodeName: string): Promise<unknown> {
  return client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: `on-${nodeName}` },
    spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: "web", image: "web:1" }] },
  });
}

const log = async (path: string): Promise<string> =>
  String(
    await client
      .request("GET", `/api/v1/namespaces/default/pods/${path}`)
      .catch((error: unknown) => (error as Error).message),
  );

/** The status and what comes back after "ping", of a request with these headers. */
async function upgraded(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const { url, user } = loadParts(await cluster.kubeconfig());
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(`${url}/api/v1/namespaces/default/pods/${path}`, {
      method: headers["Upgrade"] === "websocket" ? "GET" : "POST",
      headers: { Connection: "Upgrade", ...headers },
      rejectUnauthorized: false,
      ...user,
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response
        .on("data", (chunk: Buffer) => (text += chunk.toString()))
        .on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("upgrade", (response, socket) => {
      socket.write("ping");
      socket.once("data", (chunk: Buffer) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, text: chunk.toString() });
      });
    });
    sent.end();
  });
}

function loadParts(kubeconfig: string): { url: string; user: { cert: Buffer; key: Buffer } } {
  const field = (name: string): string => new RegExp(`"?${name}"?: "?([^"\\s,]+)`).exec(kubeconfig)?.[1] ?? "";
  const decoded = (name: string): Buffer => Buffer.from(field(name), "base64");
  return { url: field("server"), user: { cert: decoded("client-certificate-data"), key: decoded("client-key-data") } };
}

const spdy = { Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": "v4.channel.k8s.io" };

describe("pods on nodes whose kubelet is reached", () => {
  test("have the log of their kubelet, requested with the API server's certificate through the tunnel", async () => {
    expect(await log("on-near/log?tailLines=5&timestamps=true&unknown=1")).toBe("first\nlast\n");
    expect(asked.at(-1)).toBe(
      "GET /containerLogs/default/on-near/web?timestamps=true&tailLines=5 kube-apiserver-kubelet-client system:masters no token",
    );
    expect(targets.at(-1)).toBe(`127.0.0.1:${(kubelet.address() as AddressInfo).port}`);
  });

  test("have their log followed to its end", async () => {
    expect(await log("on-near/log?follow=true")).toBe("first\nlater\n");
  });

  test("pass on what the kubelet says of a log that it does not have", async () => {
    expect(await log("on-near/log?sinceTime=missing")).toContain("the container is gone");
  });

  test("are joined with a client of exec, attach and port-forward", async () => {
    expect(await upgraded("on-near/exec?command=ls&command=-l&stdin=true&stdout=true&tty=false", spdy)).toEqual({
      status: 101,
      text: "ping",
    });
    expect(asked.at(-1)).toBe(
      "POST /exec/default/on-near/web?input=1&output=1&command=ls&command=-l upgrade SPDY/3.1 ",
    );
    expect(await upgraded("on-near/attach?stdout=true", spdy)).toEqual({ status: 101, text: "ping" });
    expect(asked.at(-1)).toBe("POST /attach/default/on-near/web?output=1 upgrade SPDY/3.1 ");
    expect(await upgraded("on-near/portforward?ports=80", spdy)).toEqual({ status: 101, text: "ping" });
    expect(asked.at(-1)).toBe("POST /portForward/default/on-near?port=80 upgrade SPDY/3.1 ");
  });

  test("are joined with a WebSocket of a protocol that kubelets know", async () => {
    const socket = {
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    };
    const both = { ...socket, "Sec-WebSocket-Protocol": "v5.channel.k8s.io, v4.channel.k8s.io" };
    expect((await upgraded("on-near/exec?command=ls&stdout=true", both)).status).toBe(101);
    expect(asked.at(-1)).toMatch(/upgrade websocket v4\.channel\.k8s\.io$/);
    const newest = { ...socket, "Sec-WebSocket-Protocol": "v5.channel.k8s.io" };
    expect(await upgraded("on-near/exec?command=ls&stdout=true", newest)).toMatchObject({
      status: 400,
      text: /unable to upgrade/,
    });
  });

  test("pass on the kubelet's refusal", async () => {
    expect(await upgraded("on-near/exec?command=refused&stdout=true", spdy)).toEqual({ status: 403, text: "no\n" });
  });

  test("need an upgrade for exec", async () => {
    await expect(client.request("POST", "/api/v1/namespaces/default/pods/on-near/exec?command=ls")).rejects.toThrow(
      /Upgrade request required/,
    );
  });

  test("report why the tunnel made no connection", async () => {
    refusal = "no agent of tenant a is connected since 2026-01-01T00:00:00.000Z";
    try {
      expect(await log("on-near/log")).toContain(`code 503: 503 ${refusal}`);
    } finally {
      refusal = "";
    }
  });

  const refused: [title: string, pod: string, message: RegExp][] = [
    [
      "the metadata service",
      "on-metadata",
      /169\.254\.169\.254 is a link-local address, as of a metadata service, so it is not dialled/,
    ],
    [
      "an address in no network of nodes",
      "on-management",
      /192\.0\.2\.1 is in no allowed network, so it is not dialled/,
    ],
    ["a node without an address", "on-blank", /no preferred addresses found/],
  ];
  test.each(refused)("are not reached at %s", async (_title, name, message) => {
    const before = targets.length;
    expect(await log(`${name}/log`)).toMatch(message);
    expect(targets.length).toBe(before);
  });

  test("share a limited number of connections, which end with their clients", async () => {
    const { url, user } = loadParts(await cluster.kubeconfig());
    const open = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise<Socket>((resolve, reject) => {
            httpsRequest(`${url}/api/v1/namespaces/default/pods/on-near/attach?stdout=true`, {
              method: "POST",
              headers: { Connection: "Upgrade", ...spdy },
              rejectUnauthorized: false,
              ...user,
            })
              .on("error", reject)
              .on("upgrade", (_response, socket) => resolve(socket as Socket))
              .end();
          }),
      ),
    );
    expect(await upgraded("on-near/attach?stdout=true", spdy)).toMatchObject({ status: 429 });
    for (const socket of open) socket.destroy();
    await expect.poll(() => log("on-near/log"), { timeout: 10_000 }).toBe("first\nlast\n");
  });
});

test("webhooks of the tenant are reached through the tunnel, and only in its networks", async () => {
  const webhook = (host: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "guard" },
    webhooks: [
      {
        name: "guard.example.com",
        clientConfig: {
          url: `https://${host}/judge`,
          caBundle: Buffer.from(cluster.authority.certificate).toString("base64"),
        },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Fail",
      },
    ],
  });
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const refusalOf = async (host: string): Promise<string> => {
    await client.request("POST", path, { body: webhook(host) });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "judged" } };
    const made = await client
      .request("POST", "/api/v1/namespaces/default/configmaps", { body })
      .catch((error: unknown) => (error as Error).message);
    await client.request("DELETE", `${path}/guard`);
    return String(made);
  };
  const { port } = kubelet.address() as AddressInfo;
  const before = targets.length;
  // The kubelet of this file asks for a client certificate, which webhooks are not shown.
  expect(await refusalOf(`127.0.0.1:${port}`)).toMatch(
    /failed calling webhook "guard.example.com".*(certificate required|socket|ECONNRESET|EOF)/,
  );
  expect(targets.slice(before)).toEqual([`127.0.0.1:${port}`]);
  expect(await refusalOf("192.0.2.1:443")).toMatch(/192\.0\.2\.1 is in no allowed network, so it is not dialled/);
  expect(await refusalOf("example.com:443")).toMatch(/"example\.com" is not an allowed name, so it is not dialled/);
  expect(targets.length).toBe(before + 1);
});
