/** A server of the demo that is deleted from outside: its Machine is replaced, and the others remain. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Machine, MachineHealthCheck } from "@causeway/api";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { TIMEOUT, eventually } from "../../support/processes.ts";
import { demoInventory } from "../../support/reference.ts";
import { demo, openStage, settled, type Stage } from "../../support/stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const { namespace } = demo;

describe("a server that is deleted from outside", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
    await stage.up("--demo").until(/demo ready: .*\n/);
    expect(await settled(stage, demoInventory)).toEqual(demoInventory);
  });
  afterAll(() => stage?.close());

  test("costs its Machine, which a MachineHealthCheck has replaced; the others and their servers remain", async () => {
    const client = stage.client();
    const cloud = connectCloud(loadCloudsYaml({ text: stage.simulator.cloudsYaml, cloud: "simulator" }));
    try {
      await client.create(MachineHealthCheck, {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "MachineHealthCheck",
        metadata: demo,
        spec: {
          clusterName: demo.name,
          selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "demo-workers" } },
          checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 10 }] },
        },
      });
      await eventually(TIMEOUT, async () => {
        const { status } = await client.get(MachineHealthCheck, demo);
        return status?.currentHealthy === 3;
      });
      const before = await cloud.compute.servers.all();
      const [lost, ...others] = before;
      if (lost === undefined) throw new Error("the demo has no server");
      await cloud.compute.servers.delete(lost.id);
      await eventually(TIMEOUT, async () => (await client.find(Machine, { namespace, name: lost.name })) === undefined);
      await eventually(TIMEOUT, async () => {
        const { items } = await client.list(Machine, { namespace });
        return items.length === 3 && items.every(({ status }) => status?.phase === "Running");
      });
      expect(await settled(stage, demoInventory)).toEqual(demoInventory);
      const after = (await cloud.compute.servers.all()).map(({ id }) => id);
      expect(after).toEqual(expect.arrayContaining(others.map(({ id }) => id)));
      expect(after).not.toContain(lost.id);
    } finally {
      await Promise.all([client.close(), cloud.close()]);
    }
  });
});
