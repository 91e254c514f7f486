/**
 * A migration from Magnum's Heat driver that meets what it cannot adopt or replace, on the real controllers, with
 * played machines: what is there remains, and the phase continues when the cause is gone.
 */
import { Machine, MachineDeployment } from "@causeway/api";
import { DaemonSet, Node, Pod } from "@causeway/kubernetes";
import type { RunnablePhase } from "@causeway/magnum-migration";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openPlayed, type Played } from "./played-heat.ts";

// It runs servers.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

let played: Played;

beforeAll(async () => {
  played = await openPlayed({ workers: [2, 1] });
});
afterAll(async () => played?.close());

const sorted = (lines: string[]): string[] => lines.toSorted((a, b) => a.localeCompare(b));

/** Servers, and their ports with names and owners, by id. */
async function inCloud() {
  const servers = await played.cloud.compute.servers.all({});
  const ports = await played.cloud.network.ports.all({});
  return {
    servers: sorted(servers.map(({ id, name }) => `${name} ${id}`)),
    ports: sorted(
      ports
        .filter(({ device_id }) => servers.some(({ id }) => id === device_id))
        .map(({ id, name, device_id }) => `${name} ${id} ${device_id}`),
    ),
  };
}

/** Runs a phase until it waits for what `line` matches, and ends it there, as its operator would. */
async function runUntil(phase: RunnablePhase, line: RegExp): Promise<string> {
  let found = "";
  const report = (text: string): void => {
    if (!line.test(text)) return;
    found = text;
    throw new Error("ended by its operator");
  };
  await expect(played.run(phase, { report })).rejects.toThrow("ended by its operator");
  return found;
}

/** Of default-worker or of big, as Heat made them. */
function workersOf(group: "default-worker" | "big") {
  const { workers } = played.heat;
  return group === "big" ? workers.slice(2) : workers.slice(0, 2);
}

function worker() {
  const [first] = workersOf("default-worker");
  if (!first) throw new Error("there is no worker");
  return first;
}

const heatServers = async (group: "default-worker" | "big"): Promise<number> => {
  const there = new Set((await played.cloud.compute.servers.all({})).map(({ id }) => id));
  return workersOf(group).filter(({ id }) => there.has(id)).length;
};

test("adopt names a worker that two Nodes claim, and replaces nothing", async () => {
  const before = await inCloud();
  const { id, name } = worker();
  const copy = { namespace: "", name: "copy" };
  await played.source.create(Node, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "copy" },
    spec: { providerID: `openstack:///${id}` },
  });
  const found = await runUntil("adopt", /^waiting for Machine \S+ to be adopted/);
  expect(found).toContain(name);
  expect(await inCloud()).toEqual(before);
  await played.source.delete(Node, copy);
});

test("adopt refuses a worker whose server does not run, and adopts all with their ports once it does", async () => {
  const before = await inCloud();
  const { id, name } = worker();
  const { serverActions, servers } = played.cloud.compute;
  await serverActions.stop(id);
  await expect.poll(async () => (await servers.get(id)).status).toBe("SHUTOFF");
  await expect(played.run("adopt")).rejects.toMatchObject({
    code: "MIGRATE_SERVER_GONE",
    message: `Server ${name} (${id}) is not ACTIVE any more; it is not replaced`,
  });
  expect(await inCloud()).toEqual(before);
  await serverActions.start(id);
  await expect.poll(async () => (await servers.get(id)).status).toBe("ACTIVE");
  expect(await played.run("adopt")).toContain("3 servers of workers are ACTIVE, with their ids of before");
  expect(await inCloud()).toEqual(before);
});

test("roll stops at the first new machine that the quota refuses, with all of Heat's nodes in place", async () => {
  const before = await inCloud();
  played.simulator.setQuota("demo", "instances", before.servers.length);
  const found = await runUntil("roll", /it has stopped/);
  expect(found).toMatch(/default-worker: 0 of 2 new nodes are ready, 2 of Heat's are left.*[Qq]uota/);
  expect((await inCloud()).servers).toEqual(before.servers);
  played.simulator.setQuota("demo", "instances", 50);
});

/** Has kube-proxy not get ready on nodes that join from now on, until `repair`. */
async function breakKubeProxy() {
  const key = { namespace: "kube-system", name: "kube-proxy" };
  const set = (outcome: string | null) => {
    const annotations = { "simulated.causeway.dev/outcome": outcome };
    const body = { spec: { template: { metadata: { annotations } } } };
    return played.source.patch(DaemonSet, key, { type: "merge", body });
  };
  await set("not-ready");
  return { repair: () => set(null) };
}

/** The nodes of Heat's that no pod may be scheduled to. */
async function cordoned(): Promise<string[]> {
  const { items } = await played.source.list(Node, {});
  const heats = new Set(played.heat.workers.map(({ name }) => name));
  const closed = items.filter(({ metadata, spec }) => heats.has(metadata.name) && spec?.["unschedulable"] === true);
  return closed.map(({ metadata }) => metadata.name);
}

/** Machines that are being deleted, and what each waits for. */
async function deleting(): Promise<{ name: string; message: string }[]> {
  const { items } = await played.system.client.list(Machine, {});
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata, status }) => {
      const found = (status?.conditions ?? []).find(({ type }) => type === "Deleting");
      return { name: metadata.name, message: found?.message ?? "" };
    });
}

