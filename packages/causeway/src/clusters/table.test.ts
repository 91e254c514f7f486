import { expect, test } from "vitest";
import type { Cluster } from "@causeway/api";
import { clusterNames, clusterTable } from "./table.ts";

const created = "2026-01-01T00:00:00Z";
const now = Date.parse(created) + 60_000;
const cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "web", namespace: "tenants", creationTimestamp: created },
  spec: {
    controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "web" },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name: "web-net" },
  },
} as unknown as Cluster;
const listed = [{ cluster, controlPlane: undefined }];

test("a table of clusters shows a cluster without a status as pending, with none of its workers ready", () => {
  expect(clusterTable(listed, { now, wide: false })).toBe(
    "NAMESPACE   NAME   PHASE     VERSION   WORKERS READY   ENDPOINT   AGE\n" +
      "tenants     web    Pending   <none>    0/0             <none>     60s\n",
  );
});

test("a wide table of clusters names the control plane and the infrastructure of each", () => {
  const [header = "", row = ""] = clusterTable(listed, { now, wide: true }).split("\n");
  expect(header).toMatch(/ AGE {3}CONTROL PLANE +INFRASTRUCTURE$/);
  expect(row).toMatch(/ 60s {3}HostedControlPlane\/web {3}OpenStackCluster\/web-net$/);
});

test("names of clusters are written one on a line, as kubectl takes them", () => {
  expect(clusterNames([cluster, cluster])).toBe("cluster/web\ncluster/web\n");
});
