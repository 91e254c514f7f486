/**
 * That a kubelet was reached is kept in the status of its cluster, by the controller, for the processes that follow.
 */
import {
  addonKinds,
  allKinds,
  HostedControlPlane,
  MagnumCluster,
  magnumKinds,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createMetrics, silentLog, systemClock, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  loadKubeconfig,
  Namespace,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createMagnumController } from "../cluster/controller.ts";
import { openSources } from "../cluster/gather.ts";
import { createNode, createServed } from "../testing/served-clusters.ts";
import { createHealthProber } from "./prober.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const namespace = "magnum-r";
/** By cluster: a path leads to the kubelet of the first one until it is lost, and never to that of the second. */
const [reached, unreached] = ["c0", "c1"];
let client: KubernetesClient;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  const crds = [...allKinds, ...addonKinds, ...magnumKinds].map(toCustomResourceDefinition);
  const server = await startApiServer({ crds });
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closing.push(
    () => server.close(),
    () => client.close(),
  );
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (const name of [reached, unreached]) {
    await createServed(client, { namespace, name });
    await createNode(client, { namespace, name }, `${name}-node`);
    const conditions = [
      { type: "Available", status: "True", reason: "R", message: "", lastTransitionTime: "2026-11-28T00:00:00Z" },
    ];
    const body = { status: { runtime: "Process", conditions } };
    await client.patch(HostedControlPlane, { namespace, name }, { type: "merge", body }, { subresource: "status" });
  }
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** A process of the Magnum API: its controller and its prober, whose time passes while the process runs. */
async function startProcess(isLost: boolean): Promise<{ probes: Map<string, number>; stop(): Promise<void> }> {
  const clock = new VirtualClock();
  const informers = createInformers(client);
  const stopping = new AbortController();
  const { signal } = stopping;
  const probes = new Map<string, number>();
  const prober = createHealthProber({
    sources: openSources(informers),
    kubelets: "auto",
    probe: async ({ kubeconfig: name, node }) => {
      if (node === undefined) return { api: "ok" };
      probes.set(name, (probes.get(name) ?? 0) + 1);
      return { api: "ok", kubelet: { node, state: name === reached && !isLost ? "ok" : "no route to host" } };
    },
    metrics: createMetrics(),
    clock,
    log: silentLog,
  });
  const controller = createMagnumController({
    informers,
    installation: { authUrl: "http://keystone" },
    credentials: { revoke: async () => {} },
    probes: prober,
    events: createEventRecorder(client, { component: "magnum-api", clock: systemClock, signal }),
    clock: systemClock,
    log: silentLog,
  });
  const running = Promise.all([informers.run(signal), controller.run(signal)]);
  await informers.whenSynced();
  const passing = (async () => {
    while (!signal.aborted) {
      await clock.advance(500);
      await new Promise<void>((resolve) => setTimeout(resolve, 1));
    }
  })();
  return {
    probes,
    async stop() {
      stopping.abort();
      await Promise.all([running, passing]);
    },
  };
}

const statusOf = async (name: string) => (await client.get(MagnumCluster, { namespace, name })).status;
const kubelets = async (name: string): Promise<string[]> =>
  Object.keys((await statusOf(name))?.healthReason ?? {}).filter((key) => key.endsWith(".kubelet"));

it("a kubelet that one process has reached is reported by the next one, and one that was never reached is not", async () => {
  const first = await startProcess(false);
  const wait = { timeout: 50_000, interval: 50 };
  await vi.waitFor(async () => expect((await statusOf(reached))?.kubeletReached).toBe(true), wait);
  await vi.waitFor(() => expect(first.probes.get(unreached) ?? 0).toBeGreaterThanOrEqual(3), wait);
  await first.stop();
  expect(await kubelets(reached)).toEqual([]);

  const second = await startProcess(true);
  await vi.waitFor(async () => expect(await kubelets(reached)).toEqual([`${reached}-node.kubelet`]), wait);
  await vi.waitFor(() => expect(second.probes.get(unreached) ?? 0).toBeGreaterThanOrEqual(3), wait);
  await second.stop();
  expect(await statusOf(reached)).toMatchObject({ health: "UNHEALTHY", kubeletReached: true });
  expect(await kubelets(unreached)).toEqual([]);
  expect((await statusOf(unreached))?.kubeletReached).toBeUndefined();
});
