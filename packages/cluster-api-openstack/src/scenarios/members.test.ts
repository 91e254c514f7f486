/** A control-plane machine is replaced: the API is reached through its load balancer all the time. */
import { Machine, OpenStackMachine } from "@causeway/api";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpointHook } from "../openstackcluster/leaving.ts";
import { condition, namespace, openInfrastructure } from "./world.ts";
import { demoSpec } from "../testing/objects.ts";

const world = openInfrastructure();
const poolOf = (cluster: string) => `k8s-clusterapi-cluster-default-${cluster}-kubeapi-6443`;
const pool = poolOf("ring");
const kubeadmHook = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup";

describe("the load balancer of the API when a control-plane machine is replaced", { timeout: 120_000 }, () => {
  let cloud: Cloud;
  beforeAll(() => {
    cloud = connectCloud(loadCloudsYaml({ text: world.simulator.cloudsYaml, cloud: "simulator" }));
  });
  afterAll(() => cloud.close());

  async function controlPlane(name: string, cluster = "ring"): Promise<void> {
    await world.createMachine(cluster, name);
    const metadata = { labels: { "cluster.x-k8s.io/control-plane": "" } };
    await world.client.patch(OpenStackMachine, { namespace, name }, { type: "merge", body: { metadata } });
    await world.machineReady(name);
  }

  async function members(name = pool): Promise<string[]> {
    const [made] = await cloud.loadBalancing.pools.all({ name });
    const all = made ? await cloud.loadBalancing.members(made.id).all({}) : [];
    return all.map((m) => `${m.name.slice(name.length + 1)} ${m.operating_status}`).sort();
  }

  const memberIs = (...wanted: string[]) =>
    world.until(wanted.join(" and "), async () => JSON.stringify(await members()) === JSON.stringify(wanted));

  it("keeps the old member and its server until the new member serves, then removes the member before the server", async () => {
    const before = world.inventory();
    const process = world.start();
    world.simulator.setOutcomes([{ operation: "member.health", name: `${pool}-ring-b`, outcome: "error" }]);
    await world.createCluster("ring", { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } });
    await world.clusterReady("ring");
    await controlPlane("ring-a");
    await memberIs("ring-a ONLINE");
    await controlPlane("ring-b");
    await memberIs("ring-a ONLINE", "ring-b ERROR");
    await world.client.delete(OpenStackMachine, { namespace, name: "ring-a" });
    const waiting = await world.until("a wait for the member", async () => {
      const machine = await world.client.get(OpenStackMachine, { namespace, name: "ring-a" });
      return condition(machine, "InstanceReady")?.message?.includes("kubeapi-6443") && machine;
    });
    expect(condition(waiting, "InstanceReady")?.reason).toBe("InstanceDeleting");
    await world.rested();
    expect(await members()).toEqual(["ring-a ONLINE", "ring-b ERROR"]);
    expect(world.inventory().filter((line) => line.startsWith("server "))).toHaveLength(2);
    const from = world.simulator.calls.length;
    world.simulator.setOutcomes([]);
    await world.until(
      "the old machine to go",
      async () => (await world.client.find(OpenStackMachine, { namespace, name: "ring-a" })) === undefined,
    );
    expect(await members()).toEqual(["ring-b ONLINE"]);
    const changes = world.simulator.calls
      .slice(from)
      .filter(({ method }) => method !== "GET")
      .map(({ method, path }) => `${method} ${path.replace(/\/[0-9a-f-]{36}/g, "")}`);
    const left = changes.findIndex((change) => change.includes("/members"));
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left).toBeLessThan(changes.findIndex((change) => /^DELETE .*servers$/.test(change)));
    await world.remove("ring", ["ring-b"]);
    await process.kill();
    expect(world.inventory()).toEqual(before);
  });

  /** As Cluster API deletes it: with the hook of its control plane, by which the member of etcd leaves. */
  async function deleteMachine(name: string): Promise<void> {
    const labels = { "cluster.x-k8s.io/control-plane": "" };
    const metadata = { labels, annotations: { [kubeadmHook]: "" }, finalizers: ["machine.cluster.x-k8s.io"] };
    await world.client.patch(Machine, { namespace, name }, { type: "merge", body: { metadata } });
    await world.client.delete(Machine, { namespace, name });
  }

  const drained = (name: string) =>
    world.client.patch(
      Machine,
      { namespace, name },
      { type: "merge", body: { status: { conditions: [waitsForHooks] } } },
      { subresource: "status" },
    );
  const hookOf = async (name: string) =>
    (await world.client.get(Machine, { namespace, name })).metadata.annotations?.[endpointHook];
  const serverCount = () => world.inventory().filter((line) => line.startsWith("server ")).length;

  it("removes the member of a deleted Machine before its control plane may take its etcd away, and that of no last one", async () => {
    const before = world.inventory();
    let process = world.start();
    const apiServer = { managedLoadBalancer: { enabled: true } };
    await world.createCluster("etcd", { ...demoSpec, managedSubnets: [{ cidr: "10.7.0.0/24" }], apiServer });
    await world.clusterReady("etcd");
    for (const name of ["etcd-a", "etcd-b", "etcd-c"]) await controlPlane(name, "etcd");
    const all = ["etcd-a ONLINE", "etcd-b ONLINE", "etcd-c ONLINE"];
    const are = (...wanted: string[]) =>
      world.until(wanted.join(), async () => JSON.stringify(await members(poolOf("etcd"))) === JSON.stringify(wanted));
    await are(...all);

    await deleteMachine("etcd-a");
    await world.until("the hook", async () => (await hookOf("etcd-a")) === "");
    await world.rested();
    expect(await members(poolOf("etcd"))).toEqual(all);
    // The next process finds the hook, and continues.
    await process.kill();
    await drained("etcd-a");
    process = world.start();
    await world.until("no hook", async () => (await hookOf("etcd-a")) === undefined);
    expect(await members(poolOf("etcd"))).toEqual(["etcd-b ONLINE", "etcd-c ONLINE"]);
    expect(serverCount()).toBe(3);

    // Of two that are deleted at once neither may cut off the other, whose etcd has still to leave.
    for (const name of ["etcd-b", "etcd-c"]) await deleteMachine(name);
    for (const name of ["etcd-b", "etcd-c"]) await world.until("the hook", async () => (await hookOf(name)) === "");
    // A process that sees one drained before the other removes the member of that one.
    await process.kill();
    for (const name of ["etcd-b", "etcd-c"]) await drained(name);
    process = world.start();
    for (const name of ["etcd-b", "etcd-c"])
      await world.until("no hook", async () => (await hookOf(name)) === undefined);
    await world.rested();
    expect(await members(poolOf("etcd"))).toEqual(["etcd-b ONLINE", "etcd-c ONLINE"]);
    await world.remove("etcd", ["etcd-a", "etcd-b", "etcd-c"]);
    await process.kill();
    expect(world.inventory()).toEqual(before);
  });

  it("lets no Machine go with its member, and keeps none for long, when it is killed at any call of a machine that leaves", async () => {
    const before = world.inventory();
    let process = world.start();
    const apiServer = { managedLoadBalancer: { enabled: true } };
    await world.createCluster("cut", { ...demoSpec, managedSubnets: [{ cidr: "10.8.0.0/24" }], apiServer });
    await world.clusterReady("cut");
    await controlPlane("cut-b", "cut");
    const are = (...wanted: string[]) =>
      world.until(wanted.join(), async () => JSON.stringify(await members(poolOf("cut"))) === JSON.stringify(wanted));
    for (const [when, of] of [
      ["before", 1],
      ["after", 1],
      ["before", 2],
    ] as const) {
      const name = `cut-${when}-${of}`;
      await controlPlane(name, "cut");
      await are(...["cut-b", name].map((one) => `${one} ONLINE`).sort());
      await deleteMachine(name);
      await world.until("the hook", async () => (await hookOf(name)) === "");
      let seen = 0;
      let reached: () => void = () => {};
      const atCut = new Promise<boolean>((resolve) => (reached = () => resolve(true)));
      world.simulator.setFaults((call) => {
        if (call.method === "GET" || call.service === "identity" || ++seen !== of) return undefined;
        reached();
        return { when, cut: true };
      });
      await drained(name);
      const released = world.until("no hook", async () => (await hookOf(name)) === undefined);
      const isCut = await Promise.race([atCut, released.then(() => false)]);
      await process.kill();
      world.simulator.setFaults(undefined);
      process = world.start();
      await released;
      expect(await members(poolOf("cut")), name).toEqual(["cut-b ONLINE"]);
      // One call removes the member: the second is never reached.
      expect(isCut, name).toBe(of === 1);
      await world.removeMachine(name);
    }
    await world.remove("cut", ["cut-b"]);
    await process.kill();
    expect(world.inventory()).toEqual(before);
  });
});

const waitsForHooks = {
  type: "Deleting",
  status: "True",
  reason: "WaitingForPreTerminateHook",
  message: "",
  lastTransitionTime: "2026-11-29T00:00:00Z",
};
