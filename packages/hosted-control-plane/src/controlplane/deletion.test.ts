import type { Cluster } from "@causeway/api";
import { getCondition, type Condition, type Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { Observed } from "./gather.ts";
import { finalizer, plan, secretFinalizer } from "./plan.ts";
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
  ["names the finalizers that it waits for", { state }, "others.example/idle, others.example/busy"],
  [
    "that has no API left says that they cannot end, and what to do",
    { state: { ...state, ready: false } },
    "others.example/idle, others.example/busy; its API does not serve: repair it or, if it is lost, wait until those end that can without it (the cloud controller's after 15 min, with an event of what was removed), and remove the others by hand; the infrastructure object names what is left in the cloud",
  ],
  [
    "that runs nowhere says that they cannot end, and what to do",
    { state: undefined },
    "others.example/idle, others.example/busy; its API does not serve: repair it or, if it is lost, wait until those end that can without it (the cloud controller's after 15 min, with an event of what was removed), and remove the others by hand; the infrastructure object names what is left in the cloud",
  ],
])("the deletion of a hosted control plane %s", (_, changes, message) => {
  const observed = observedWith(cluster, { exists: true, initialized: true, ...changes });
  const metadata = {
    ...observed.object.metadata,
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: ["others.example/idle", finalizer, "others.example/busy"],
  };
  const { steps, status, wait } = plan({ ...observed, object: { ...observed.object, metadata } }, now);
  expect(steps).toEqual([]);
  const condition = getCondition((status.conditions ?? []) as Condition[], "Deleting");
  expect(condition).toMatchObject({ status: "True", reason: "WaitingForFinalizers" });
  expect(condition?.message).toBe(`waiting for finalizers of others that still need the control plane: ${message}`);
  expect(wait?.for).toBe(condition?.message);
});

test("the deletion of a hosted control plane waits until all of it is gone, before its kubeconfig and it are released", () => {
  const kubeconfigSecret = { metadata: { name: "web-kubeconfig", finalizers: [secretFinalizer] } } as Secret;
  const step = (changes: Partial<Observed>, finalizers: string[] = [finalizer]) => {
    const observed = observedWith(cluster, { exists: true, kubeconfigSecret, state, ...changes });
    const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    const { finalizers: _before, ...metadata } = { ...observed.object.metadata, ...deleted };
    const held = finalizers.length === 0 ? metadata : { ...metadata, finalizers };
    const { steps, status, wait } = plan({ ...observed, object: { ...observed.object, metadata: held } }, now);
    const { status: is, reason, message } = getCondition((status.conditions ?? []) as Condition[], "Deleting") ?? {};
    expect([is, reason]).toEqual(["True", "Deleting"]);
    return [steps.map(({ type }) => type), message, wait?.for];
  };
  const removes = "removing the control plane and its data";
  expect(step({})).toEqual([["remove"], removes, undefined]);
  const waits = "waiting until everything of the control plane is deleted";
  expect(step({ state: { ...state, removing: true } })).toEqual([[], waits, waits]);
  const gone = { exists: false, state: undefined };
  expect(step(gone)).toEqual([["release-kubeconfig", "remove-finalizer"], removes, undefined]);
  const released = { metadata: { name: "web-kubeconfig" } } as Secret;
  expect(step({ ...gone, kubeconfigSecret: released })).toEqual([["remove-finalizer"], removes, undefined]);
  expect(step(gone, [])).toEqual([[], removes, undefined]);
});

test("the finalizers are those that objects of earlier versions have", () => {
  const name = "hostedcontrolplane.controlplane.cluster.x-k8s.io";
  expect([finalizer, secretFinalizer]).toEqual([name, `${name}/secret`]);
});
