import type { CustomResourceDefinition } from "@causeway/kubernetes";
import {
  definitionOf,
  deletionPolicy,
  error,
  flag,
  instant,
  integer,
  onlyOne,
  quantity,
  record,
  text,
  texts,
  type Definition,
} from "./definition.ts";
import { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from "./snapshot-objects.ts";

const approved = "https://github.com/kubernetes-csi/external-snapshotter/pull/814";

const snapshot: Definition = {
  approved,
  type: VolumeSnapshot,
  scope: "Namespaced",
  shortNames: ["vs"],
  required: ["spec"],
  hasStatus: true,
  columns: [
    ["ReadyToUse", "boolean", ".status.readyToUse"],
    ["SourcePVC", "string", ".spec.source.persistentVolumeClaimName"],
    ["RestoreSize", "string", ".status.restoreSize"],
    ["SnapshotClass", "string", ".spec.volumeSnapshotClassName"],
    ["SnapshotContent", "string", ".status.boundVolumeSnapshotContentName"],
    ["CreationTime", "date", ".status.creationTime"],
  ],
  schema: {
    spec: record(
      "The requested snapshot.",
      {
        source: {
          ...record("Where the snapshot comes from; immutable.", {
            persistentVolumeClaimName: text("The claim whose volume is copied."),
            volumeSnapshotContentName: text("A content that exists already."),
          }),
          ...onlyOne(["persistentVolumeClaimName", "volumeSnapshotContentName"]),
        },
        volumeSnapshotClassName: text("The VolumeSnapshotClass; without it the driver's default one."),
      },
      ["source"],
    ),
    status: record("What is known of the snapshot.", {
      boundVolumeSnapshotContentName: text("The content that it is bound to."),
      creationTime: instant("When the storage system took it."),
      readyToUse: flag("Whether volumes can be made of it."),
      restoreSize: quantity("The smallest volume that can be made of it."),
      error,
      volumeGroupSnapshotName: text("The group snapshot that it is part of."),
    }),
  },
};

const content: Definition = {
  approved,
  type: VolumeSnapshotContent,
  scope: "Cluster",
  shortNames: ["vsc", "vscs"],
  required: ["spec"],
  hasStatus: true,
  columns: [
    ["ReadyToUse", "boolean", ".status.readyToUse"],
    ["RestoreSize", "integer", ".status.restoreSize"],
    ["DeletionPolicy", "string", ".spec.deletionPolicy"],
    ["Driver", "string", ".spec.driver"],
    ["VolumeSnapshotClass", "string", ".spec.volumeSnapshotClassName"],
    ["VolumeSnapshot", "string", ".spec.volumeSnapshotRef.name"],
  ],
  schema: {
    spec: record(
      "One snapshot in the storage system.",
      {
        deletionPolicy,
        driver: text("The CSI driver."),
        source: {
          ...record("Where the snapshot comes from; immutable.", {
            volumeHandle: text("The volume that is copied."),
            snapshotHandle: text("A snapshot that exists already."),
          }),
          ...onlyOne(["volumeHandle", "snapshotHandle"]),
        },
        sourceVolumeMode: text("Filesystem or Block, as the volume had it."),
        volumeSnapshotClassName: text("The class that it was requested with."),
        volumeSnapshotRef: record("The VolumeSnapshot that it is bound to.", {
          apiVersion: text("Of the VolumeSnapshot."),
          kind: text("VolumeSnapshot."),
          namespace: text("Of the VolumeSnapshot."),
          name: text("Of the VolumeSnapshot."),
          uid: text("Of the VolumeSnapshot."),
          resourceVersion: text("Of the VolumeSnapshot."),
          fieldPath: text("Unused."),
        }),
      },
      ["deletionPolicy", "driver", "source", "volumeSnapshotRef"],
    ),
    status: record("What is known of the snapshot.", {
      snapshotHandle: text("Its ID in the storage system."),
      creationTime: integer("When it was created, in nanoseconds since 1970."),
      readyToUse: flag("Whether volumes can be made of it."),
      restoreSize: integer("The smallest volume that can be made of it, in bytes."),
      error,
      volumeGroupSnapshotHandle: text("The group snapshot that it is part of."),
    }),
  },
};

const snapshotClass: Definition = {
  approved,
  type: VolumeSnapshotClass,
  scope: "Cluster",
  shortNames: ["vsclass", "vsclasses"],
  required: ["deletionPolicy", "driver"],
  hasStatus: false,
  columns: [
    ["Driver", "string", ".driver"],
    ["DeletionPolicy", "string", ".deletionPolicy"],
  ],
  schema: { deletionPolicy, driver: text("The CSI driver."), parameters: texts("What the driver is given.") },
};

/** The CRDs of snapshot.storage.k8s.io/v1, for clusters that do not have them. */
export const snapshotDefinitions: readonly CustomResourceDefinition[] = [snapshot, content, snapshotClass].map(
  definitionOf,
);
