import type { PersistentVolume, StorageClass } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { translateStorageClass, translateVolume } from "./in-tree.ts";

const storageClass = (fields: Partial<StorageClass>): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "old" },
  provisioner: "kubernetes.io/cinder",
  ...fields,
});
const allowed = (key: string, zone: string) => [{ matchLabelExpressions: [{ key, values: [zone] }] }];
const zone = "topology.cinder.csi.openstack.org/zone";

test.each([
  [
    "fsType",
    { parameters: { fsType: "xfs", type: "ssd" } },
    { parameters: { "csi.storage.k8s.io/fstype": "xfs", type: "ssd" } },
  ],
  [
    "availability",
    { parameters: { availability: "az1" } },
    { parameters: {}, allowedTopologies: allowed(zone, "az1") },
  ],
  [
    "allowed zones",
    { allowedTopologies: allowed("failure-domain.beta.kubernetes.io/zone", "az2") },
    { parameters: {}, allowedTopologies: allowed(zone, "az2") },
  ],
])("the translation of in-tree objects translates %s of a StorageClass of the in-tree driver", (_, given, expected) => {
  expect(translateStorageClass(storageClass(given))).toEqual(
    storageClass({ ...expected, provisioner: "cinder.csi.openstack.org" }),
  );
});

test("the translation of in-tree objects leaves the StorageClass of another driver as it is", () => {
  const other = storageClass({ provisioner: "example.com", parameters: { fsType: "xfs" } });
  expect(translateStorageClass(other)).toBe(other);
});

test("the translation of in-tree objects translates a volume of the in-tree driver, its zone included", () => {
  const terms = (key: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: ["az1"] }] }] },
  });
  const volume: PersistentVolume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "v" },
    spec: { cinder: { volumeID: "id", fsType: "ext4" }, nodeAffinity: terms("topology.kubernetes.io/zone") },
  };
  expect(translateVolume(volume)?.spec).toEqual({
    csi: { driver: "cinder.csi.openstack.org", volumeHandle: "id", fsType: "ext4" },
    nodeAffinity: terms(zone),
  });
  expect(translateVolume({ ...volume, spec: {} })).toBeUndefined();
});
