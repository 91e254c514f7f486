import { expect, test } from "vitest";
import { magnumClusterOf } from "../../record/rows.ts";
import { inventory, record } from "../../testing/planned.ts";
import { clusterManifests } from "./objects.ts";

test("the imported Cluster has the name by which Heat's cloud controller named load balancers and volumes", () => {
  const uuid = "6e8ae3a5-0b4c-4f0e-9d26-000000000001";
  const discovered = { ...record, inventory: { ...inventory, uuid, labels: {}, template: {} } };
  const row = magnumClusterOf(discovered, "import", "2026-11-01T12:00:00Z");
  const owner = { ...row, metadata: { ...row.metadata, uid: "o" } };
  const keystone = { authUrl: "http://keystone.invalid/v3" };
  const given = { members: [], peerHost: "192.0.2.9", cloudsYaml: "clouds: {}", keystone };
  const manifests = clusterManifests(discovered, owner, given);
  const cluster = manifests.map(({ object }) => object).find(({ kind }) => kind === "Cluster");
  expect(cluster?.metadata.annotations).toEqual({ "causeway.dev/cloud-cluster-name": uuid });
});
