import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { createAuthority, issueCertificate, splitCertificates, systemClock, type KeyPair } from "@causeway/foundation";
import { ConfigMap, createClient, loadKubeconfig, Service, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startApiServer } from "../start.ts";
import type { ApiServer } from "../interface.ts";

vi.setConfig({ hookTimeout: 60_000 });
const lifetime = 10 * 365 * 86_400_000;
let server: ApiServer;
let client: KubernetesClient;
let folder: string;
let extension: Server;
/** Issuers of the client certificates that the extension server saw. */
const issuers: string[] = [];
const roots: Record<string, KeyPair> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "front-proxy-"));
  for (const name of ["old", "new", "serving"])
    roots[name] = await createAuthority({ commonName: `front proxy, ${name}`, lifetime });
  const pair = await issueCertificate(root("serving"), {
    commonName: "api",
    dnsNames: ["api.default.svc"],
    usages: ["server"],
    lifetime,
  });
  extension = createServer(
    { cert: pair.certificate, key: pair.key, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      issuers.push(String((request.socket as TLSSocket).getPeerCertificate().issuer?.CN));
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ kind: "APIResourceList", apiVersion: "v1", groupVersion: "test.example/v1", resources: [] }),
      );
    },
  );
  await new Promise<void>((resolve) => extension.listen(0, "127.0.0.1", resolve));
  const served = extension.address() as AddressInfo;
  server = await startApiServer({ dir: folder });
  await ensure("old");
  await register(served.port);
});
afterAll(async () => {
  await client.close();
  await server.close();
  extension.closeAllConnections();
  extension.close();
  rmSync(folder, { recursive: true });
});

/** Makes the extension server one of the tenant's APIs. */
async function register(port: number): Promise<void> {
  const metadata = { namespace: "default", name: "api" };
  await client.create(Service, {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { clusterIP: "None", ports: [{ name: "https", port: 443 }] },
  } as Service);
  await client.request("POST", "/api/v1/namespaces/default/endpoints", {
    body: {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata,
      subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ name: "https", port }] }],
    },
  });
  await client.request("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
    body: {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: "v1.test.example" },
      spec: {
        group: "test.example",
        version: "v1",
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { namespace: "default", name: "api" },
        caBundle: Buffer.from(root("serving").certificate).toString("base64"),
      },
    },
  });
}

/** The issuer of the certificate with which the API server comes. */
async function signer(): Promise<string | undefined> {
  await client.request("GET", "/apis/test.example/v1/things");
  return issuers.at(-1);
}

const root = (name: string): KeyPair => roots[name] as KeyPair;

/** Of several names, the first signs. */
async function ensure(...names: [string, ...string[]]): Promise<number | undefined> {
  const certificate = names.map((name) => root(name).certificate).join("");
  const cluster = await server.ensureCluster("tenant", {
    frontProxy: { certificate, key: root(names[0]).key },
    kubelets: { networks: ["127.0.0.1/32"] },
    listen: { host: "127.0.0.1", port: 0, names: ["127.0.0.1"] },
  });
  client ??= createClient(loadKubeconfig({ text: await cluster.kubeconfig() }));
  return cluster.port;
}

/** What extension servers read. */
async function published(): Promise<string[]> {
  const key = { namespace: "kube-system", name: "extension-apiserver-authentication" };
  const map = await client.find(ConfigMap, key);
  return splitCertificates(map?.data?.["requestheader-client-ca-file"] ?? "");
}

const certificatesOf = (...names: string[]): string[] =>
  names.flatMap((name) => splitCertificates(root(name).certificate));

test("the front proxy's authority is replaced while watches run: both are published before the new one signs", async () => {
  const watching = new AbortController();
  const { resourceVersion } = await client.list(ConfigMap, { namespace: "default" });
  let cut: unknown;
  const watch = (async () => {
    const options = { namespace: "default", resourceVersion, signal: watching.signal };
    for await (const event of client.watch(ConfigMap, options)) void event;
    cut = "ended";
  })().catch((error: unknown) => {
    if (!watching.signal.aborted) cut = error;
  });
  const steps: [names: [string, ...string[]], signs: string][] = [
    [["old"], "old"],
    [["old", "new"], "old"],
    [["new", "old"], "new"],
    [["new"], "new"],
  ];
  const ports = new Set<number | undefined>();
  await vi.waitFor(signer, { timeout: 20_000, interval: 200 });
  for (const [names, signs] of steps) {
    ports.add(await ensure(...names));
    await vi.waitFor(async () => expect(await published()).toEqual(certificatesOf(...names)), { timeout: 10_000 });
    expect(await signer()).toBe(`front proxy, ${signs}`);
  }
  expect(ports.size).toBe(1);
  await systemClock.sleep(50);
  expect(cut).toBeUndefined();
  watching.abort();
  await watch;
});
