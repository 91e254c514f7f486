import type { CustomResourceDefinition } from "@causeway/kubernetes";
import { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from "./snapshot-objects.ts";

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string): Schema => ({ type: "string", description });
const texts = (description: string): Schema => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});
const flag = (description: string): Schema => ({ type: "boolean", description });
const integer = (description: string): Schema => ({ type: "integer", format: "int64", minimum: 0, description });
const instant = (description: string): Schema => ({ type: "string", format: "date-time", description });
const quantity = (description: string): Schema => ({
  "x-kubernetes-int-or-string": true,
  anyOf: [{ type: "integer" }, { type: "string" }],
  description,
});
const record = (description: string, properties: Schema, required: readonly string[] = []): Schema => ({
  type: "object",
  description,
  properties,
  ...(required.length > 0 && { required: [...required] }),
});

const error = record("Why the last attempt failed.", {
  message: text("What failed."),
  time: instant("When it failed."),
});
const deletionPolicy: Schema = {
  type: "string",
  enum: ["Delete", "Retain"],
  description: "Whether the snapshot in the storage system is deleted with its object.",
};
const onlyOne = (fields: readonly string[]): Schema => ({
  oneOf: fields.map((field) => ({ required: [field] })),
});

interface Definition {
  readonly type: { readonly group: string; readonly version: string; readonly kind: string; readonly plural: string };
  readonly scope: "Namespaced" | "Cluster";
  readonly shortNames: readonly string[];
  readonly schema: Schema;
  readonly required: readonly string[];
  readonly hasStatus: boolean;
  readonly columns: readonly (readonly [name: string, type: string, jsonPath: string])[];
}

const snapshot: Definition = {
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
      creationTime: integer("When it was taken, in nanoseconds since 1970."),
      readyToUse: flag("Whether volumes can be made of it."),
      restoreSize: integer("The smallest volume that can be made of it, in bytes."),
      error,
      volumeGroupSnapshotHandle: text("The group snapshot that it is part of."),
    }),
  },
};

const snapshotClass: Definition = {
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

function definitionOf({
  type,
  scope,
  shortNames,
  schema,
  required,
  hasStatus,
  columns,
}: Definition): CustomResourceDefinition {
  const { group, version, kind, plural } = type;
  const own = columns.map(([name, format, jsonPath]) => ({ name, type: format, jsonPath }));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      // Kubernetes accepts CRDs of its own group only with the proof that they were approved; upstream's have this one.
      annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes-csi/external-snapshotter/pull/814" },
    },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [...shortNames] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(hasStatus && { subresources: { status: {} } }),
          schema: { openAPIV3Schema: { type: "object", required: [...required], properties: metaOf(schema) } },
          additionalPrinterColumns: [...own, { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
        },
      ],
    },
  };
}

const metaOf = (schema: Schema): Schema => ({
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: { type: "object" },
  ...schema,
});

/** The CRDs of snapshot.storage.k8s.io/v1, for clusters that do not have them. */
export const snapshotDefinitions: readonly CustomResourceDefinition[] = [snapshot, content, snapshotClass].map(
  definitionOf,
);
