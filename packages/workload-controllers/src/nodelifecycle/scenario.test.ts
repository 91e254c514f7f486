import { startApiServer } from "@causeway/apiserver";
import { silentLog, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  Lease,
  loadKubeconfig,
  microTimestamp,
  Node,
  Pod,
  runController,
  ServiceAccount,
} from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { nodeLifecycleController } from "./controller.ts";

test("taints a node whose Lease is not renewed, evicts its pods, and leaves a node alone that reports", async () => {
  const clock = new VirtualClock();
  const server = await startApiServer();
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const stop = new AbortController();
  const { signal } = stop;
  const account = { namespace: "default", name: "default" };
  await client
    .create(ServiceAccount, { apiVersion: "v1", kind: "ServiceAccount", metadata: account })
    .catch(() => undefined);
  const ready = { type: "Ready", status: "True" as const, reason: "KubeletReady", message: "kubelet is ready" };
  for (const name of ["silent", "alive"]) {
    await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
    const body = { status: { conditions: [ready] } };
    await client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
    const metadata = { namespace: "kube-node-lease", name };
    await client.create(Lease, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: {} });
  }
  const tolerations = [
    { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 },
  ];
  await client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "web" },
    spec: { nodeName: "silent", containers: [{ name: "main", image: "web:1" }], tolerations },
  });
  const informers = createInformers(client);
  const events = createEventRecorder(client, { component: "test" });
  const controller = nodeLifecycleController({ informers, clock, log: silentLog, events });
  const running = Promise.all([informers.run(signal), runController(controller, signal)]);
  const node = (name: string) => client.get(Node, { namespace: "", name });
  const taints = async (name: string) =>
    ((await node(name)).spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
  const beat = async () => {
    const body = { spec: { holderIdentity: "alive", renewTime: microTimestamp(clock.now()) } };
    await client.patch(Lease, { namespace: "kube-node-lease", name: "alive" }, { type: "merge", body });
    await clock.advance(10_000);
  };
  try {
    await expect
      .poll(
        async () => {
          await beat();
          return taints("silent");
        },
        { interval: 100 },
      )
      .toEqual(["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"]);
    expect((await node("silent")).status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
    });
    await expect
      .poll(
        async () => {
          await beat();
          return (await client.find(Pod, { namespace: "default", name: "web" }))?.metadata.deletionTimestamp;
        },
        { interval: 100 },
      )
      .toBeDefined();
    expect(await taints("alive")).toEqual([]);
    const body = { status: { conditions: [{ ...ready, lastHeartbeatTime: "2026-01-02T00:00:00Z" }] } };
    await client.patch(Node, { namespace: "", name: "silent" }, { type: "strategic", body }, { subresource: "status" });
    await expect.poll(() => taints("silent")).toEqual([]);
  } finally {
    stop.abort();
    await running.catch(() => undefined);
    await client.close();
    await server.close();
  }
});
