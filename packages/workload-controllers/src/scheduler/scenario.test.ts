import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  CSIDriver,
  CSIStorageCapacity,
  Event,
  loadKubeconfig,
  Node,
  PersistentVolumeClaim,
  Pod,
  ServiceAccount,
  StorageClass,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createScheduler } from "./controller.ts";
import { statusOf } from "../model/spec.ts";
import { node, pod, type NodeFields, type PodFacts } from "./testing/objects.ts";

let server: ApiServer;
let client: KubernetesClient;
let clock: VirtualClock;
let stop: AbortController;
let ended: Promise<unknown>;

beforeEach(async () => {
  server = await startApiServer();
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  clock = new VirtualClock();
  stop = new AbortController();
  await client
    .create(ServiceAccount, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { namespace: "default", name: "default" },
    })
    .catch(() => {});
});

afterEach(async () => {
  stop.abort(new Error("the test ended"));
  await ended;
  await client.close();
  await server.close();
});

function run(random: () => number = () => 0): void {
  const informers = createInformers(client);
  const events = createEventRecorder(client, { component: "test" });
  const scheduler = createScheduler({ informers, clock, log: silentLog, events }, { random });
  ended = Promise.all([informers.run(stop.signal), scheduler.run(stop.signal)]);
}

async function addNode(name: string, facts: NodeFields = {}): Promise<void> {
  await client.create(Node, node(name, facts));
}

async function addPod(name: string, facts: PodFacts = {}): Promise<void> {
  const { metadata, ...rest } = pod(name, facts);
  const { labels = {} } = metadata;
  await client.create(Pod, { ...rest, metadata: { namespace: "default", name, labels } });
}

const find = (name: string) => client.find(Pod, { namespace: "default", name });
const nominatedOf = async (name: string): Promise<string | undefined> => {
  const found = await find(name);
  return found && statusOf(found).nominatedNodeName;
};
const nodeOf = async (name: string) => (await find(name))?.spec.nodeName;
const scheduled = async (name: string) =>
  (await find(name))?.status?.conditions?.find(({ type }) => type === "PodScheduled");
const eventsOf = async (name: string) =>
  (await client.list(Event, { namespace: "default" })).items.filter(
    ({ involvedObject }) => involvedObject.name === name,
  );

test("the scheduler binds pods to nodes that fit, and says of one that fits nowhere why", async () => {
  await addNode("a", { allocatable: { cpu: "1" } });
  await addNode("b", { taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }] });
  await addNode("c", { allocatable: { cpu: "1" } });
  run();
  await addPod("web", { requests: { cpu: "500m" } });
  await expect.poll(() => nodeOf("web")).toMatch(/^[ac]$/);
  await addPod("large", { requests: { cpu: "2" } });
  await expect
    .poll(() => scheduled("large"))
    .toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message:
        "0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: gpu}, 2 Insufficient cpu. " +
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    });
  await expect
    .poll(async () => (await eventsOf("web")).map(({ reason, message }) => [reason, message]))
    .toEqual([["Scheduled", expect.stringMatching(/^Successfully assigned default\/web to [ac]$/)]]);
  await expect
    .poll(async () => (await eventsOf("large")).map(({ reason, source }) => [reason, source?.component]))
    .toEqual([["FailedScheduling", "default-scheduler"]]);
});

test("the scheduler schedules pods on nodes that have an image without names", async () => {
  for (const name of ["a", "b"]) await addNode(name, { images: [{ names: null, sizeBytes: 1000 }] });
  run();
  await addPod("web");
  await expect.poll(() => nodeOf("web")).toMatch(/^[ab]$/);
});

test("the scheduler tries a pod again for which no node could be chosen by an error, and schedules the others meanwhile", async () => {
  await addNode("a");
  let left = 1;
  run(() => {
    if (left-- > 0) throw new Error("a filter failed");
    return 0;
  });
  await addPod("first");
  await expect
    .poll(() => scheduled("first"))
    .toMatchObject({ status: "False", reason: "SchedulerError", message: "a filter failed" });
  await addPod("second");
  await expect.poll(() => nodeOf("second")).toBe("a");
  expect(await nodeOf("first")).toBeUndefined();
  await clock.advance(1_000);
  await expect.poll(() => nodeOf("first")).toBe("a");
});

test("the scheduler schedules a pod that waited once a node comes that it fits on, after its back-off", async () => {
  run();
  await addPod("early");
  await expect.poll(() => scheduled("early")).toMatchObject({ message: "no nodes available to schedule pods" });
  await addNode("a");
  await addPod("late");
  await expect.poll(() => nodeOf("late")).toBe("a");
  expect(await nodeOf("early")).toBeUndefined();
  await clock.advance(1_000);
  await expect.poll(() => nodeOf("early")).toBe("a");
});

test("the scheduler leaves pods with gates and pods of other schedulers alone", async () => {
  await addNode("a");
  run();
  await addPod("gated", { schedulingGates: [{ name: "example.com/later" }] });
  await addPod("other", { schedulerName: "another" });
  await addPod("plain");
  await expect.poll(() => nodeOf("plain")).toBe("a");
  expect(await nodeOf("gated")).toBeUndefined();
  expect(await nodeOf("other")).toBeUndefined();
  await client.patch(
    Pod,
    { namespace: "default", name: "gated" },
    { type: "merge", body: { spec: { schedulingGates: [] } } },
  );
  await expect.poll(() => nodeOf("gated")).toBe("a");
});

