import { expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import { renderTree, treeOf } from "./tree.ts";

const START = "2026-01-01T00:00:00Z";

function object(kind: string, name: string, owner?: string, condition?: object): KubeObject {
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: "v1", kind: "Owner", name: owner, uid: owner }];
  return {
    apiVersion: "v1",
    kind,
    metadata: { name, namespace: "default", uid: name, creationTimestamp: START, ownerReferences },
    ...(condition ? { status: { conditions: [condition] } } : {}),
  } as KubeObject;
}

const ready = { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: START };
const waiting = { ...ready, status: "False", reason: "WaitingForServer", message: "\n* server m-1 is BUILD\n* more" };

test("machines are below their sets, and what is not ready says why in one line", () => {
  const root = object("Cluster", "demo");
  const tree = treeOf(root, [
    object("Machine", "m-1", "set", waiting),
    object("Machine", "m-0", "set", ready),
    object("MachineSet", "set", "demo", ready),
    object("OpenStackCluster", "infra", "demo", ready),
    object("Machine", "stranger", "elsewhere", ready),
  ]);
  expect(renderTree(tree, Date.parse(START) + 60_000)).toBe(
    [
      "NAME                       READY   REASON             SINCE   MESSAGE",
      "Cluster/demo                                          60s",
      "├─MachineSet/set           True                       60s",
      "│ ├─Machine/m-0            True                       60s",
      "│ └─Machine/m-1            False   WaitingForServer   60s     server m-1 is BUILD",
      "└─OpenStackCluster/infra   True                       60s",
      "",
    ].join("\n"),
  );
});

test("objects that own each other end the branch", () => {
  const a = object("A", "a", "b");
  const b = object("B", "b", "a");
  expect(renderTree(treeOf(a, [a, b]), Date.parse(START)).split("\n")).toHaveLength(4);
});
