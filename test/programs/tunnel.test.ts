/**
 * The reverse tunnel with programs of others: konnectivity's stock server and agent, each with ours, and a real
 * kube-apiserver whose egress selector leads through our server to a kubelet.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAuthority,
  createMetrics,
  issueCertificate,
  parseCidr,
  type DialRules,
  silentLog,
  systemClock,
  type KeyPair,
} from "@causeway/foundation";
import { createClient, loadKubeconfig, Node, Pod } from "@causeway/kubernetes";
import { probeCluster } from "@causeway/magnum-api/testing";
import { startTunnelAgent, startTunnelServer, type TunnelAgent, type TunnelServer } from "@causeway/reverse-tunnel";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { freePorts } from "../support/free-ports.ts";
import { programs } from "./programs.ts";
import { execute, launch, type RunningProgram } from "./run.ts";
import { administrator } from "./servers.ts";
import { address, dialThrough, hashOf, playedKubelet } from "./tunnel-stage.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
const { konnectivity, kubernetes } = programs();
const year = 365 * 86_400_000;
const own = parseCidr(`${address}/32`);
const rules: DialRules = { allow: own ? [own] : [], deny: [], names: [] };

let dir: string;
let authority: KeyPair;
let serving: KeyPair;
let client: KeyPair;
const closers: (() => unknown)[] = [];
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text, { mode: 0o600 });
  return join(dir, name);
};

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tunnel-programs-"));
  authority = await createAuthority({ commonName: "tunnel-ca", lifetime: year });
  const certificate = {
    commonName: "tunnel",
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1", address],
    lifetime: year,
  };
  serving = await issueCertificate(authority, { ...certificate, usages: ["server", "client"] });
  client = await issueCertificate(authority, { commonName: "agent", usages: ["client"], lifetime: year });
  file("ca.crt", authority.certificate);
  file("server.crt", serving.certificate);
  file("server.key", serving.key);
  file("client.crt", client.certificate);
  file("client.key", client.key);
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const path = (name: string): string => join(dir, name);
const uds = (): string => path("front.sock");

async function ourServer(more: Partial<Parameters<typeof startTunnelServer>[0]> = {}): Promise<TunnelServer> {
  const server = await startTunnelServer({
    serverId: "ours",
    serverCount: 1,
    tenants: [
      {
        name: "a",
        udsName: uds(),
        serverAuthorities: [authority.certificate],
        agentAuthorities: [authority.certificate],
        serverNames: [],
        rules,
        maxStreams: 1_000,
      },
    ],
    agents: { host: "127.0.0.1", port: 0, certificate: serving },
    servers: { host: "127.0.0.1", port: 0, certificate: serving },
    metrics: createMetrics(),
    clock: systemClock,
    log: silentLog,
    ...more,
  });
  closers.push(() => server.close());
  return server;
}

function ourAgent(port: number): TunnelAgent {
  const agent = startTunnelAgent({
    target: () => ({
      host: "127.0.0.1",
      port,
      tls: { ca: authority.certificate, cert: client.certificate, key: client.key },
      agentId: "ours",
      agentIdentifiers: "",
      keepalive: 30_000,
    }),
    rules,
    syncInterval: 200,
    metrics: createMetrics(),
    clock: systemClock,
    log: silentLog,
  });
  closers.push(() => agent.close());
  return agent;
}

function started(running: RunningProgram): RunningProgram {
  closers.push(() => {
    running.child.kill("SIGKILL");
    return running.ended;
  });
  return running;
}

async function stockAgent(bin: string, port: number): Promise<RunningProgram> {
  const [health = 0, admin = 0] = await freePorts(2);
  return started(
    launch(join(bin, "proxy-agent"), [
      `--ca-cert=${path("ca.crt")}`,
      `--agent-cert=${path("client.crt")}`,
      `--agent-key=${path("client.key")}`,
      "--proxy-server-host=127.0.0.1",
      `--proxy-server-port=${port}`,
      `--health-server-port=${health}`,
      `--admin-server-port=${admin}`,
      "--sync-interval=200ms",
      "--agent-id=stock",
    ]),
  );
}

async function stockServer(bin: string): Promise<number> {
  const [agents = 0, health = 0, admin = 0] = await freePorts(3);
  const running = started(
    launch(join(bin, "proxy-server"), [
      "--mode=http-connect",
      `--uds-name=${uds()}`,
      "--server-port=0",
      `--cluster-cert=${path("server.crt")}`,
      `--cluster-key=${path("server.key")}`,
      `--cluster-ca-cert=${path("ca.crt")}`,
      `--agent-port=${agents}`,
      `--health-port=${health}`,
      `--admin-port=${admin}`,
    ]),
  );
  await running.until(/Starting agent server|Starting server|health/i);
  return agents;
}

/** A TCP server on the address that may be dialled. */
async function target(handle: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function dialled(port: number): Promise<Socket> {
  return vi.waitFor(
    async () => {
      const socket = await dialThrough(uds(), port);
      if (!socket) throw new Error("no connection through the tunnel");
      return socket;
    },
    { timeout: 30_000, interval: 100 },
  );
}

/** What each pair of server and agent must do. */
async function carries(): Promise<void> {
  const block = randomBytes(1 << 20);
  const blocks = 32;
  const expected = createHash("sha256");
  for (let i = 0; i < blocks; i++) expected.update(block);
  const sum = expected.digest("hex");
  const download = await target((socket) => {
    let left = blocks;
    const next = (): void => {
      for (; left > 0; left--) if (!socket.write(block)) return void left--;
      socket.end();
    };
    socket.on("drain", next);
    socket.resume();
    next();
  });
  expect(await hashOf(await dialled(download))).toBe(sum);

  let uploaded: Promise<string> | undefined;
  const upload = await target((socket) => {
    const digest = createHash("sha256");
    let size = 0;
    uploaded = new Promise((resolve) => {
      socket.on("data", (chunk: Buffer) => {
        digest.update(chunk);
        size += chunk.length;
        if (size === blocks * block.length) {
          resolve(digest.digest("hex"));
          socket.end("done");
        }
      });
    });
  });
  const socket = await dialled(upload);
  for (let i = 0; i < blocks; i++)
    if (!socket.write(block)) await new Promise((resolve) => socket.once("drain", resolve));
  expect((await socket.toArray()).join("")).toBe("done");
  expect(await uploaded).toBe(sum);

  const echo = await target((each) => void each.pipe(each));
  const many = await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const each = await dialled(echo);
      each.write(`stream ${i}`);
      const [first] = await each.take(1).toArray();
      return String(first);
    }),
  );
  expect(many).toEqual(Array.from({ length: 50 }, (_, i) => `stream ${i}`));
}