test("the scheduler removes a pod of a lower priority for one of a higher", async () => {
  await client.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
    body: { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "high" }, value: 1000 },
  });
  await addNode("a", { allocatable: { cpu: "1" } });
  run();
  await addPod("low", { requests: { cpu: "800m" } });
  await expect.poll(() => nodeOf("low")).toBe("a");
  const { metadata: _own, ...high } = pod("high", { requests: { cpu: "800m" } });
  const spec = { ...high.spec, priorityClassName: "high" };
  await client.create(Pod, { ...high, spec, metadata: { namespace: "default", name: "high" } });
  await expect.poll(async () => (await find("low"))?.metadata.deletionTimestamp).toBeDefined();
  const victim = await find("low");
  expect(victim?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }),
  );
  await expect.poll(async () => (await find("high"))?.status).toMatchObject({ nominatedNodeName: "a" });
  await expect.poll(async () => (await eventsOf("low")).map(({ reason }) => reason)).toContain("Preempted");
  await client.delete(Pod, { namespace: "default", name: "low" }, { gracePeriodSeconds: 0 });
  await expect.poll(() => scheduled("high")).toMatchObject({ status: "False" });
  await expect
    .poll(async () => {
      await clock.advance(500);
      return nodeOf("high");
    })
    .toBe("a");
});

test(
  "the scheduler makes room for each pod of a higher priority, and gives it to the highest",
  { timeout: 60_000 },
  async () => {
    const classes = { low: 1, medium: 100, high: 1_000 };
    for (const [name, value] of Object.entries(classes)) {
      const body = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value };
      await client.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", { body });
    }
    for (const name of ["a", "b"]) await addNode(name, { allocatable: { cpu: "4" } });
    run();
    const add = async (priorityClassName: string, count: number): Promise<string[]> => {
      const names = Array.from({ length: count }, (_, i) => `${priorityClassName}-${i}`);
      for (const name of names) {
        const { metadata: _own, ...rest } = pod(name, { requests: { cpu: "1" } });
        const spec = { ...rest.spec, priorityClassName, terminationGracePeriodSeconds: 600 };
        await client.create(Pod, { ...rest, spec, metadata: { namespace: "default", name } });
      }
      return names;
    };
    const placed = async (names: readonly string[]) =>
      (await Promise.all(names.map(nodeOf))).filter((node) => node !== undefined).length;
    const lows = await add("low", 8);
    await expect.poll(() => placed(lows), { timeout: 10_000 }).toBe(8);
    const mediums = await add("medium", 8);
    const highs = await add("high", 4);
    // Nothing leaves yet: every one of a low priority is on its way out, and each high one has a place to come.
    const settled = async (): Promise<unknown> => {
      await clock.advance(1_000);
      const [all, nominated] = await Promise.all([Promise.all(lows.map(find)), Promise.all(highs.map(nominatedOf))]);
      return [
        all.filter((one) => one?.metadata.deletionTimestamp !== undefined).length,
        nominated.filter(Boolean).length,
      ];
    };
    await expect.poll(settled, { timeout: 30_000 }).toEqual([8, 4]);
    for (const name of lows) await client.delete(Pod, { namespace: "default", name }, { gracePeriodSeconds: 0 });
    const outcome = async (): Promise<unknown> => {
      await clock.advance(1_000);
      return [await placed(highs), await placed(mediums)];
    };
    await expect.poll(outcome, { timeout: 30_000 }).toEqual([4, 4]);
  },
);

test("a pod whose class has no room waits until the driver publishes capacity", async () => {
  const meta = { apiVersion: "storage.k8s.io/v1" };
  const [zone, provisioner] = ["topology.csi.example.com/zone", "csi.example.com"];
  await client.create(CSIDriver, {
    ...meta,
    kind: "CSIDriver",
    metadata: { name: provisioner },
    spec: { storageCapacity: true },
  });
  await client.create(StorageClass, {
    ...meta,
    kind: "StorageClass",
    metadata: { name: "fast" },
    provisioner,
    volumeBindingMode: "WaitForFirstConsumer",
  });
  await client.create(PersistentVolumeClaim, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace: "default", name: "data" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "fast",
      resources: { requests: { storage: "10Gi" } },
    },
  });
  const capacity = (name: string, value: string, size: string): CSIStorageCapacity => ({
    ...meta,
    kind: "CSIStorageCapacity",
    metadata: { namespace: "default", name },
    storageClassName: "fast",
    nodeTopology: { matchLabels: { [zone]: value } },
    capacity: size,
  });
  await client.create(CSIStorageCapacity, capacity("a", "a", "1Gi"));
  for (const name of ["a", "b"]) await addNode(name, { labels: { [zone]: name } });
  run();
  await addPod("web", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
  await expect
    .poll(async () => (await scheduled("web"))?.message)
    .toMatch(/2 node\(s\) did not have enough free storage/);
  await client.create(CSIStorageCapacity, capacity("b", "b", "100Gi"));
  const selected = async () =>
    (await client.find(PersistentVolumeClaim, { namespace: "default", name: "data" }))?.metadata.annotations?.[
      "volume.kubernetes.io/selected-node"
    ];
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return selected();
    })
    .toBe("b");
});
