import type { Deployment } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { allComponents } from "../catalogue/index.ts";
import { readinessOf } from "./readiness.ts";

const api = allComponents.find(({ name }) => name === "glance-api")!;

describe("a Deployment", () => {
  const stopped = { type: "Progressing", status: "False", message: "timed out" };
  test.each<[string, object, string]>([
    ["with all pods updated and available", { replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, "Ready"],
    [
      "whose old pod serves while the new one fails",
      { replicas: 2, updatedReplicas: 1, availableReplicas: 1 },
      "Progressing",
    ],
    [
      "whose rollout stopped with the old pod",
      { replicas: 2, updatedReplicas: 1, availableReplicas: 1, conditions: [stopped] },
      "Failed",
    ],
    ["without a pod of the change", { replicas: 1, updatedReplicas: 0, availableReplicas: 1 }, "Progressing"],
    ["with a pod that is not available", { replicas: 1, updatedReplicas: 1, availableReplicas: 0 }, "Progressing"],
  ])("%s is judged by its new pods", (_, status, state) => {
    const found = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "cloud-glance-api", generation: 2 },
      spec: { replicas: 1 },
      status: { observedGeneration: 2, ...status },
    };
    expect(readinessOf(api, found as unknown as Deployment).state).toBe(state);
  });
});