test("roll drains no node while kube-proxy fails on a new one, and one only while a budget keeps the pods of it", async () => {
  const pods = await played.source.list(Pod, { namespace: "default" });
  const kept = pods.items.filter(({ spec }) => workersOf("default-worker").some((one) => one.name === spec.nodeName));
  expect(kept).toHaveLength(2);
  for (const { metadata } of kept) {
    const body = { metadata: { labels: { app: "kept" } } };
    await played.source.patch(Pod, { namespace: "default", name: metadata.name }, { type: "merge", body });
  }
  // Embedded without its workload controllers: the test plays the one that counts.
  const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const budget = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { namespace: "default", name: "kept" },
    spec: { minAvailable: 2, selector: { matchLabels: { app: "kept" } } },
  };
  await played.source.request("POST", path, { body: budget });
  const status = {
    disruptionsAllowed: 0,
    currentHealthy: 2,
    desiredHealthy: 2,
    expectedPods: 2,
    observedGeneration: 1,
  };
  await played.source.request("PATCH", `${path}/kept/status`, {
    body: { status },
    contentType: "application/merge-patch+json",
  });
  const kubeProxy = await breakKubeProxy();
  const held = await runUntil("roll", /no other node is drained before new ones work/);
  expect(held).toMatch(
    /default-worker: 1 of 2 new nodes are ready, 2 of Heat's are left; .*kube-proxy does not work on/,
  );
  expect(await cordoned()).toEqual([]);
  expect((await deleting()).map(({ message }) => message)).toEqual([
    expect.stringContaining("pre-drain.delete.hook.machine.cluster.x-k8s.io/magnum-migration"),
  ]);
  await kubeProxy.repair();
  await runUntil(
    "roll",
    /1 of 2 new nodes are ready, 2 of Heat's are left; .*a PodDisruptionBudget keeps default\/web-/,
  );
  expect(await cordoned()).toHaveLength(1);
  const there = (await played.source.list(Pod, { namespace: "default", labelSelector: "app=kept" })).items;
  const uids = (all: readonly Pod[]) => sorted(all.map(({ metadata }) => metadata.uid ?? ""));
  expect(uids(there)).toEqual(uids(kept));
  expect(there.map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined, undefined]);
  expect([await heatServers("default-worker"), await heatServers("big")]).toEqual([2, 1]);
  const pools = await played.system.client.list(MachineDeployment, {});
  expect(pools.items.filter(({ spec }) => spec.paused === true)).toHaveLength(1);
  await played.source.request("DELETE", `${path}/kept`);
});

test("roll leaves a node group whose new machine is in ERROR as it is, and continues once that is deleted", async () => {
  const report = (line: string): void => {
    if (/node group big/.test(line) && line.startsWith("replace"))
      played.simulator.setOutcomes([{ operation: "server.create", outcome: "error" }]);
    if (/node group big: 0 of 1 .*it has stopped/.test(line)) throw new Error(line);
  };
  await expect(played.run("roll", { report })).rejects.toThrow(/1 of Heat's are left; it has stopped: Machine/);
  expect([await heatServers("default-worker"), await heatServers("big")]).toEqual([0, 1]);
  const [old] = workersOf("big");
  expect((await played.source.get(Node, { namespace: "", name: old?.name ?? "" })).spec?.["unschedulable"]).not.toBe(
    true,
  );
  played.simulator.setOutcomes([]);
  const { items } = await played.system.client.list(Machine, {});
  const failed = items.filter(({ status }) => status?.nodeRef === undefined);
  expect(failed).toHaveLength(1);
  for (const { metadata } of failed)
    await played.system.client.delete(Machine, { namespace: metadata.namespace ?? "", name: metadata.name });
  expect(await played.run("roll")).toContain("node group big: 1 nodes of Cluster API, none of Heat's");
  expect(await heatServers("big")).toBe(0);
});