describe("konnectivity", () => {
  if ("reason" in konnectivity) {
    test.skip(`stock server and agent (${konnectivity.reason})`);
    return;
  }
  const { dir: bin } = konnectivity;

  test("a stock agent connects to our server, and carries 32 MiB each way and 50 streams", async () => {
    const server = await ourServer();
    await stockAgent(bin, server.agentPort);
    await carries();
    await vi.waitFor(() => expect(server.status("a").streams).toBe(0), { timeout: 20_000 });
  });

  test("our agent connects to a stock server, and carries 32 MiB each way and 50 streams", async () => {
    ourAgent(await stockServer(bin));
    await carries();
  });

  test("a stalled reader holds up no other stream of a stock agent, and its stream ends by the limit", async () => {
    const metrics = createMetrics();
    const server = await ourServer({ metrics });
    await stockAgent(bin, server.agentPort);
    const flood = await target((socket) => {
      const fill = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
      };
      socket.on("drain", fill);
      fill();
    });
    const echo = await target((socket) => void socket.pipe(socket));
    const stalled = await dialled(flood);
    for (let i = 0; i < 20; i++) {
      const socket = await dialled(echo);
      socket.write("x");
      await socket.take(1).toArray();
    }
    await vi.waitFor(
      async () => expect(await metrics.render()).toMatch(/aborted_streams_total\{tenant="a",reason="stalled"\} 1/),
      {
        timeout: 20_000,
      },
    );
    stalled.destroy();
  });

  test("a stock agent connects to each of three servers behind one address", async () => {
    const servers = await Promise.all(
      ["one", "two", "three"].map((serverId) =>
        ourServer({ serverId, serverCount: 3, tenants: [{ ...tenantOf(serverId) }] }),
      ),
    );
    let next = 0;
    const balancer = createServer((socket) => {
      const server = servers[next++ % servers.length];
      const other = connect(server?.agentPort ?? 0, "127.0.0.1");
      for (const each of [socket, other]) each.on("error", () => (socket.destroy(), other.destroy()));
      socket.pipe(other).pipe(socket);
    });
    await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
    closers.push(() => balancer.close());
    await stockAgent(bin, (balancer.address() as AddressInfo).port);
    await vi.waitFor(() => expect(servers.map((each) => each.status("a").agents)).toEqual([1, 1, 1]), {
      timeout: 30_000,
    });
  });
});

