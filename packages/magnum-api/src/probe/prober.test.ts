/** How often clusters are probed, what is reported of it, and that its cost is bounded. */
import { addonKinds, allKinds, HostedControlPlane, MagnumCluster, magnumKinds } from "@causeway/api";
import { toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createMetrics, silentLog, VirtualClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig, Namespace } from "@causeway/kubernetes";
import type { KubernetesClient, ObjectKey } from "@causeway/kubernetes";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { openSources, type ClusterProbe, type Sources } from "../cluster/gather.ts";
import { migratingAnnotation } from "../cluster/names.ts";
import { createNode, createServed } from "../testing/served-clusters.ts";
import type { ProbeOptions } from "./probe.ts";
import { createHealthProber, type KubeletProbes, type ProbePace } from "./prober.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const namespace = "magnum-p";
const count = 30;
let client: KubernetesClient;
let sources: Sources;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  const server = await startApiServer({
    crds: [...allKinds, ...addonKinds, ...magnumKinds].map(toCustomResourceDefinition),
  });
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (let at = 0; at < count; at += 1) await createServed(client, { namespace, name: `c${at}` });
  await createServed(client, { namespace, name: "new" }, { isInitialized: false });
  const annotations = { [migratingAnnotation]: "discover Done 2026-11-28T00:00:00Z" };
  await createServed(client, { namespace, name: "heats" }, { annotations });
  for (const name of ["n0", "n1"]) await createNode(client, { namespace, name: "c0" }, name);
  await client.patch(
    HostedControlPlane,
    { namespace, name: "c2" },
    { type: "merge", body: { status: { runtime: "Embedded" } } },
    { subresource: "status" },
  );
  await createNode(client, { namespace, name: "c2" }, "n2");
  const informers = createInformers(client);
  sources = openSources(informers);
  const stopping = new AbortController();
  const running = informers.run(stopping.signal);
  await informers.whenSynced();
  closing.push(
    () => stopping.abort(),
    () => running,
    () => client.close(),
    () => server.close(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

const START = new VirtualClock().now();
let clock: VirtualClock;
/** By cluster: what a probe finds. */
let states: Map<string, string>;
let probed: { readonly cluster: string; readonly node: string | undefined; readonly at: number }[];
beforeEach(() => {
  clock = new VirtualClock();
  states = new Map();
  probed = [];
});

async function probe({ kubeconfig: cluster, node }: ProbeOptions): Promise<ClusterProbe> {
  probed.push({ cluster, node, at: clock.now() });
  const api = states.get(cluster) ?? "ok";
  return { api, ...(node === undefined ? {} : { kubelet: { node, state: states.get(node) ?? "ok" } }) };
}

/** A prober that runs, and the clusters of which it said that something has changed. */
function start(kubelets: KubeletProbes = "never", pace: ProbePace = {}) {
  const using = { sources, kubelets, pace, probe, metrics: createMetrics(), clock, log: silentLog };
  const prober = createHealthProber(using);
  const changed: string[] = [];
  prober.source(({ name }: ObjectKey) => void changed.push(name));
  const stopping = new AbortController();
  const running = prober.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  const of = (name: string) => prober.of({ namespace, name });
  return { of, changed, stop };
}

async function pass(milliseconds: number): Promise<void> {
  for (let at = 0; at < milliseconds; at += 50) {
    for (let turn = 0; turn < 4; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    await clock.advance(50);
  }
}

it("each cluster that has served is probed once a minute, a new one and one of Heat's are not", async () => {
  const { stop, changed } = start();
  await pass(59_000);
  expect(probed.map(({ cluster }) => cluster).toSorted()).toEqual(
    Array.from({ length: count }, (_, at) => `c${at}`).toSorted(),
  );
  await pass(121_000);
  expect(probed.length).toBeGreaterThanOrEqual(3 * count);
  expect(probed.length).toBeLessThanOrEqual(4 * count);
  // What is well is said once.
  expect(changed).toHaveLength(count);
  await stop();
});

it("with more clusters than the rate allows each is probed less often", async () => {
  const { stop } = start("never", { perSecond: 2, interval: 5_000 });
  await pass(60_000);
  expect(probed.length).toBeLessThanOrEqual(2 * 60 + 1);
  expect(probed.length).toBeGreaterThanOrEqual(2 * 60 - 10);
  await stop();
});

it("a failure is reported at the second probe in a row, and its end at once", async () => {
  const { of, stop, changed } = start();
  await pass(59_000);
  expect(of("c3")).toEqual({ api: "ok" });
  states.set("c3", "no response in 5 s");
  await pass(60_000);
  expect(of("c3")).toEqual({ api: "ok" });
  await pass(60_000);
  expect(of("c3")).toEqual({ api: "no response in 5 s" });
  states.delete("c3");
  await pass(60_000);
  expect(of("c3")).toEqual({ api: "ok" });
  expect(changed.filter((name) => name === "c3")).toHaveLength(3);
  await stop();
});

it("kubelets are probed one after the other, and reported by name", async () => {
  const { of, stop } = start("always");
  await pass(119_000);
  const nodes = probed.filter(({ cluster }) => cluster === "c0").map(({ node }) => node);
  expect(nodes).toEqual(["n0", "n1"]);
  // One of two: it is probed again, and not forgotten since the other one is well.
  states.set("n0", "no route to host");
  await pass(120_000);
  expect(of("c0")?.kubelet).toEqual({ node: "n0", state: "no route to host" });
  await pass(120_000);
  expect(of("c0")?.kubelet).toEqual({ node: "n0", state: "no route to host" });
  states.delete("n0");
  await pass(60_000);
  expect(of("c0")?.kubelet?.state).toBe("ok");
  // One without nodes, and one whose control plane does not forward requests to them.
  expect(probed.filter(({ cluster, node }) => /^c[12]$/.test(cluster) && node !== undefined)).toEqual([]);
  expect(probed.filter(({ cluster }) => cluster === "c2").length).toBeGreaterThan(2);
  await stop();
});

/** In which minutes a kubelet of a cluster was requested, with its name. */
const asked = (cluster: string, from = 0): string[] =>
  probed
    .filter((one) => one.cluster === cluster && one.node !== undefined && one.at - START >= from)
    .map(({ node, at }) => `${Math.floor((at - START) / 60_000)} ${node}`);

it("a kubelet that was never reached is not reported, and is probed rarely", async () => {
  for (const node of ["n0", "n1"]) states.set(node, "no response in 5 s");
  const { of, stop, changed } = start("auto");
  await pass(21 * 60_000);
  expect(of("c0")).toEqual({ api: "ok" });
  expect(changed.filter((name) => name === "c0")).toHaveLength(1);
  expect(asked("c0").map((line) => line.split(" ")[0])).toEqual(["0", "1", "2", "10", "20"]);
  expect(asked("c2")).toEqual([]);
  await stop();
});

it("a kubelet is reported once one of its cluster was reached", async () => {
  states.set("n0", "no route to host");
  const { of, stop, changed } = start("auto");
  await pass(119_000);
  // The second minute's was well: what is not reached is reported from now on, and the cluster's status keeps that.
  expect(of("c0")?.kubelet).toEqual({ node: "n1", state: "ok" });
  expect(changed.filter((name) => name === "c0")).toHaveLength(2);
  await pass(180_000);
  expect(of("c0")?.kubelet).toEqual({ node: "n0", state: "no route to host" });
  await stop();
});

it("a kubelet is reported by a new process when an earlier one had reached it", async () => {
  const status = { type: "merge", body: { status: { status: "CREATE_COMPLETE", kubeletReached: true } } } as const;
  await client.patch(MagnumCluster, { namespace, name: "c0" }, status, { subresource: "status" });
  await vi.waitFor(() => expect(sources.magnum.get({ namespace, name: "c0" })?.status?.kubeletReached).toBe(true));
  for (const node of ["n0", "n1"]) states.set(node, "no route to host");
  const { of, stop } = start("auto");
  await pass(119_000);
  expect(of("c0")?.kubelet?.state).toBe("no route to host");
  await stop();
});
