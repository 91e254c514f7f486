import type { MagnumCluster } from "@causeway/api";
import { expect, test } from "vitest";
import { inventory, record } from "../../testing/planned.ts";
import { clusterManifests } from "./objects.ts";

test("the imported Cluster has the name by which Heat's cloud controller named load balancers and volumes", () => {
  const uuid = "6e8ae3a5-0b4c-4f0e-9d26-000000000001";
  const discovered = { ...record, inventory: { ...inventory, uuid, labels: {}, template: {} } };
  const owner = { kind: "MagnumCluster", metadata: { name: "web-1", uid: "o" } } as MagnumCluster;
  const given = { members: [], peerHost: "192.0.2.9", cloudsYaml: "clouds: {}" };
  const manifests = clusterManifests(discovered, owner, given);
  const cluster = manifests.map(({ object }) => object).find(({ kind }) => kind === "Cluster");
  expect(cluster?.metadata.annotations).toEqual({ "causeway.dev/cloud-cluster-name": uuid });
});
