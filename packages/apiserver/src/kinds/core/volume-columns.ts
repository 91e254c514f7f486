import type { Column } from "../../contract/resource.ts";
import { at, text, texts, type Json } from "../../json/json.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";
import { unless } from "../storage/columns.ts";

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

/** As `kubectl get pv` prints them. */
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

/** As `kubectl get pvc` prints them; capacity and access modes once the claim is bound. */
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
