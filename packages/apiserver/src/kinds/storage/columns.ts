import type { Column } from "../../contract/resource.ts";
import { at, records, text, texts } from "../../json/json.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

/** As `kubectl get sc` prints them; the default class has " (default)" after its name. */
export const STORAGE_CLASS_COLUMNS: readonly Column[] = [
  {
    ...NAME,
    cell: (o) => {
      const isDefault = at(o, "metadata", "annotations", DEFAULT_CLASS) === "true";
      return `${text(at(o, "metadata", "name"))}${isDefault ? " (default)" : ""}`;
    },
  },
  field("Provisioner", "provisioner"),
  { name: "ReclaimPolicy", cell: (o) => text(o["reclaimPolicy"]) || "Delete" },
  { name: "VolumeBindingMode", cell: (o) => text(o["volumeBindingMode"]) || "Immediate" },
  { name: "AllowVolumeExpansion", cell: (o) => o["allowVolumeExpansion"] === true },
  AGE,
];

/** What is at a path, or "<unset>". */
export function unless(name: string, path: readonly string[], priority = 0): Column {
  return { name, priority, cell: (o) => at(o, ...path) ?? "<unset>" };
}

function isTrue(name: string, path: string, standard = false): Column {
  return { name, type: "boolean", cell: (o) => at(o, ...path.split(".")) ?? standard };
}

/** As `kubectl get csidrivers` prints them. */
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

/** As `kubectl get csinodes` prints them: how many drivers a node has. */
export const CSI_NODE_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Drivers", type: "integer", cell: (o) => records(at(o, "spec", "drivers")).length },
  AGE,
];

/** As `kubectl get volumeattachments` prints them. */
export const VOLUME_ATTACHMENT_COLUMNS: readonly Column[] = [
  NAME,
  field("Attacher", "spec.attacher", { format: "name" }),
  { name: "PV", cell: (o) => text(at(o, "spec", "source", "persistentVolumeName")) },
  field("Node", "spec.nodeName"),
  isTrue("Attached", "status.attached"),
  AGE,
];

/** As `kubectl get vac` prints them. */
export const VOLUME_ATTRIBUTES_CLASS_COLUMNS: readonly Column[] = [NAME, field("DriverName", "driverName"), AGE];
