import type { CsiClient } from "@causeway/csi";
import type { PersistentVolumeClaim, StorageClass } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { capabilityOf } from "../capability.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

const NAME = "cinder.csi.openstack.org";
const claim = (spec: object = {}, annotations: object = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    name: "data",
    namespace: "n",
    uid: "u",
    resourceVersion: "7",
    annotations: { "volume.kubernetes.io/storage-provisioner": NAME, ...annotations },
  },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  status: { phase: "Pending" },
});
const storageClass = (fields: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast" },
  provisioner: NAME,
  ...fields,
});
const observed = (more: Partial<Observed> = {}): Observed => ({
  driver: { name: NAME, controller: {} as CsiClient["controller"] },
  claim: claim(),
  storageClass: storageClass(),
  volume: undefined,
  source: { type: "empty" },
  attributes: { type: "none" },
  topology: { type: "none" },
  pending: undefined,
  ...more,
});
function provisioned(more: Partial<Observed> = {}) {
  const [step] = plan(observed(more), 0).steps;
  if (step?.type !== "provision") throw new Error(`no volume is made but ${step?.type}`);
  return step;
}

describe("the request for a claim's volume", () => {
  const own = {
    [`csi.storage.k8s.io/pvc/name`]: "data",
    [`csi.storage.k8s.io/pvc/namespace`]: "n",
    [`csi.storage.k8s.io/pv/name`]: "pvc-u",
  };
  const facts = { accessModes: ["ReadWriteOnce"], volumeMode: undefined, fsType: "ext4", mountOptions: [] as string[] };
  const plain = {
    name: "pvc-u",
    capacityRange: { requiredBytes: 2n ** 30n, limitBytes: 0n },
    volumeCapabilities: [capabilityOf({ ...facts, singleNodeMultiWriter: false })],
    parameters: own,
    secrets: {},
  };

  test("has what every claim has, and no more", () => expect(provisioned().request).toStrictEqual(plain));

  const parameters = {
    type: "ssd",
    "csi.storage.k8s.io/fstype": "xfs",
    "csi.storage.k8s.io/provisioner-secret-name": "s",
  };
  const topologies = {
    requisite: [{ segments: { zone: "a" } }, { segments: { zone: "b" } }],
    preferred: [{ segments: { zone: "b" } }],
  };
  test.each<[string, Partial<Observed>, object]>([
    [
      "a limit of its size",
      { claim: claim({ resources: { requests: { storage: "1Gi" }, limits: { storage: "2Gi" } } }) },
      { capacityRange: { requiredBytes: 2n ** 30n, limitBytes: 2n ** 31n } },
    ],
    [
      "the class's own parameters, without those of the sidecars",
      { storageClass: storageClass({ parameters }) },
      { parameters: { ...own, type: "ssd" } },
    ],
    [
      "the file system and the mount options of the class",
      { storageClass: storageClass({ parameters, mountOptions: ["noatime"] }) },
      {
        volumeCapabilities: [
          capabilityOf({ ...facts, fsType: "xfs", mountOptions: ["noatime"], singleNodeMultiWriter: false }),
        ],
      },
    ],
    [
      "the access mode of a driver that knows writers of one node",
      { driver: { ...observed().driver, singleNodeMultiWriter: true } },
      { volumeCapabilities: [capabilityOf({ ...facts, singleNodeMultiWriter: true })] },
    ],
    [
      "the driver's secrets",
      { driver: { ...observed().driver, secrets: { token: "x" } } },
      { secrets: { token: "x" } },
    ],
    [
      "the attributes of its class",
      { attributes: { type: "known", name: "gold", parameters: { iops: "1" } } },
      { mutableParameters: { iops: "1" } },
    ],
    ["its topology", { topology: { type: "known", topologies } as never }, { accessibilityRequirements: topologies }],
    [
      "the snapshot that it is made of",
      { source: { type: "snapshot", snapshotId: "s" } },
      { volumeContentSource: { type: { case: "snapshot", value: { snapshotId: "s" } } } },
    ],
    [
      "the volume that it is made of",
      { source: { type: "volume", volumeId: "v" } },
      { volumeContentSource: { type: { case: "volume", value: { volumeId: "v" } } } },
    ],
  ])("has %s", (_title, more, expected) => {
    const { parameters: _, volumeCapabilities: __, ...rest } = plain;
    expect(provisioned(more).request).toMatchObject({ ...rest, ...expected });
  });
});

describe("the PersistentVolume of a claim", () => {
  const template = {
    metadata: { name: "pvc-u", annotations: { "pv.kubernetes.io/provisioned-by": NAME } },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      storageClassName: "fast",
      persistentVolumeReclaimPolicy: "Delete",
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: "n",
        name: "data",
        uid: "u",
        resourceVersion: "7",
      },
    },
    fsType: "ext4",
  };
  const retained = storageClass({
    reclaimPolicy: "Retain",
    mountOptions: ["noatime"],
    parameters: { "csi.storage.k8s.io/fstype": "xfs" },
  });
  test.each<[string, Partial<Observed>, object, object]>([
    ["is of the claim", {}, {}, {}],
    [
      "is as the class says",
      { storageClass: retained },
      { persistentVolumeReclaimPolicy: "Retain", mountOptions: ["noatime"] },
      { fsType: "xfs" },
    ],
    [
      "of a block device has no file system",
      { claim: claim({ volumeMode: "Block" }), storageClass: retained },
      { volumeMode: "Block", persistentVolumeReclaimPolicy: "Retain", mountOptions: ["noatime"] },
      { fsType: undefined },
    ],
    [
      "names its attributes' class",
      { claim: claim({ volumeAttributesClassName: "gold" }) },
      { volumeAttributesClassName: "gold" },
      {},
    ],
  ])("%s", (_title, more, spec, rest) => {
    expect(provisioned(more).template).toStrictEqual({ ...template, spec: { ...template.spec, ...spec }, ...rest });
  });
});

describe("a claim whose volume cannot be made yet", () => {
  test.each<[string, Partial<Observed>]>([
    ["claims with a selector are not provisioned", { claim: claim({ selector: {} }) }],
    ["the claim requests no size", { claim: claim({ resources: {} }) }],
    ["why the source", { source: { type: "waiting", why: "why the source" } }],
    ["why the attributes", { attributes: { type: "waiting", why: "why the attributes" } }],
    ["why the topology", { topology: { type: "waiting", why: "why the topology" } }],
    ["StorageClass gone is not there", { claim: claim({ storageClassName: "gone" }), storageClass: undefined }],
  ])("says: %s", (why, more) => {
    expect(plan(observed(more), 1_000)).toEqual({
      steps: [],
      status: undefined,
      wait: { for: why, until: 16_000 },
      events: [{ type: "Warning", reason: "ProvisioningFailed", message: `failed to provision volume: ${why}` }],
    });
  });

  test("says when it is being made", () => {
    const message = 'External provisioner is provisioning volume for claim "n/data"';
    expect(plan(observed(), 0).events).toEqual([{ type: "Normal", reason: "Provisioning", message }]);
  });

  test("is requested by the annotation of an older release, too", () => {
    const of = claim();
    const annotations = { "volume.beta.kubernetes.io/storage-provisioner": NAME };
    expect(provisioned({ claim: { ...of, metadata: { ...of.metadata, annotations } } }).name).toBe("pvc-u");
  });
});
