import type { KubeObject, Node } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { Component } from "../model/component.ts";
import type { Desired } from "../render/desired.ts";
import { isDone, judgeComponents } from "./components.ts";
import { idOf, type Observed } from "./gather.ts";

const controller = { name: "ovn-controller" } as Component;

/** Whether what follows ovn-controller may begin. */
function isSeenAsDone(component: Component, available: number, up: readonly boolean[]): boolean {
  const wanted = { kind: "DaemonSet", metadata: { name: "cloud-ovn-controller", generation: 1 } } as KubeObject;
  const status = {
    observedGeneration: 1,
    desiredNumberScheduled: up.length,
    updatedNumberScheduled: up.length,
    numberAvailable: available,
  };
  const nodes = up.map((isUp): Node => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n" },
    spec: {},
    status: { conditions: [{ type: "Ready", status: isUp ? "True" : "Unknown" }] },
  }));
  const desired = {
    catalogue: { graph: { order: [component], needs: new Map() } },
    workloads: new Map([[component.name, [{ object: wanted }]]]),
  } as unknown as Desired;
  const objects = new Map([[idOf(wanted), { ...wanted, status }]]);
  const judged = judgeComponents(desired, { objects, nodes, pods: [] } as unknown as Observed);
  return isDone(judged.get(component.name));
}

test.each([
  ["the first of three nodes", controller, 1, [true, true, true], true],
  ["one of three nodes, of which all are awaited,", { ...controller, everyNode: true }, 1, [true, true, true], false],
  ["all nodes that are awaited", { ...controller, everyNode: true }, 3, [true, true, true], true],
  ["all awaited nodes that are up", { ...controller, everyNode: true }, 2, [true, true, false], true],
] as const)("a component that serves on %s is judged", (_, component, available, up, done) => {
  expect(isSeenAsDone(component, available, up)).toBe(done);
});
