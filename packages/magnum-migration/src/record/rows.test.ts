import { OpenStackMachineTemplate } from "@causeway/api";
import { desiredManifests, nothingStands } from "@causeway/magnum-api";
import { expect, test } from "vitest";
import { inventoryOf } from "../inventory/inventory.ts";
import type { ClusterFacts } from "../inventory/read.ts";
import { magnumClusterOf } from "./rows.ts";

type Json = Readonly<Record<string, unknown>>;

function rowOf(cluster: Json, groups: readonly Json[]): ReturnType<typeof magnumClusterOf> {
  const facts = {
    cluster: {
      status: "CREATE_COMPLETE",
      uuid: "u",
      name: "web",
      project_id: "p",
      coe_version: "v1.34.0",
      labels: {},
      ...cluster,
    },
    template: { coe: "kubernetes", image_id: "i" },
    groups: groups.map((group, index) => ({
      uuid: `g${index}`,
      role: "worker",
      image_id: "i",
      node_count: 1,
      ...group,
    })),
    stacks: [],
    servers: [],
    ports: [],
    balancers: [],
    images: [],
  } as unknown as ClusterFacts;
  const inventory = inventoryOf(facts);
  return magnumClusterOf({ namespace: "n", name: "web", inventory }, "import", "2026-01-01T00:00:00Z");
}

test("each node group keeps its own size of docker's volume, and new nodes get a volume of it", () => {
  const row = rowOf({ docker_volume_size: 20 }, [
    { name: "default-worker", is_default: true, docker_volume_size: 20 },
    { name: "big", docker_volume_size: 100 },
    { name: "none", docker_volume_size: null },
  ]);
  expect(row.spec.nodeGroups.map(({ dockerVolumeSize }) => dockerVolumeSize)).toEqual([20, 100, undefined]);
  const manifests = desiredManifests(
    { ...row, metadata: { ...row.metadata, uid: "uid" } },
    { authUrl: "http://k" },
    nothingStands,
  );
  const sizes = manifests
    .filter(({ type }) => type === OpenStackMachineTemplate)
    .map(({ object }) => (object as OpenStackMachineTemplate).spec.template.spec.additionalBlockDevices)
    .map((devices) => devices?.map(({ sizeGiB }) => sizeGiB));
  expect(sizes).toEqual([[20], [100], undefined]);
});

test.for<[string, unknown, number]>([
  ["keeps its limit", 45, 45],
  ["has no limit where Magnum has none", 0, 0],
  ["has Magnum's default where Magnum has no value", null, 60],
])("a cluster's creation %s", ([, create_timeout, expected]) =>
  expect(rowOf({ create_timeout }, []).spec.createTimeout).toBe(expected),
);
