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
import { describe, expect, test } from "vitest";
import { nodeIpamController } from "./controller.ts";
import { plan } from "./plan.ts";

const node = (name: string, spec: Node["spec"] = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: name },
  spec,
});
const assigned = (clusterCIDRs: readonly string[], taken: readonly string[] = []): readonly string[] | undefined =>
  plan({ node: node("n"), taken, clusterCIDRs }).steps[0]?.podCIDRs;

describe("the networks of a Node's pods", () => {
  test.each<[string, readonly string[], readonly string[], readonly string[] | undefined]>([
    ["are the first of the cluster's", ["10.244.0.0/16"], [], ["10.244.0.0/24"]],
    ["skip those of other Nodes", ["10.244.0.0/16"], ["10.244.0.0/24", "10.244.2.0/24"], ["10.244.1.0/24"]],
    ["are one of each family", ["10.244.0.0/16", "fd00:1::/48"], [], ["10.244.0.0/24", "fd00:1::/64"]],
    ["are the cluster's own when that is as small", ["10.244.7.0/26"], [], ["10.244.7.0/26"]],
  ])("%s", (_, cluster, taken, expected) => {
    expect(assigned(cluster, taken)).toEqual(expected);
  });

  test("are missing, with an event, when all are in use", () => {
    const planned = plan({ node: node("n"), taken: ["10.0.0.0/24"], clusterCIDRs: ["10.0.0.0/24"] });
    expect([planned.steps, planned.events?.[0]?.reason]).toEqual([[], "CIDRNotAvailable"]);
  });

  test("remain as they are", () => {
    const planned = plan({ node: node("n", { podCIDR: "10.9.0.0/24" }), taken: [], clusterCIDRs: ["10.244.0.0/16"] });
    expect(planned.steps).toEqual([]);
  });

  test("differ for Nodes that appear together", async () => {
    const server = await startApiServer();
    const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
    const stop = new AbortController();
    const informers = createInformers(client);
    const events = createEventRecorder(client, { component: "node-controller", signal: stop.signal });
    const context = { informers, events, clock: new VirtualClock(), log: silentLog, clusterCIDRs: ["10.244.0.0/16"] };
    const running = Promise.all([runController(nodeIpamController(context), stop.signal), informers.run(stop.signal)]);
    const names = Array.from({ length: 12 }, (_, i) => `node-${i}`);
    await Promise.all(names.map((name) => client.create(Node, { ...node(name), metadata: { name } })));
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
});
