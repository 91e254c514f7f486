/** Compute nodes that are drained, come back, or are lost, on a simulated cluster with the real eviction of pods. */
import { Node, timestamp, type Pod } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { NAMESPACE, OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function start(): Promise<OperatorWorld> {
  const w = (world = await OperatorWorld.start(3));
  w.runOperator();
  await w.createDeployment();
  await w.whenReady();
  await w.until("every compute node has its guard", async () => (await guards(w)).length === 3);
  await w.settle();
  return w;
}

const guards = async (w: OperatorWorld): Promise<Pod[]> =>
  (await w.pods()).filter(({ metadata }) => metadata.name.startsWith("cloud-guard-"));
const cordon = (w: OperatorWorld, name: string, unschedulable: boolean) =>
  w.client.patch(Node, { namespace: "", name }, { type: "merge", body: { spec: { unschedulable } } });

/** Evicts the pods of a node that are of no DaemonSet, as `kubectl drain` does. True when none is left. */
async function drain(w: OperatorWorld, node: string): Promise<boolean> {
  const own = (await w.pods()).filter(
    ({ spec, metadata }) =>
      spec.nodeName === node && metadata.ownerReferences?.every(({ kind }) => kind !== "DaemonSet") === true,
  );
  for (const { metadata } of own) {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}/eviction`;
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: metadata.name, namespace: NAMESPACE } };
    await w.client.request("POST", path, { body }).catch(() => {});
  }
  return own.length === 0;
}

describe("a compute node", () => {
  test("is drained only when its servers have moved, also by another operator, and takes servers again after uncordon", async () => {
    const w = await start();
    for (const id of ["s1", "s2", "s3", "s4", "s5"]) w.nova.addServer(id, "compute-0");
    await cordon(w, "compute-0", true);
    expect(await drain(w, "compute-0")).toBe(false);
    await w.until("some have moved", () => Promise.resolve(w.nova.on("compute-0").length < 5));
    expect(w.nova.on("compute-0").length).toBeGreaterThan(0);
    expect(await drain(w, "compute-0")).toBe(false);
    expect(w.nova.hosts.get("compute-0")).toMatchObject({
      isEnabled: false,
      reason: "causeway: node compute-0 is cordoned",
    });
    await w.until("the node is drained", async () => {
      const left = w.nova.on("compute-0").length;
      const isDrained = await drain(w, "compute-0");
      if (isDrained) expect(left).toBe(0);
      return isDrained;
    });
    expect(w.nova.orders.filter((order) => order.startsWith("live-migrate"))).toHaveLength(5);
    expect((await w.deployment()).status?.maintenance).toMatchObject([
      { node: "compute-0", phase: "Empty", servers: 0 },
    ]);
    await cordon(w, "compute-0", false);
    await w.until("it takes servers again", () => Promise.resolve(w.nova.hosts.get("compute-0")?.isEnabled));
    expect((await guards(w)).filter(({ spec }) => spec.nodeName === "compute-0")).toHaveLength(1);
    await w.until("its maintenance is over", async () => (await w.deployment()).status?.maintenance === undefined);
    await w.settle();
    const count = w.writes.length;
    await w.pass(60_000);
    await w.settle();
    expect(w.writes.slice(count)).toEqual([]);
  });

  test("is given free by the next operator when the first is killed again and again", async () => {
    const w = (world = await OperatorWorld.start(2));
    let kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.until("guards", async () => (await guards(w)).length === 2);
    for (const id of ["s1", "s2", "s3", "s4"]) w.nova.addServer(id, "compute-1");
    await cordon(w, "compute-1", true);
    for (let seen = w.nova.orders.length; !(await drain(w, "compute-1"));) {
      await w.glance(2_000);
      if (w.nova.orders.length === seen) continue;
      seen = w.nova.orders.length;
      await kill();
      kill = w.runOperator();
    }
    expect(w.nova.on("compute-1")).toEqual([]);
    expect(w.nova.orders.filter((order) => order.startsWith("live-migrate"))).toHaveLength(4);
  });

  test("waits while another one of its zone is in maintenance, and remains held while a server cannot leave", async () => {
    const w = await start();
    w.nova.addServer("stuck", "compute-0");
    w.nova.stubborn.add("stuck");
    w.nova.addServer("other", "compute-1");
    await cordon(w, "compute-0", true);
    await w.until("the first is disabled", () => Promise.resolve(w.nova.hosts.get("compute-0")?.isEnabled === false));
    await cordon(w, "compute-1", true);
    await w.until("it was tried three times", async () =>
      (await w.events()).some((text) => /^ServerStays: .*stuck/.test(text)),
    );
    expect(await drain(w, "compute-0")).toBe(false);
    expect(w.nova.on("compute-1")).toEqual(["other"]);
    expect(w.nova.hosts.get("compute-1")?.isEnabled).toBe(true);
    const { status } = await w.deployment();
    expect(status?.maintenance?.map(({ node, phase }) => `${node} ${phase}`)).toEqual([
      "compute-0 Blocked",
      "compute-1 Waiting",
    ]);
    w.nova.stubborn.clear();
    await w.until(
      "both are free",
      async () => (await drain(w, "compute-0")) && w.nova.on("compute-0").length === 0,
      60_000,
    );
  });

  test("that is lost is evacuated only when it is fenced", async () => {
    const w = await start();
    w.nova.addServer("s1", "compute-2");
    const conditions = [{ type: "Ready", status: "Unknown", lastTransitionTime: timestamp(w.clock.now()) }];
    await w.client.patch(
      Node,
      { namespace: "", name: "compute-2" },
      { type: "merge", body: { status: { conditions } } },
      { subresource: "status" },
    );
    await w.until(
      "it is reported",
      async () => (await w.events()).some((text) => text.startsWith("ComputeUnreachable: ")),
      10_000,
    );
    await w.pass(600_000);
    expect(w.nova.orders).toEqual([]);
    const taints = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];
    await w.client.patch(Node, { namespace: "", name: "compute-2" }, { type: "merge", body: { spec: { taints } } });
    await w.until("its server is elsewhere", () => Promise.resolve(w.nova.on("compute-2").length === 0));
    expect(w.nova.orders).toEqual(["disable compute-2", "force-down compute-2", "evacuate s1"]);
    const back = [{ type: "Ready", status: "True", lastTransitionTime: timestamp(w.clock.now()) }];
    await w.client.patch(
      Node,
      { namespace: "", name: "compute-2" },
      { type: "merge", body: { spec: { taints: null } } },
    );
    await w.client.patch(
      Node,
      { namespace: "", name: "compute-2" },
      { type: "merge", body: { status: { conditions: back } } },
      { subresource: "status" },
    );
    await w.until("it is back", () => Promise.resolve(w.nova.hosts.get("compute-2")?.isEnabled));
    expect(w.nova.orders.slice(3)).toEqual(["force-up compute-2", "enable compute-2"]);
  });

  test("that is removed from the cluster leaves the cloud once it is off and empty, and not before", async () => {
    const w = await start();
    w.nova.addServer("s1", "compute-2");
    w.nova.addHost("never-a-node");
    await w.until("guards", async () => (await guards(w)).length === 3);
    await w.client.delete(Node, { namespace: "", name: "compute-2" });
    await w.until("it is reported", async () =>
      (await w.events()).some((text) => text.startsWith("RemovedWithServers: node compute-2")),
    );
    w.nova.servers.clear();
    await w.pass(60_000);
    await w.settle();
    expect(w.nova.orders).toEqual(["disable compute-2"]);
    const host = w.nova.hosts.get("compute-2");
    if (host) host.isUp = false;
    await w.until("it left", () => Promise.resolve(!w.nova.hosts.has("compute-2")));
    expect(w.nova.orders).toEqual(["disable compute-2", "remove compute-2 with agent-compute-2"]);
    await w.until(
      "its maintenance is removed from the status",
      async () => (await w.deployment()).status?.maintenance === undefined,
    );
    expect([...w.nova.hosts.keys()]).toEqual(["compute-0", "compute-1", "never-a-node"]);
  });
});

describe("a control node of a deployment with clusters", () => {
  test("is drained only after the one before it is back", async () => {
    const w = (world = await OperatorWorld.start(1));
    w.runOperator();
    await w.createDeployment({ services: [{ name: "ovn", replicas: 3 }] });
    await w.whenReady();
    await w.until("every node has its guard", async () => (await guards(w)).length === 4);
    await w.settle();
    const state = async (node: string) =>
      (await w.deployment()).status?.maintenance?.find((each) => each.node === node);
    for (const name of ["control-0", "control-1"]) await cordon(w, name, true);
    await w.until("the first one is drained", () => drain(w, "control-0"), 5_000);
    for (let each = 0; each < 3; each++) {
      await w.pass(30_000);
      expect(await drain(w, "control-1")).toBe(false);
    }
    expect(await state("control-0")).toMatchObject({ phase: "Empty" });
    expect(await state("control-1")).toMatchObject({ phase: "Waiting" });

    await cordon(w, "control-0", false);
    await w.until("the second one is drained", () => drain(w, "control-1"), 5_000);
    await cordon(w, "control-1", false);
    await w.until("maintenance is over", async () => (await w.deployment()).status?.maintenance === undefined);
    await w.until("every node has its guard again", async () => (await guards(w)).length === 4);
  });

  test("is drained while Nova does not respond, although the operator has not read it yet", async () => {
    const w = (world = await OperatorWorld.start(1));
    const kill = w.runOperator();
    await w.createDeployment({ services: [{ name: "ovn", replicas: 3 }] });
    await w.whenReady();
    await w.until("every node has its guard", async () => (await guards(w)).length === 4);
    await w.settle();
    await kill();
    w.nova.isAway = true;
    w.nova.addServer("s1", "compute-0");
    w.runOperator();
    for (const name of ["control-0", "compute-0"]) await cordon(w, name, true);
    await w.until("the control node is drained", () => drain(w, "control-0"), 5_000);
    expect(await drain(w, "compute-0")).toBe(false);
    const held = (await w.deployment()).status?.maintenance?.find(({ node }) => node === "compute-0");
    expect(held).toMatchObject({ phase: "Blocked", message: expect.stringContaining("connection refused") });
    w.nova.isAway = false;
    await w.until("Nova is read", async () => {
      const found = (await w.deployment()).status?.maintenance?.find(({ node }) => node === "compute-0");
      return found?.phase === "Moving" || found?.message.includes("connection refused") === false;
    });
  });
});
