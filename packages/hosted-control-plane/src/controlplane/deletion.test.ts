import type { Cluster } from "@causeway/api";
import { getCondition, type Condition } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { Observed } from "./gather.ts";
import { finalizer, plan } from "./plan.ts";
import { observedWith } from "./testing/observed.ts";

const now = Date.UTC(2026, 0, 1);
const cluster: Cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { namespace: "team", name: "web" },
  spec: {},
};
const state = {
  ready: true,
  endpoint: { host: "10.0.0.1", port: 6443 },
  version: "v1.34.0",
  names: [],
  limits: { objects: 1, bytes: 1 },
  authentication: {},
};

test.each<[string, Partial<Observed>, string]>([
  ["names the finalizers that it waits for", { state }, "others.example/busy"],
  [
    "that has no API left says that they cannot end, and what to do",
    { state: { ...state, ready: false } },
    "others.example/busy; its API does not serve: repair it or, if it is lost, wait until those end that can without it (the cloud controller's after 15 min, with an event of what was removed), and remove the others by hand; the infrastructure object names what is left in the cloud",
  ],
  [
    "that runs nowhere says that they cannot end, and what to do",
    { state: undefined },
    "others.example/busy; its API does not serve: repair it or, if it is lost, wait until those end that can without it (the cloud controller's after 15 min, with an event of what was removed), and remove the others by hand; the infrastructure object names what is left in the cloud",
  ],
])("the deletion of a hosted control plane %s", (_, changes, message) => {
  const observed = observedWith(cluster, { exists: true, initialized: true, ...changes });
  const metadata = {
    ...observed.object.metadata,
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: [finalizer, "others.example/busy"],
  };
  const { steps, status, wait } = plan({ ...observed, object: { ...observed.object, metadata } }, now);
  expect(steps).toEqual([]);
  const condition = getCondition((status.conditions ?? []) as Condition[], "Deleting");
  expect(condition).toMatchObject({ status: "True", reason: "WaitingForFinalizers" });
  expect(condition?.message).toBe(`waiting for finalizers of others that still need the control plane: ${message}`);
  expect(wait?.for).toBe(condition?.message);
});
