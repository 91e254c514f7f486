import type { CSINode, PersistentVolumeClaim } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { claimIndexes, index, isSameRegistration, nameInNamespace, snapshotIndexes } from "./indexes.ts";
import type { VolumeSnapshot } from "./snapshot-objects.ts";

const claim = (spec: object, phase = "Pending") =>
  ({ metadata: { name: "data", namespace: "default" }, spec, status: { phase } }) as PersistentVolumeClaim;
const madeOf = { kind: "VolumeSnapshot", apiGroup: "snapshot.storage.k8s.io", name: "s" };
const snapshot = (spec: object, owner?: object) =>
  ({
    metadata: { name: "s", namespace: "default", ...(owner && { ownerReferences: [owner] }) },
    spec: { source: spec },
  }) as unknown as VolumeSnapshot;

test("the index of claims finds the pending claims that are made of a snapshot under the snapshot's name", () => {
  const of = claimIndexes[index.ofSnapshot];
  const name = nameInNamespace(snapshot({}));
  expect(of?.(claim({ dataSourceRef: madeOf }))).toEqual([name]);
  expect(of?.(claim({ dataSource: madeOf }))).toEqual([name]);
  expect(of?.(claim({ dataSourceRef: madeOf }, "Bound"))).toEqual([]);
  expect(of?.(claim({ dataSource: { ...madeOf, kind: "PersistentVolumeClaim" } }))).toEqual([]);
  expect(of?.(claim({}))).toEqual([]);
});

test("the index of claims finds the claims without a volume, and the snapshots of a claim and of a group", () => {
  expect(claimIndexes[index.unbound]?.(claim({}))).toEqual([""]);
  expect(claimIndexes[index.unbound]?.(claim({ volumeName: "pvc-1" }))).toEqual([]);
  const taken = snapshot({ persistentVolumeClaimName: "data" }, { kind: "VolumeGroupSnapshot", name: "g", uid: "u" });
  expect(snapshotIndexes[index.ofClaim]?.(taken)).toEqual([nameInNamespace(claim({}))]);
  expect(snapshotIndexes[index.ofClaim]?.(snapshot({ volumeSnapshotContentName: "c" }))).toEqual([]);
  expect(snapshotIndexes[index.ofGroup]?.(taken)).toEqual(["u"]);
  expect(snapshotIndexes[index.ofGroup]?.(snapshot({}, { kind: "Job", name: "g", uid: "u" }))).toEqual([]);
});

test("a node's registration is the same unless the driver's own entry changes", () => {
  const node = (...drivers: object[]) => ({ metadata: { name: "n" }, spec: { drivers } }) as unknown as CSINode;
  const [own, other] = [
    { name: "d", nodeID: "1", topologyKeys: ["zone"] },
    { name: "e", nodeID: "1" },
  ];
  expect(isSameRegistration("d", node(own), undefined)).toBe(false);
  expect(isSameRegistration("d", node(own, other), node(own))).toBe(true);
  expect(isSameRegistration("d", node(other), node(own, other))).toBe(false);
  expect(isSameRegistration("d", node({ ...own, topologyKeys: [] }), node(own))).toBe(false);
});
