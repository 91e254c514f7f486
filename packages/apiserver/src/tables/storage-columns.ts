import { at, record, records, text, texts, type Json } from "../json/json.ts";
import type { Column } from "../contract/resource.ts";
import { field } from "./core-columns.ts";
import { AGE, NAME } from "./table.ts";

const CLASS = "volume.beta.kubernetes.io/storage-class";
const MODES: readonly (readonly [string, string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function accessModes(modes: unknown): string {
  const found = texts(modes);
  return MODES.flatMap(([mode, short]) => (found.includes(mode) ? [short] : [])).join(",");
}

function storageClass(object: Json): string {
  return text(at(object, "metadata", "annotations", CLASS)) || text(at(object, "spec", "storageClassName"));
}

function phase(object: Json): string {
  return at(object, "metadata", "deletionTimestamp") === undefined
    ? text(at(object, "status", "phase"))
    : "Terminating";
}

/** What stands at a path, or "<unset>". */
function unless(name: string, path: readonly string[], priority = 0): Column {
  return { name, priority, cell: (o) => at(o, ...path) ?? "<unset>" };
}

function isTrue(name: string, path: string, standard = false): Column {
  return { name, type: "boolean", cell: (o) => at(o, ...path.split(".")) ?? standard };
}

export const PERSISTENT_VOLUME_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Capacity", cell: (o) => at(o, "spec", "capacity", "storage") ?? "0" },
  { name: "Access Modes", cell: (o) => accessModes(at(o, "spec", "accessModes")) },
  field("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
  { name: "Status", cell: phase },
  {
    name: "Claim",
    cell: (o) => {
      const claim = at(o, "spec", "claimRef");
      return claim === undefined ? "" : `${text(at(claim, "namespace"))}/${text(at(claim, "name"))}`;
    },
  },
  { name: "StorageClass", cell: storageClass },
  unless("VolumeAttributesClass", ["spec", "volumeAttributesClassName"]),
  field("Reason", "status.reason"),
  AGE,
  unless("VolumeMode", ["spec", "volumeMode"], 1),
];

function isBound(claim: Json): boolean {
  return text(at(claim, "spec", "volumeName")) !== "";
}

export const PERSISTENT_VOLUME_CLAIM_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Status", cell: phase },
  field("Volume", "spec.volumeName"),
  { name: "Capacity", cell: (o) => (isBound(o) ? (at(o, "status", "capacity", "storage") ?? "0") : "") },
  { name: "Access Modes", cell: (o) => (isBound(o) ? accessModes(at(o, "status", "accessModes")) : "") },
  { name: "StorageClass", cell: storageClass },
  unless("VolumeAttributesClass", ["spec", "volumeAttributesClassName"]),
  AGE,
  unless("VolumeMode", ["spec", "volumeMode"], 1),
];

export const CSI_DRIVER_COLUMNS: readonly Column[] = [
  NAME,
  isTrue("AttachRequired", "spec.attachRequired", true),
  isTrue("PodInfoOnMount", "spec.podInfoOnMount"),
  isTrue("StorageCapacity", "spec.storageCapacity"),
  {
    name: "TokenRequests",
    cell: (o) => {
      const requests = at(o, "spec", "tokenRequests");
      if (requests === undefined) return "<unset>";
      return records(requests)
        .map((r) => text(r["audience"]))
        .join(",");
    },
  },
  isTrue("RequiresRepublish", "spec.requiresRepublish"),
  { name: "Modes", cell: (o) => texts(at(o, "spec", "volumeLifecycleModes")).join(",") || "<none>" },
  AGE,
];

export const CSI_NODE_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Drivers", type: "integer", cell: (o) => records(at(o, "spec", "drivers")).length },
  AGE,
];

export const VOLUME_ATTACHMENT_COLUMNS: readonly Column[] = [
  NAME,
  field("Attacher", "spec.attacher", { format: "name" }),
  { name: "PV", cell: (o) => text(at(o, "spec", "source", "persistentVolumeName")) },
  field("Node", "spec.nodeName"),
  isTrue("Attached", "status.attached"),
  AGE,
];

export const VOLUME_ATTRIBUTES_CLASS_COLUMNS: readonly Column[] = [NAME, field("DriverName", "driverName"), AGE];

/** "pods: 1/10, services: 0/5" of what stands in the quota's status. */
function usage(quota: Json, isLimit: boolean): string {
  const { hard, used } = record(quota["status"]);
  const names = Object.keys(record(hard)).sort();
  return names
    .filter((name) => name.startsWith("limits.") === isLimit)
    .map((name) => `${name}: ${text(record(used)[name]) || "0"}/${text(record(hard)[name])}`)
    .join(", ");
}

export const RESOURCE_QUOTA_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Request", cell: (o) => usage(o, false) },
  { name: "Limit", cell: (o) => usage(o, true) },
  AGE,
];
