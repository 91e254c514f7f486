import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { KubeObject, Node } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { desire, spec } from "../testing/rendered.ts";
import { cellRefusal } from "./cells.ts";
import { idOf } from "./gather.ts";

const [control, compute, gpu] = spec.nodeGroups as [Group, Group, Group];
type Group = OpenStackDeploymentSpec["nodeGroups"][number];
type Cells = Pick<OpenStackDeploymentSpec, "cells" | "nodeGroups">;

const cells = [{ name: "cell2" }];
const oneCell: Cells = { nodeGroups: [control, compute, gpu] };
const twoCells: Cells = { cells, nodeGroups: [control, compute, { ...gpu, cell: "cell2" }] };
const node = (name: string, role: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { role } },
  spec: {},
});
const nodes = [node("c1", "control"), node("n1", "compute"), node("g1", "gpu")];

/** What runs is that of `before`; `after` is wanted now. */
function refusal(before: Cells, after: Cells, change: (object: KubeObject) => KubeObject = (object) => object) {
  const objects = new Map(desire(before).all.map((object) => [idOf(object), change(object)]));
  const deployment = { apiVersion: "x/v1", kind: "OpenStackDeployment", metadata: { name: "cloud" } };
  return cellRefusal({ deployment: { ...deployment, spec: { ...spec, ...after } }, objects, nodes });
}

describe("the cells of a specification", () => {
  test.each([
    ["one cell as before", oneCell, oneCell],
    ["two cells as before", twoCells, twoCells],
    ["a cell that is added without nodes", oneCell, { cells, nodeGroups: oneCell.nodeGroups }],
    ["a group that is added to a cell", { cells, nodeGroups: [control, compute] }, twoCells],
    ["a group that leaves", twoCells, { cells, nodeGroups: [control, compute] }],
    [
      "a group with another name in the same cell",
      twoCells,
      { cells, nodeGroups: [control, compute, { ...gpu, name: "more", cell: "cell2" }] },
    ],
  ])("are accepted: %s", (_, before, after) => {
    expect(refusal(before, after)).toBeUndefined();
  });

  test.each([
    [
      "a group that changes its cell",
      oneCell,
      twoCells,
      /^node g1 is in cell1 by DaemonSet .*, and in cell2 by group gpu/,
    ],
    [
      "nodes that come back in a group with another name",
      twoCells,
      { cells, nodeGroups: [control, compute, { ...gpu, name: "more" }] },
      /^node g1 is in cell2 by DaemonSet cloud-nova-compute-gpu, and in cell1 by group more/,
    ],
    [
      "nodes in groups of two cells",
      { cells, nodeGroups: [control] },
      { cells, nodeGroups: [control, gpu, { ...gpu, name: "more", cell: "cell2" }] },
      /^node g1 is in cell1 by group gpu, and in cell2 by group more.*drain it/,
    ],
    [
      "a cell that is removed",
      { cells, nodeGroups: [control, compute] },
      oneCell,
      /^the cell cell2 runs and is not in/,
    ],
  ])("are refused: %s", (_, before, after, message) => {
    expect(refusal(before, after)).toMatch(message);
  });

  test("say nothing of a DaemonSet that is being deleted", () => {
    const more: Cells = { cells, nodeGroups: [control, compute, { ...gpu, name: "more" }] };
    const leaving = (object: KubeObject): KubeObject =>
      object.metadata.name === "cloud-nova-compute-gpu"
        ? { ...object, metadata: { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }
        : object;
    expect(refusal(twoCells, more)).toMatch(/^node g1/);
    expect(refusal(twoCells, more, leaving)).toBeUndefined();
  });
});
