/**
 * The health probe of the Magnum API reaches a kubelet through the control plane and the reverse tunnel, with the
 * tunnel's own server and agent.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import {
  createAuthority,
  createMetrics,
  issueCertificate,
  parseCidr,
  silentLog,
  systemClock,
  type DialRules,
  type KeyPair,
} from "@causeway/foundation";
import { createClient, loadKubeconfig, Node, type KubernetesClient } from "@causeway/kubernetes";
import { probeCluster } from "@causeway/magnum-api/testing";
import { startTunnelAgent, startTunnelServer, type TunnelAgent, type TunnelServer } from "@causeway/reverse-tunnel";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const YEAR = 365 * 86_400_000;
const NODES = "127.9.0.0/16";
const NODE = "127.9.0.7";
const never = new AbortController().signal;
const using = { metrics: createMetrics(), clock: systemClock, log: silentLog };
const folder = mkdtempSync(join(tmpdir(), "magnum-tunnel-"));
const nodes = parseCidr(NODES);
const rules: DialRules = { allow: nodes ? [nodes] : [], deny: [], names: [] };

let kubelet: Server;
/** Who asked the kubelet for what. */
const asked: string[] = [];
let tunnel: TunnelServer;
let agent: TunnelAgent | undefined;
let serving: KeyPair;
let authority: KeyPair;
let server: ApiServer;
let client: KubernetesClient;
let kubeconfig: string;

async function startKubelet(): Promise<void> {
  const own = { commonName: "kubelet", ipAddresses: [NODE], lifetime: YEAR };
  const { certificate: cert, key } = await issueCertificate(authority, { ...own, usages: ["server"] });
  kubelet = createServer({ cert, key, ca: authority.certificate, requestCert: true }, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    asked.push(`${String(subject?.CN ?? "anonymous")} ${request.url ?? ""}`);
    response.end("ok");
  });
  await new Promise<void>((resolve) => kubelet.listen(0, NODE, resolve));
}

async function startTunnel(): Promise<void> {
  const root = await createAuthority({ commonName: "tunnel", lifetime: YEAR });
  const names = { commonName: "tunnel", ipAddresses: ["127.0.0.1"], lifetime: YEAR };
  const certificate = await issueCertificate(root, { ...names, usages: ["server"] });
  serving = root;
  tunnel = await startTunnelServer({
    serverId: "one",
    serverCount: 1,
    tenants: [
      {
        name: "tenant",
        udsName: join(folder, "tenant.sock"),
        serverAuthorities: [authority.certificate],
        agentAuthorities: [authority.certificate],
        serverNames: [],
        rules,
        maxStreams: 100,
      },
    ],
    agents: { host: "127.0.0.1", port: 0, certificate },
    servers: { host: "127.0.0.1", port: 0, certificate },
    agentWait: 300,
    ...using,
  });
}

async function startAgent(): Promise<void> {
  const own = await issueCertificate(authority, { commonName: "agent", usages: ["client"], lifetime: YEAR });
  agent = startTunnelAgent({
    target: () => ({
      host: "127.0.0.1",
      port: tunnel.agentPort,
      tls: { ca: serving.certificate, cert: own.certificate, key: own.key },
      agentId: "node",
      agentIdentifiers: "",
      keepalive: 30_000,
    }),
    rules,
    syncInterval: 50,
    ...using,
  });
  await vi.waitFor(() => expect(tunnel.status("tenant").agents).toBe(1), { timeout: 30_000, interval: 10 });
}

beforeAll(async () => {
  authority = await createAuthority({ commonName: "cluster", lifetime: YEAR });
  await startKubelet();
  await startTunnel();
  server = await startApiServer({});
  const cluster = await server.ensureCluster("tenant", {
    authority,
    kubelets: { networks: [NODES], tunnel: join(folder, "tenant.sock"), authority: authority.certificate },
    listen: { host: "127.0.0.1", port: 0, names: ["127.0.0.1"] },
  });
  kubeconfig = await cluster.kubeconfig();
  client = createClient(loadKubeconfig({ text: kubeconfig }));
  const node = await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: {} });
  const status = {
    addresses: [{ type: "InternalIP", address: NODE }],
    daemonEndpoints: { kubeletEndpoint: { Port: (kubelet.address() as AddressInfo).port } },
  };
  await client.update(Node, { ...node, status } as Node, { subresource: "status" });
});
afterAll(async () => {
  await agent?.close();
  await client?.close();
  await server?.close();
  await tunnel?.close();
  kubelet?.closeAllConnections();
  kubelet?.close();
  rmSync(folder, { recursive: true });
});

const probe = () => probeCluster({ kubeconfig, node: "n", timeout: 30_000 }, never);

test("without an agent the API is well and the kubelet is not reached", async () => {
  const { api, kubelet: found } = await probe();
  expect([api, found?.node]).toEqual(["ok", "n"]);
  expect(found?.state).toMatch(/error dialing backend|no agent/i);
  expect(asked).toEqual([]);
});

test("with an agent the kubelet responds, to the API server's own certificate", async () => {
  await startAgent();
  expect(await probe()).toEqual({ api: "ok", kubelet: { node: "n", state: "ok" } });
  expect(asked).toEqual(["kube-apiserver-kubelet-client /healthz"]);
});

test("when the agent has gone the probe says so, and is well again with the next one", async () => {
  await agent?.close();
  expect((await probe()).kubelet?.state).not.toBe("ok");
  await startAgent();
  expect((await probe()).kubelet?.state).toBe("ok");
});
