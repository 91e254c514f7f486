import { startApiServer } from "@causeway/apiserver";
import { VirtualClock, silentLog } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  loadKubeconfig,
  Node,
  runController,
} from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { nodeIpamController } from "./controller.ts";

test("the networks of pods differ for Nodes that appear together", async () => {
  const server = await startApiServer();
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const stop = new AbortController();
  const informers = createInformers(client);
  const events = createEventRecorder(client, { component: "node-controller", signal: stop.signal });
  const context = { informers, events, clock: new VirtualClock(), log: silentLog, clusterCIDRs: ["10.244.0.0/16"] };
  const running = Promise.all([runController(nodeIpamController(context), stop.signal), informers.run(stop.signal)]);
  const names = Array.from({ length: 12 }, (_, i) => `node-${i}`);
  await Promise.all(
    names.map((name) => client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} })),
  );
  await expect
    .poll(async () => (await client.list(Node)).items.filter(({ spec }) => spec?.podCIDR !== undefined).length)
    .toBe(12);
  const { items } = await client.list(Node);
  expect(new Set(items.map(({ spec }) => spec?.podCIDR)).size).toBe(12);
  stop.abort();
  await running;
  await client.close();
  await server.close();
});
