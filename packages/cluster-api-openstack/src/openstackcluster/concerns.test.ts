import { labels, type Cluster, type OpenStackMachine } from "@causeway/api";
import { expect, test } from "vitest";
import { clusterConcerns, machineConcerns } from "./concerns.ts";

type Metadata = Partial<Cluster["metadata"]>;
type Phase = NonNullable<Cluster["status"]>["phase"];

const cluster = (metadata: Metadata, phase: Phase = "Provisioning"): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { namespace: "n", name: "c", generation: 1, ...metadata },
  spec: {},
  status: { phase },
});

test("an OpenStackCluster hears of its Cluster's spec and deletion, not of its status", () => {
  const previous = cluster({});
  expect(clusterConcerns({ type: "added", object: previous })).toBe(true);
  expect(clusterConcerns({ type: "deleted", object: previous })).toBe(true);
  expect(clusterConcerns({ type: "updated", previous, object: cluster({ generation: 2 }) })).toBe(true);
  const deleted = cluster({ deletionTimestamp: "2026-01-01T00:00:00Z" });
  expect(clusterConcerns({ type: "updated", previous, object: deleted })).toBe(true);
  expect(clusterConcerns({ type: "updated", previous, object: cluster({}, "Provisioned") })).toBe(false);
});

const machine = (own: Record<string, string>, instanceState = "BUILD"): OpenStackMachine => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "OpenStackMachine",
  metadata: { namespace: "n", name: "m", labels: { [labels.clusterName]: "c", ...own } },
  spec: { image: { id: "i" }, flavor: { id: "f" } },
  status: { instanceState },
});

test("an OpenStackCluster hears of workers that come, go or change clusters, not of their status", () => {
  const previous = machine({});
  expect(machineConcerns({ type: "added", object: previous })).toBe(true);
  expect(machineConcerns({ type: "deleted", object: previous })).toBe(true);
  const moved = machine({ [labels.clusterName]: "other" });
  expect(machineConcerns({ type: "updated", previous, object: moved })).toBe(true);
  expect(machineConcerns({ type: "updated", previous, object: machine({}, "ACTIVE") })).toBe(false);
});

test("an OpenStackCluster hears of each change of a control-plane machine, and of one that becomes a worker", () => {
  const own = { [labels.controlPlane]: "" };
  const previous = machine(own);
  expect(machineConcerns({ type: "updated", previous, object: machine(own, "ACTIVE") })).toBe(true);
  expect(machineConcerns({ type: "updated", previous, object: machine({}) })).toBe(true);
});
