import type { Row } from "./row.ts";
import { pv, pvc } from "./shapes.ts";
import { OPERATOR, QUALIFIED, SUBDOMAIN } from "./words.ts";

/** What is given, and why it is refused. */
export const storage: readonly Row[] = [
  ["volume: no modes", "PersistentVolume", pv({ accessModes: [] }), ["spec.accessModes: Required value"]],
  [
    "volume: mode",
    "PersistentVolume",
    pv({ accessModes: ["X"] }),
    [
      'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ],
  ],
  [
    "volume: exclusive mode with others",
    "PersistentVolume",
    pv({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] }),
    ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
  ],
  [
    "volume: no capacity",
    "PersistentVolume",
    pv({ capacity: {} }),
    ["spec.capacity: Required value", 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
  ],
  [
    "volume: capacity of more",
    "PersistentVolume",
    pv({ capacity: { storage: "1Gi", cpu: "1" } }),
    ['spec.capacity: Unsupported value: {"cpu":"1","storage":"1Gi"}: supported values: "storage"'],
  ],
  [
    "volume: capacity none",
    "PersistentVolume",
    pv({ capacity: { storage: "0" } }),
    ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
  ],
  [
    "volume: reclaim",
    "PersistentVolume",
    pv({ persistentVolumeReclaimPolicy: "X" }),
    ['spec.persistentVolumeReclaimPolicy: Unsupported value: "X": supported values: "Delete", "Recycle", "Retain"'],
  ],
  [
    "volume: recycle of root",
    "PersistentVolume",
    pv({ persistentVolumeReclaimPolicy: "Recycle", hostPath: { path: "/" } }),
    ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  ],
  [
    "volume: no source",
    "PersistentVolume",
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] } },
    ["spec: Required value: must specify a volume type"],
  ],
  [
    "volume: two sources",
    "PersistentVolume",
    pv({ nfs: { server: "a", path: "/b" } }),
    ["spec.nfs: Forbidden: may not specify more than 1 volume type"],
  ],
  [
    "volume: csi",
    "PersistentVolume",
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], csi: { driver: "", volumeHandle: "" } } },
    [
      "spec.csi.driver: Required value",
      `spec.csi.driver: Invalid value: "": ${SUBDOMAIN}`,
      "spec.csi.volumeHandle: Required value",
    ],
  ],
  [
    "volume: local",
    "PersistentVolume",
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], local: { path: "/x" } } },
    ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
  ],
  [
    "volume: affinity",
    "PersistentVolume",
    pv({ nodeAffinity: { required: { nodeSelectorTerms: [] } } }),
    ["spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"],
  ],
  [
    "volume: affinity none",
    "PersistentVolume",
    pv({ nodeAffinity: {} }),
    ["spec.nodeAffinity.required: Required value: must specify required node constraints"],
  ],
  [
    "volume: class",
    "PersistentVolume",
    pv({ storageClassName: "A_" }),
    [`spec.storageClassName: Invalid value: "A_": ${SUBDOMAIN}`],
  ],
  [
    "volume: volume mode",
    "PersistentVolume",
    pv({ volumeMode: "X" }),
    ['spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"'],
  ],
  [
    "claim: exclusive mode with others",
    "PersistentVolumeClaim",
    pvc({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] }),
    ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
  ],
  [
    "claim: class",
    "PersistentVolumeClaim",
    pvc({ storageClassName: "A_" }),
    [`spec.storageClassName: Invalid value: "A_": ${SUBDOMAIN}`],
  ],
  [
    "claim: selector",
    "PersistentVolumeClaim",
    pvc({ selector: { matchExpressions: [{ key: "a", operator: "X" }] } }),
    [`spec.selector.matchExpressions[0].operator: Invalid value: "X": ${OPERATOR}`],
  ],
  [
    "claim: volume mode",
    "PersistentVolumeClaim",
    pvc({ volumeMode: "X" }),
    ['spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"'],
  ],
  [
    "claim: attributes class",
    "PersistentVolumeClaim",
    pvc({ volumeAttributesClassName: "A_" }),
    [`spec.volumeAttributesClassName: Invalid value: "A_": ${SUBDOMAIN}`],
  ],
  [
    "storage class: provisioner",
    "StorageClass",
    { provisioner: "a b" },
    [`provisioner: Invalid value: "a b": ${QUALIFIED}`],
  ],
  [
    "storage class: parameters",
    "StorageClass",
    { provisioner: "a", parameters: { "": "x" } },
    ['parameters: Invalid value: "": field can not be empty.'],
  ],
  [
    "storage class: topologies",
    "StorageClass",
    { provisioner: "a", allowedTopologies: [{ matchLabelExpressions: [{ key: "a b", values: [] }] }] },
    [
      "allowedTopologies[0].matchLabelExpressions[0].values: Required value",
      `allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "a b": ${QUALIFIED}`,
    ],
  ],
  [
    "storage class: mount options",
    "StorageClass",
    { provisioner: "a", volumeBindingMode: "" },
    ['volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  [
    "attachment: nothing",
    "VolumeAttachment",
    { spec: {} },
    [
      "spec.attacher: Required value",
      "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
      `spec.nodeName: Invalid value: "": ${SUBDOMAIN}`,
      "spec.attacher: Required value",
      `spec.attacher: Invalid value: "": ${SUBDOMAIN}`,
    ],
  ],
  [
    "attachment: attacher",
    "VolumeAttachment",
    { spec: { attacher: "a b", nodeName: "n", source: { persistentVolumeName: "p" } } },
    [`spec.attacher: Invalid value: "a b": ${SUBDOMAIN}`],
  ],
  [
    "attachment: node",
    "VolumeAttachment",
    { spec: { attacher: "a", nodeName: "A_", source: { persistentVolumeName: "p" } } },
    [`spec.nodeName: Invalid value: "A_": ${SUBDOMAIN}`],
  ],
  [
    "attachment: no source",
    "VolumeAttachment",
    { spec: { attacher: "a", nodeName: "n", source: {} } },
    ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  ],
  [
    "csi driver: name",
    "CSIDriver",
    { metadata: { name: "a_b" }, spec: {} },
    [`metadata.name: Invalid value: "a_b": ${SUBDOMAIN}`],
  ],
  [
    "csi driver: modes",
    "CSIDriver",
    { spec: { volumeLifecycleModes: ["X"] } },
    ['spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", "Ephemeral"'],
  ],
  [
    "csi driver: tokens",
    "CSIDriver",
    { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 3 }, { audience: "a" }] } },
    [
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 3: may not specify a duration less than 10 minutes",
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
    ],
  ],
  [
    "csi driver: tokens seconds",
    "CSIDriver",
    { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 3 }] } },
    ["spec.tokenRequests[0].expirationSeconds: Invalid value: 3: may not specify a duration less than 10 minutes"],
  ],
];
