import { protectedBy } from "../../admission/builtin/protection.ts";
import { define, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { record } from "../../json/json.ts";
import { withImmutableFields, stored } from "../shared/immutable-fields.ts";
import { checked, ruled } from "../shared/rules.ts";
import {
  CSI_DRIVER_COLUMNS,
  CSI_NODE_COLUMNS,
  STORAGE_CLASS_COLUMNS,
  VOLUME_ATTACHMENT_COLUMNS,
  VOLUME_ATTRIBUTES_CLASS_COLUMNS,
} from "./columns.ts";
import { ATTRIBUTES_RULES, CAPACITY_RULES, CSI_DRIVER_RULES, CSI_NODE_RULES, STORAGE_CLASS_RULES } from "./rules.ts";
import { attachmentProblems, driverSpecProblems, storageClassProblems } from "./volume-rules.ts";

/** Kinds of group storage.k8s.io. */
export function storageKinds(): Resource[] {
  const all = { group: "storage.k8s.io", clusterScoped: true };
  return [
    define({
      group: "storage.k8s.io",
      kind: "StorageClass",
      plural: "storageclasses",
      shortNames: ["sc"],
      clusterScoped: true,
      columns: STORAGE_CLASS_COLUMNS,
      strategy: withImmutableFields(checked(STORAGE_CLASS_RULES, storageClassProblems)),
    }),
    stored({
      ...all,
      kind: "CSIDriver",
      plural: "csidrivers",
      columns: CSI_DRIVER_COLUMNS,
      strategy: checked(CSI_DRIVER_RULES, ({ spec }) => driverSpecProblems(record(spec))),
    }),
    stored({ ...all, kind: "CSINode", plural: "csinodes", columns: CSI_NODE_COLUMNS, strategy: ruled(CSI_NODE_RULES) }),
    stored({
      ...all,
      kind: "CSIStorageCapacity",
      plural: "csistoragecapacities",
      clusterScoped: false,
      strategy: ruled(CAPACITY_RULES),
    }),
    stored({
      ...all,
      kind: "VolumeAttachment",
      plural: "volumeattachments",
      subresources: [STATUS],
      columns: VOLUME_ATTACHMENT_COLUMNS,
      strategy: checked([], ({ spec }) => attachmentProblems(record(spec))),
    }),
    stored({
      ...all,
      kind: "VolumeAttributesClass",
      plural: "volumeattributesclasses",
      shortNames: ["vac"],
      columns: VOLUME_ATTRIBUTES_CLASS_COLUMNS,
      strategy: { mutate: protectedBy("kubernetes.io/vac-protection"), ...ruled(ATTRIBUTES_RULES) },
    }),
  ];
}
