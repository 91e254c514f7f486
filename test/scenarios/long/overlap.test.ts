/**
 * A second cluster on the demo's router whose subnet overlaps the demo's: said in a condition, and nothing is made for
 * it.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Cluster, OpenStackCluster } from "@causeway/api";
import { getCondition, type Condition } from "@causeway/kubernetes";
import { TIMEOUT, eventually } from "../../support/processes.ts";
import { demoInventory } from "../../support/reference.ts";
import { demo, openStage, settled, type Stage } from "../../support/stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const key = { namespace: demo.namespace, name: "second" };

describe("a managed subnet that overlaps another on the same router", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
    await stage.up("--demo").until(/demo ready: .*\n/);
    expect(await settled(stage, demoInventory)).toEqual(demoInventory);
  });
  afterAll(() => stage?.close());

  test("is reported by a condition that names both, and the demo keeps its connection", async () => {
    const client = stage.client();
    try {
      const first = await client.get(OpenStackCluster, demo);
      const router = first.status?.router?.id ?? "";
      const { controlPlaneEndpoint: _, ...spec } = first.spec;
      await client.create(OpenStackCluster, {
        apiVersion: first.apiVersion,
        kind: first.kind,
        metadata: { ...key, labels: { "cluster.x-k8s.io/cluster-name": key.name } },
        spec: {
          ...spec,
          router: { id: router },
          managedSubnets: [{ cidr: "10.6.0.0/25" }],
        },
      });
      const infrastructureRef = {
        apiGroup: "infrastructure.cluster.x-k8s.io",
        kind: "OpenStackCluster",
        name: key.name,
      };
      await client.create(Cluster, {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Cluster",
        metadata: key,
        spec: { infrastructureRef },
      });
      const condition = await eventually(TIMEOUT, async () => {
        const { status } = await client.get(OpenStackCluster, key);
        const found = getCondition((status?.conditions ?? []) as readonly Condition[], "RouterReady");
        return found?.reason === "OverlappingCIDR" ? found : undefined;
      });
      expect(condition.status).toBe("False");
      expect(condition.message).toContain(
        "10.6.0.0/25 overlaps subnet k8s-clusterapi-cluster-default-demo (10.6.0.0/24)",
      );
      const routers = stage.inventory().filter((line) => line.startsWith("router "));
      expect(routers).toEqual(["router ID k8s-clusterapi-cluster-default-demo"]);
      await client.delete(Cluster, key);
      await eventually(TIMEOUT, async () => (await client.find(Cluster, key)) === undefined);
      expect(await settled(stage, demoInventory)).toEqual(demoInventory);
    } finally {
      await client.close();
    }
  });
});
