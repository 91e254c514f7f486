import type { CSINode, Node } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { plan } from "./plan.ts";

const CINDER = "cinder.csi.openstack.org";
const TOPOLOGY = "topology.cinder.csi.openstack.org/zone";
const node = (labels: Record<string, string>): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n", uid: "u", labels },
  spec: {},
});
const registered = (nodeID: string): CSINode => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: { name: "n" },
  spec: { drivers: [{ name: CINDER, nodeID, topologyKeys: [TOPOLOGY], allocatable: { count: 24 } }] },
});
const zoned = node({ "topology.kubernetes.io/zone": "a" });
const labelled = node({ "topology.kubernetes.io/zone": "a", [TOPOLOGY]: "a" });

test.each<[string, Node, CSINode | undefined, string[], string[]]>([
  ["labels the Node, then creates the CSINode", zoned, undefined, [CINDER], ["label-node", "create"]],
  [
    "registers a driver that was installed later",
    labelled,
    { ...registered("s"), spec: { drivers: [] } },
    [CINDER],
    ["change"],
  ],
  ["does nothing when the driver is registered", labelled, registered("s"), [CINDER], []],
  ["replaces the ID of an earlier server", labelled, registered("old"), [CINDER], ["change"]],
  ["removes a driver that is not installed any more", labelled, registered("s"), ["other"], ["change"]],
  ["creates an empty CSINode while the zone is unknown", node({}), undefined, [CINDER], ["create"]],
  ["keeps the driver when the zone is unknown for a while", node({}), registered("s"), [CINDER], []],
  [
    "does not play drivers that it does not know",
    labelled,
    { ...registered("s"), spec: { drivers: [] } },
    ["other"],
    [],
  ],
])("the plan of a node's CSINode %s", (_, of, csiNode, installed, expected) => {
  const { steps } = plan({ machineId: "s", node: of, csiNode, installed });
  expect(steps.map(({ type }) => type)).toEqual(expected);
});

test("the plan of a node's CSINode names the server and its zone as the driver's node plugin does", () => {
  const { steps } = plan({ machineId: "s", node: zoned, csiNode: undefined, installed: [CINDER] });
  const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }];
  expect(steps).toEqual([
    { type: "label-node", labels: { [TOPOLOGY]: "a" } },
    { type: "create", csiNode: { ...registered("s"), metadata: { name: "n", ownerReferences } } },
  ]);
});

test("the plan of a node's CSINode has no driver while the zone is unknown", () => {
  const { steps } = plan({ machineId: "s", node: node({}), csiNode: undefined, installed: [CINDER] });
  expect(steps).toMatchObject([{ type: "create", csiNode: { spec: { drivers: [] } } }]);
});

test("the plan of a node's CSINode keeps the drivers of others, in any order", () => {
  const other = { name: "other", nodeID: "o", topologyKeys: [] };
  const before = registered("old");
  const csiNode = { ...before, spec: { drivers: [...(before.spec.drivers ?? []), other] } };
  const [own] = registered("s").spec.drivers ?? [];
  const { steps } = plan({ machineId: "s", node: labelled, csiNode, installed: [CINDER] });
  expect(steps).toEqual([{ type: "change", drivers: [other, own] }]);
  const now = { ...csiNode, spec: { drivers: [...(registered("s").spec.drivers ?? []), other] } };
  expect(plan({ machineId: "s", node: labelled, csiNode: now, installed: [CINDER] }).steps).toEqual([]);
});
