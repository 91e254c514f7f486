import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer, type Server } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate, VirtualClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, Node, Pod, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startApiServer } from "../start.ts";
import { readSummary } from "./summary.ts";

const year = 365 * 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "usage-"));
const clock = new VirtualClock(Date.now());
const time = new Date(Math.floor(clock.now() / 1000) * 1000 - 5000).toISOString().replace(".000", "");
const stats = (cpu: number, memory: number) => ({
  cpu: { time, usageNanoCores: cpu },
  memory: { time, workingSetBytes: memory },
});
const summary = {
  node: { nodeName: "real", ...stats(250_000_000, 2 ** 30) },
  pods: [
    {
      podRef: { name: "web", namespace: "default" },
      containers: [
        { name: "web", ...stats(12_345_678, 50 * 2 ** 20) },
        { name: "young", memory: {} },
      ],
    },
  ],
};
let kubelet: Server;
let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubernetesClient;
let status = 200;
const asked: string[] = [];
const ask = (path: string) =>
  client.request("GET", `/apis/metrics.k8s.io/v1beta1/${path}`) as Promise<{ items: object[] }>;

beforeAll(async () => {
  const authority = await createAuthority({ commonName: "cluster", lifetime: year });
  const own = { commonName: "kubelet", ipAddresses: ["10.6.0.7"], lifetime: year };
  const { certificate: cert, key } = await issueCertificate(authority, { ...own, usages: ["server"] });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    asked.push(request.url ?? "");
    response.writeHead(status).end(JSON.stringify(summary));
  };
  kubelet = createHttpsServer({ cert, key, ca: authority.certificate, requestCert: true }, answer);
  await new Promise<void>((resolve) => kubelet.listen(0, "127.0.0.1", resolve));
  const tunnel = join(folder, "tunnel.sock");
  const proxy = createServer().on("connect", (_request: IncomingMessage, socket: Socket) => {
    const other = connect((kubelet.address() as AddressInfo).port, "127.0.0.1");
    for (const each of [socket, other]) each.on("error", () => {});
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(tunnel, resolve));
  proxy.unref();
  server = await startApiServer({ clock, controllers: () => ({ stop: () => Promise.resolve() }) });
  const cluster = await server.ensureCluster("tenant", {
    authority,
    controllers: true,
    kubelets: { networks: ["10.6.0.0/16"], tunnel, authority: authority.certificate },
    listen: { host: "127.0.0.1", port: 0, names: ["127.0.0.1"] },
  });
  client = createClient(loadKubeconfig({ text: await cluster.kubeconfig() }));
  const node = await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "real" }, spec: {} });
  const addresses = [{ type: "InternalIP", address: "10.6.0.7" }];
  await client.update(Node, { ...node, status: { addresses } } as Node, { subresource: "status" });
  const web = await client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "web", labels: { app: "web" } },
    spec: { nodeName: "real", automountServiceAccountToken: false, containers: [{ name: "web", image: "web:1" }] },
  } as Pod);
  const containerStatuses = [
    { name: "web", image: "web:1", imageID: "", ready: true, restartCount: 0, state: { running: { startedAt: time } } },
  ];
  const running = { phase: "Running", containerStatuses };
  await client.update(Pod, { ...web, status: running } as unknown as Pod, { subresource: "status" });
});
afterAll(async () => {
  await client.close();
  await server.close();
  kubelet.closeAllConnections();
  kubelet.close();
  rmSync(folder, { recursive: true });
});

test("a real node's own use and that of its pods is requested once in fifteen seconds", async () => {
  const [nodes, pods] = await Promise.all([ask("nodes"), ask("namespaces/default/pods?labelSelector=app%3Dweb")]);
  expect(nodes.items).toMatchObject([
    { metadata: { name: "real" }, usage: { cpu: "250000000n", memory: "1048576Ki" } },
  ]);
  expect(pods.items).toMatchObject([
    {
      timestamp: time,
      window: "15s",
      metadata: { name: "web", labels: { app: "web" } },
      containers: [{ name: "web", usage: { cpu: "12345678n", memory: "51200Ki" } }],
    },
  ]);
  expect((await ask("pods?labelSelector=app%3Dother")).items).toEqual([]);
  expect(asked).toEqual(["/stats/summary?only_cpu_and_memory=true"]);
  await clock.advance(15_000);
  await ask("nodes");
  expect(asked).toHaveLength(2);
});

test("a node whose kubelet refuses is left out of lists, and who asks for it is given the reason", async () => {
  status = 500;
  await clock.advance(15_000);
  expect((await ask("nodes")).items).toEqual([]);
  await expect(ask("nodes/real")).rejects.toThrow("what node real uses is not known: the kubelet responded with 500");
  await expect(ask("namespaces/default/pods/web")).rejects.toThrow("what pods on node real use is not known");
});

test("a response that is no summary gives no usage", () => {
  for (const answer of [undefined, 7, [], { node: 7, pods: "none" }, { pods: [{ podRef: 7, containers: [{}] }] }]) {
    const { node, pods } = readSummary(answer, () => ["web"]);
    expect([node, [...pods.values()].flatMap((each) => [...each])]).toEqual([undefined, []]);
  }
});

test("of a kubelet's answer only containers that run in pods of its node are kept, and a long answer is not read to its end", () => {
  const pod = (name: string) => ({
    podRef: { namespace: "default", name },
    containers: ["web", "invented"].map((each) => ({ name: each, ...stats(1, 1) })),
  });
  const requested: string[] = [];
  const answer = { pods: [pod("web"), ...Array.from({ length: 5000 }, (_, index) => pod(`invented-${index}`))] };
  const { pods } = readSummary(answer, (_namespace, name) => {
    requested.push(name);
    return name === "web" ? ["web"] : [];
  });
  expect([...pods].map(([name, containers]) => [name, [...containers.keys()]])).toEqual([["default/web", ["web"]]]);
  expect(requested).toHaveLength(1000);
});
