import type { KubeObject, Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { podsOf, problemOfPods } from "./pod-problem.ts";

const pod = (name: string, status: object, metadata: object = {}): Pod =>
  ({ apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, spec: { containers: [] }, status }) as Pod;
const waiting = (reason: string, message?: string) => ({ state: { waiting: { reason, message } } });
const running = { containerStatuses: [{ state: { running: {} } }] };
const unscheduled = (message: string) => ({ conditions: [{ type: "PodScheduled", status: "False", message }] });

describe("the reason why pods do not run", () => {
  test.each<[string, Pod[], string | undefined]>([
    ["is nothing while all run", [pod("a", running)], undefined],
    ["is nothing while they start", [pod("a", { containerStatuses: [waiting("ContainerCreating")] })], undefined],
    [
      "is that of the first container that does not start",
      [pod("a", running), pod("b", { containerStatuses: [waiting("ImagePullBackOff", "no such\n  image")] })],
      "pod b: ImagePullBackOff: no such image",
    ],
    [
      "is that of an init container",
      [pod("a", { initContainerStatuses: [waiting("CrashLoopBackOff")] })],
      "pod a: CrashLoopBackOff",
    ],
    [
      "is that no node takes the pod",
      [pod("a", unscheduled("0/1 nodes are available"))],
      "pod a: 0/1 nodes are available",
    ],
    [
      "is nothing of a pod that is deleted",
      [pod("a", unscheduled("x"), { deletionTimestamp: "2026-01-01T00:00:00Z" })],
      undefined,
    ],
  ])("%s", (_, pods, problem) => expect(problemOfPods(pods)).toBe(problem));

  test("is cut where the message is long", () => {
    expect(problemOfPods([pod("a", unscheduled("x".repeat(10_000)))])?.length).toBeLessThan(600);
  });

  test("is searched by the labels of a workload, and of no other kind", () => {
    const object = (kind: string, selector?: object) =>
      ({ apiVersion: "apps/v1", kind, metadata: { name: "a" }, spec: { selector } }) as unknown as KubeObject;
    expect(podsOf(object("DaemonSet", { matchLabels: { app: "flannel", tier: "node" } }))).toBe(
      "app=flannel,tier=node",
    );
    expect(podsOf(object("Deployment", {}))).toBeUndefined();
    expect(podsOf(object("Job", { matchLabels: { a: "b" } }))).toBeUndefined();
  });
});
