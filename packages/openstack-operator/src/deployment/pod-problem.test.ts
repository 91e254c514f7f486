import type { Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { labels } from "../model/names.ts";
import { podProblem } from "./pod-problem.ts";

const pod = (name: string, container: Record<string, unknown>, status: NonNullable<Pod["status"]>): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { [labels.component]: "glance-api" } },
  spec: { containers: [{ name: "glance-api", image: "glance", ...container }] },
  status,
});
const probed = { readinessProbe: { httpGet: { path: "/healthcheck", port: 9292 } } };
const notReady = { phase: "Running", conditions: [{ type: "Ready", status: "False" }] } as NonNullable<Pod["status"]>;

describe("the reason why a pod is not ready", () => {
  test("is its probe where it has one and runs", () => {
    expect(podProblem([pod("api", probed, notReady)], "glance-api")).toBe("pod api: its probe fails");
  });

  test("is nothing that can be named where it has none, such as the pod of a Job that ends", () => {
    expect(podProblem([pod("job", {}, notReady)], "glance-api")).toBeUndefined();
  });

  test("is what its container said when it ended, before anything else", () => {
    const ended = { name: "glance-api", ready: false, state: { terminated: { exitCode: 1, message: "no store" } } };
    const status = { ...notReady, containerStatuses: [ended] } as unknown as NonNullable<Pod["status"]>;
    expect(podProblem([pod("api", probed, status)], "glance-api")).toBe(
      "pod api: container glance-api exited with status 1: no store",
    );
  });

  test("has neither the deployment's secrets nor line ends", () => {
    const waiting = { reason: "ErrImagePull", message: "of s3cret-of-glance\n\u001B[2J" };
    const pulling = { name: "glance-api", ready: false, state: { waiting } };
    const conditions = [{ type: "PodScheduled", status: "False", message: "0/3 nodes:\ns3cret-of-glance" }];
    for (const status of [
      { ...notReady, containerStatuses: [pulling] },
      { phase: "Pending", conditions },
    ]) {
      const problem = podProblem([pod("api", probed, status as never)], "glance-api", ["s3cret-of-glance"]);
      expect(problem).toContain("[redacted]");
      expect(problem).not.toMatch(/s3cret|\p{Cc}/u);
    }
  });
});
