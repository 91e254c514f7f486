/** A control-plane machine is replaced: the API is reached through its load balancer all the time. */
import { OpenStackMachine } from "@causeway/api";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { condition, namespace, openInfrastructure } from "./world.ts";
import { demoSpec } from "../testing/objects.ts";

const world = openInfrastructure();
const pool = "k8s-clusterapi-cluster-default-ring-kubeapi-6443";

describe("the load balancer of the API when a control-plane machine is replaced", { timeout: 120_000 }, () => {
  let cloud: Cloud;
  beforeAll(() => {
    cloud = connectCloud(loadCloudsYaml({ text: world.simulator.cloudsYaml, cloud: "simulator" }));
  });
  afterAll(() => cloud.close());

  async function controlPlane(name: string): Promise<void> {
    await world.createMachine("ring", name);
    const metadata = { labels: { "cluster.x-k8s.io/control-plane": "" } };
    await world.client.patch(OpenStackMachine, { namespace, name }, { type: "merge", body: { metadata } });
    await world.machineReady(name);
  }

  async function members(): Promise<string[]> {
    const [made] = await cloud.loadBalancing.pools.all({});
    const all = made ? await cloud.loadBalancing.members(made.id).all({}) : [];
    return all.map((m) => `${m.name.slice(pool.length + 1)} ${m.operating_status}`).sort();
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
});