function tenantOf(serverId: string) {
  return {
    name: "a",
    udsName: path(`${serverId}.sock`),
    serverAuthorities: [],
    agentAuthorities: [authority.certificate],
    serverNames: [],
    rules,
    maxStreams: 10,
  };
}

describe("a real kube-apiserver", () => {
  if ("reason" in kubernetes) {
    test.skip(`with our server as its egress selector (${kubernetes.reason})`);
    return;
  }
  test.each(["uds", "tcp", "gRPC"])(
    "reads a pod's log from a kubelet through our server over %s, and Magnum's health probe reaches it",
    async (transport) => {
      const kubelet = await playedKubelet({ authority, serving });
      closers.push(() => kubelet.close());
      const server = await ourServer();
      const agent = ourAgent(server.agentPort);
      const connection =
        transport !== "tcp"
          ? {
              proxyProtocol: transport === "uds" ? "HTTPConnect" : "GRPC",
              transport: { uds: { udsName: uds() } },
            }
          : {
              proxyProtocol: "HTTPConnect",
              transport: {
                tcp: {
                  url: `https://127.0.0.1:${server.serverPort}`,
                  tlsConfig: {
                    caBundle: path("ca.crt"),
                    clientCert: path("client.crt"),
                    clientKey: path("client.key"),
                  },
                },
              },
            };
      const selector = {
        apiVersion: "apiserver.k8s.io/v1beta1",
        kind: "EgressSelectorConfiguration",
        egressSelections: [{ name: "cluster", connection }],
      };
      const real = await startKubeApiserver({
        flags: [
          `--egress-selector-config-file=${file("egress.json", JSON.stringify(selector))}`,
          `--kubelet-certificate-authority=${path("ca.crt")}`,
          `--kubelet-client-certificate=${path("client.crt")}`,
          `--kubelet-client-key=${path("client.key")}`,
        ],
        without: ["ServiceAccount"],
      });
      closers.push(() => real.close());
      const kubeconfig = file("kubeconfig", await administrator(real));
      const api = createClient(loadKubeconfig({ path: kubeconfig }));
      closers.push(() => api.close());
      await api.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "far" }, spec: {} });
      await api.request("PATCH", "/api/v1/nodes/far/status", {
        contentType: "application/merge-patch+json",
        body: {
          status: {
            addresses: [{ type: "InternalIP", address }],
            daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
          },
        },
      });
      await api.create(Pod, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { namespace: "default", name: "web" },
        spec: { nodeName: "far", containers: [{ name: "web", image: "web:1" }] },
      });
      const { stdout, stderr } = await execute(join(kubernetes.dir, "kubectl"), [
        "--kubeconfig",
        kubeconfig,
        "logs",
        "web",
      ]);
      expect(stdout || stderr).toBe("path /containerLogs/default/web/web, client agent\n");
      const probe = () =>
        probeCluster(
          { kubeconfig: readFileSync(kubeconfig, "utf8"), node: "far", timeout: 30_000 },
          new AbortController().signal,
        );
      expect(await probe()).toEqual({ api: "ok", kubelet: { node: "far", state: "ok" } });
      await agent.close();
      const { api: alone, kubelet: unreached } = await probe();
      expect([alone, unreached?.state === "ok"]).toEqual(["ok", false]);
    },
  );
});
