import type { CustomResourceDefinition } from "@causeway/kubernetes";
import {
  definitionOf,
  deletionPolicy,
  error,
  flag,
  instant,
  integer,
  onlyOne,
  record,
  text,
  texts,
  type Definition,
  type Schema,
} from "./definition.ts";
import { VolumeGroupSnapshot, VolumeGroupSnapshotClass, VolumeGroupSnapshotContent } from "./group-snapshot-objects.ts";

const approved = "https://github.com/kubernetes-csi/external-snapshotter/pull/1337";
const alsoServed = ["v1", "v1beta1"];

const list = (description: string, items: Schema): Schema => ({ type: "array", description, items });
const selector: Schema = record("Which claims of the namespace are copied, by their labels; immutable.", {
  matchLabels: texts("Labels that each claim has."),
  matchExpressions: list(
    "Requirements that each claim meets.",
    record(
      "One requirement.",
      {
        key: text("The label."),
        operator: text("In, NotIn, Exists or DoesNotExist."),
        values: list("Of In and NotIn.", { type: "string" }),
      },
      ["key", "operator"],
    ),
  ),
});

const group: Definition = {
  type: VolumeGroupSnapshot,
  approved,
  alsoServed,
  scope: "Namespaced",
  shortNames: ["vgs"],
  required: ["spec"],
  hasStatus: true,
  columns: [
    ["ReadyToUse", "boolean", ".status.readyToUse"],
    ["VolumeGroupSnapshotClass", "string", ".spec.volumeGroupSnapshotClassName"],
    ["VolumeGroupSnapshotContent", "string", ".status.boundVolumeGroupSnapshotContentName"],
    ["CreationTime", "date", ".status.creationTime"],
  ],
  schema: {
    spec: record(
      "The requested group snapshot.",
      {
        source: {
          ...record("Where the snapshots come from; immutable.", {
            selector,
            volumeGroupSnapshotContentName: text("A content that exists already."),
          }),
          ...onlyOne(["selector", "volumeGroupSnapshotContentName"]),
        },
        volumeGroupSnapshotClassName: text("The VolumeGroupSnapshotClass; without it the driver's default one."),
      },
      ["source"],
    ),
    status: record("What is known of the group snapshot.", {
      boundVolumeGroupSnapshotContentName: text("The content that it is bound to."),
      creationTime: instant("When the storage system took it."),
      readyToUse: flag("Whether volumes can be made of all its snapshots."),
      error,
    }),
  },
};

const content: Definition = {
  type: VolumeGroupSnapshotContent,
  approved,
  alsoServed,
  scope: "Cluster",
  shortNames: ["vgsc", "vgscs"],
  required: ["spec"],
  hasStatus: true,
  columns: [
    ["ReadyToUse", "boolean", ".status.readyToUse"],
    ["DeletionPolicy", "string", ".spec.deletionPolicy"],
    ["Driver", "string", ".spec.driver"],
    ["VolumeGroupSnapshotClass", "string", ".spec.volumeGroupSnapshotClassName"],
    ["VolumeGroupSnapshotNamespace", "string", ".spec.volumeGroupSnapshotRef.namespace"],
    ["VolumeGroupSnapshot", "string", ".spec.volumeGroupSnapshotRef.name"],
  ],
  schema: {
    spec: record(
      "One group snapshot in the storage system.",
      {
        deletionPolicy,
        driver: text("The CSI driver."),
        source: {
          ...record("Where the snapshots come from; immutable.", {
            volumeHandles: list("The volumes that are copied.", { type: "string" }),
            groupSnapshotHandles: record(
              "A group snapshot that exists already.",
              {
                volumeGroupSnapshotHandle: text("Its ID in the storage system."),
                volumeSnapshotHandles: list("The IDs of its snapshots.", { type: "string" }),
              },
              ["volumeGroupSnapshotHandle", "volumeSnapshotHandles"],
            ),
          }),
          ...onlyOne(["volumeHandles", "groupSnapshotHandles"]),
        },
        volumeGroupSnapshotClassName: text("The class that it was requested with."),
        volumeGroupSnapshotRef: record("The VolumeGroupSnapshot that it is bound to.", {
          apiVersion: text("Of the VolumeGroupSnapshot."),
          kind: text("VolumeGroupSnapshot."),
          namespace: text("Of the VolumeGroupSnapshot."),
          name: text("Of the VolumeGroupSnapshot."),
          uid: text("Of the VolumeGroupSnapshot."),
          resourceVersion: text("Of the VolumeGroupSnapshot."),
          fieldPath: text("Unused."),
        }),
      },
      ["deletionPolicy", "driver", "source", "volumeGroupSnapshotRef"],
    ),
    status: record("What is known of the group snapshot.", {
      volumeGroupSnapshotHandle: text("Its ID in the storage system."),
      creationTime: instant("When it was created."),
      readyToUse: flag("Whether volumes can be made of all its snapshots."),
      volumeSnapshotInfoList: list(
        "Its snapshots.",
        record("One snapshot.", {
          volumeHandle: text("The volume that was copied."),
          snapshotHandle: text("The snapshot's ID in the storage system."),
          creationTime: integer("When it was created, in nanoseconds since 1970."),
          readyToUse: flag("Whether volumes can be made of it."),
          restoreSize: integer("The smallest volume that can be made of it, in bytes."),
        }),
      ),
      error,
    }),
  },
};

const groupClass: Definition = {
  type: VolumeGroupSnapshotClass,
  approved,
  alsoServed,
  scope: "Cluster",
  shortNames: ["vgsclass", "vgsclasses"],
  required: ["deletionPolicy", "driver"],
  hasStatus: false,
  columns: [
    ["Driver", "string", ".driver"],
    ["DeletionPolicy", "string", ".deletionPolicy"],
  ],
  schema: { deletionPolicy, driver: text("The CSI driver."), parameters: texts("What the driver is given.") },
};

/** The CRDs of groupsnapshot.storage.k8s.io, for clusters that do not have them. */
export const groupSnapshotDefinitions: readonly CustomResourceDefinition[] = [group, content, groupClass].map(
  definitionOf,
);
