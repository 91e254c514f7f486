import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import {
  createAuthority,
  createMetrics,
  issueCertificate,
  silentLog,
  systemClock,
  VirtualClock,
  type Clock,
} from "@causeway/foundation";
import { createEmbeddedRuntime, createHostedControlPlane } from "@causeway/hosted-control-plane";
import {
  createClient,
  createEventRecorder,
  createInformers,
  getCondition,
  loadKubeconfig,
  ownerReference,
  type Condition,
} from "@causeway/kubernetes";
import { startTunnelAgent, startTunnelServer } from "@causeway/reverse-tunnel";
import { afterEach, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 300_000 });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const YEAR = 365 * 86_400_000;
const rules = { allow: [], deny: [], names: [] };
const one = { namespace: "default", name: "one" };

test("the condition of a control plane follows the agents of a real tunnel server", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tunnel-condition-"));
  closers.push(() => rmSync(folder, { recursive: true }));
  const clock = new VirtualClock(Date.now());
  // Keep-alives of the tunnel take real time; what it reports is of the time that the controller has.
  const serverClock: Clock = { now: () => clock.now(), sleep: (ms, signal) => systemClock.sleep(ms, signal) };
  const authority = await createAuthority({ commonName: "kubernetes", lifetime: YEAR });
  const issue = (commonName: string, usages: readonly ("client" | "server")[]) =>
    issueCertificate(authority, { commonName, usages, ipAddresses: ["127.0.0.1"], lifetime: YEAR });
  const tunnel = await startTunnelServer({
    serverId: "one",
    serverCount: 1,
    tenants: [
      {
        name: "default.one",
        udsName: join(folder, "default.one.sock"),
        serverAuthorities: [],
        agentAuthorities: [authority.certificate],
        serverNames: [],
        rules,
        maxStreams: 10,
      },
    ],
    agents: { host: "127.0.0.1", port: 0, certificate: await issue("gateway", ["server"]) },
    metrics: createMetrics(),
    clock: serverClock,
    log: silentLog,
  });
  closers.push(() => tunnel.close());
  const own = await issue("agent", ["client"]);
  const startAgent = () => {
    const agent = startTunnelAgent({
      target: () => ({
        host: "127.0.0.1",
        port: tunnel.agentPort,
        tls: { ca: authority.certificate, cert: own.certificate, key: own.key },
        agentId: "node-1",
        agentIdentifiers: "",
        keepalive: 30_000,
      }),
      rules,
      syncInterval: 50,
      metrics: createMetrics(),
      clock: systemClock,
      log: silentLog,
    });
    closers.push(() => agent.close());
    return agent;
  };

  const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  closers.push(() => server.close());
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closers.push(() => client.close());
  const informers = createInformers(client, { clock: systemClock, log: silentLog });
  const controller = createHostedControlPlane({
    informers,
    runtime: createEmbeddedRuntime({ apiServer: server, nodes: { networks: [], tunnels: folder } }),
    advertise: async () => "127.0.0.1",
    events: createEventRecorder(client, { component: "test", clock: systemClock }),
    clock,
    log: silentLog,
  });
  const stopping = new AbortController();
  const running = [informers.run(stopping.signal), controller.run(stopping.signal)];
  closers.push(async () => {
    stopping.abort(new Error("stopped"));
    await Promise.allSettled(running);
  });
  const spec = {
    clusterNetwork: { services: { cidrBlocks: ["10.97.0.0/16"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
  };
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "one" };
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: one,
    spec: { ...spec, controlPlaneRef },
  });
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: {
      ...one,
      labels: { "cluster.x-k8s.io/cluster-name": "one" },
      ownerReferences: [ownerReference(cluster, { controller: true })],
    },
    spec: { version: "v1.34.0" },
  });
  /** Moves time until the condition is so: its message. */
  const becomes = (reason: string): Promise<string> =>
    vi.waitFor(
      async () => {
        await clock.advance(5_000);
        const { status } = await client.get(HostedControlPlane, one);
        const found = getCondition(status?.conditions as Condition[] | undefined, "TunnelConnected");
        expect(found?.reason).toBe(reason);
        return found?.message ?? "";
      },
      { timeout: 250_000, interval: 5 },
    );

  await becomes("WaitingForAgent");
  const agent = startAgent();
  await becomes("AgentConnected");
  await agent.close();
  expect(await becomes("NoAgent")).toMatch(/no agent of the tunnel is connected since 20.*\(TUNNEL_NO_AGENT\)/);
  startAgent();
  await becomes("AgentConnected");
  await tunnel.close();
  expect(await becomes("ServerUnreachable")).toMatch(/ENOENT.*\(TUNNEL_SERVER_UNREACHABLE\)/);
});
