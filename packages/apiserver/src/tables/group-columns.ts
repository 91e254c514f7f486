import { array, at, records, scalar, text, type Json } from "../json/json.ts";
import type { Column } from "../contract/resource.ts";
import { selectorText } from "../contract/selectors.ts";
import { duration } from "./age.ts";
import { abridged, field, labelsText } from "./core-columns.ts";
import { AGE, NAME } from "./table.ts";

const CREATED: Column = { name: "Created At", type: "date", cell: (o) => at(o, "metadata", "creationTimestamp") };
const count = (value: unknown): number => (typeof value === "number" ? value : 0);
const number = (name: string, path: string): Column => {
  const steps = path.split(".");
  return { name, type: "integer", cell: (o) => count(at(o, ...steps)) };
};

const TEMPLATE: readonly Column[] = [
  { name: "Containers", priority: 1, cell: (o) => containers(o, "name") },
  { name: "Images", priority: 1, cell: (o) => containers(o, "image") },
  { name: "Selector", priority: 1, cell: (o) => selectorText(at(o, "spec", "selector")) || "<none>" },
];

function containers(workload: Json, name: string): string {
  return named(at(workload, "spec", "template", "spec", "containers"), name);
}

/** One field of each container. */
export function named(list: unknown, name: string): string {
  return records(list)
    .map((c) => text(c[name]))
    .join(",");
}

export const LEASE_COLUMNS: readonly Column[] = [NAME, field("Holder", "spec.holderIdentity"), AGE];
export const CRD_COLUMNS: readonly Column[] = [NAME, CREATED];
export const CLUSTER_ROLE_COLUMNS: readonly Column[] = [NAME, CREATED];

export const BINDING_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Role", cell: (o) => `${text(at(o, "roleRef", "kind"))}/${text(at(o, "roleRef", "name"))}` },
  AGE,
  { name: "Users", priority: 1, cell: (o) => subjects(o, "User") },
  { name: "Groups", priority: 1, cell: (o) => subjects(o, "Group") },
  { name: "ServiceAccounts", priority: 1, cell: (o) => subjects(o, "ServiceAccount") },
];

function subjects(binding: Json, kind: string): string {
  const found = records(binding["subjects"]).filter((s) => s["kind"] === kind);
  return found.map((s) => (kind === "ServiceAccount" ? `${text(s["namespace"])}/` : "") + text(s["name"])).join(", ");
}

export const ENDPOINT_SLICE_COLUMNS: readonly Column[] = [
  NAME,
  field("AddressType", "addressType"),
  {
    name: "Ports",
    cell: (o) =>
      abridged(
        records(o["ports"]).map((p) => scalar(p["port"] ?? p["name"]) || "*"),
        "<unset>",
      ),
  },
  {
    name: "Endpoints",
    cell: (o) => {
      return abridged(
        records(o["endpoints"]).flatMap((e) => array(e["addresses"]).map(String)),
        "<unset>",
      );
    },
  },
  AGE,
];

export const CSR_COLUMNS: readonly Column[] = [
  NAME,
  AGE,
  field("SignerName", "spec.signerName"),
  field("Requestor", "spec.username"),
  {
    name: "RequestedDuration",
    cell: (o) => {
      const seconds = at(o, "spec", "expirationSeconds");
      return typeof seconds === "number" ? duration(seconds * 1000) : "<none>";
    },
  },
  { name: "Condition", cell: csrCondition },
];

function csrCondition(csr: Json): string {
  const types = records(at(csr, "status", "conditions")).map((c) => text(c["type"]));
  const states = [["Denied", "Approved"].find((t) => types.includes(t)) ?? "Pending"];
  if (types.includes("Failed")) states.push("Failed");
  if (at(csr, "status", "certificate")) states.push("Issued");
  return states.join(",");
}

export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Ready", cell: (o) => `${count(at(o, "status", "readyReplicas"))}/${count(at(o, "spec", "replicas"))}` },
  { ...number("Up-to-date", "status.updatedReplicas"), type: "string" },
  { ...number("Available", "status.availableReplicas"), type: "string" },
  AGE,
  ...TEMPLATE,
];

export const REPLICA_SET_COLUMNS: readonly Column[] = [
  NAME,
  number("Desired", "spec.replicas"),
  number("Current", "status.replicas"),
  number("Ready", "status.readyReplicas"),
  AGE,
  ...TEMPLATE,
];

export const STATEFUL_SET_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Ready", cell: (o) => `${count(at(o, "status", "readyReplicas"))}/${count(at(o, "spec", "replicas"))}` },
  AGE,
  ...TEMPLATE.slice(0, 2),
];

export const DAEMON_SET_COLUMNS: readonly Column[] = [
  NAME,
  number("Desired", "status.desiredNumberScheduled"),
  number("Current", "status.currentNumberScheduled"),
  number("Ready", "status.numberReady"),
  number("Up-to-date", "status.updatedNumberScheduled"),
  number("Available", "status.numberAvailable"),
  {
    name: "Node Selector",
    cell: (o) => labelsText(at(o, "spec", "template", "spec", "nodeSelector")),
  },
  AGE,
  ...TEMPLATE,
];

export const REPLICATION_CONTROLLER_COLUMNS: readonly Column[] = [
  ...REPLICA_SET_COLUMNS.slice(0, 7),
  { name: "Selector", priority: 1, cell: (o) => labelsText(at(o, "spec", "selector")) },
];

export const POD_TEMPLATE_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Containers", cell: (o) => named(at(o, "template", "spec", "containers"), "name") },
  { name: "Images", cell: (o) => named(at(o, "template", "spec", "containers"), "image") },
  { name: "Pod Labels", cell: (o) => labelsText(at(o, "template", "metadata", "labels")) },
];

export const CONTROLLER_REVISION_COLUMNS: readonly Column[] = [
  NAME,
  {
    name: "Controller",
    cell: (o) => {
      const owner = records(at(o, "metadata", "ownerReferences")).find((r) => r["controller"] === true);
      if (!owner) return "<none>";
      const group = text(owner["apiVersion"]).split("/").slice(0, -1).join("/");
      return `${[text(owner["kind"]), group].filter(Boolean).join(".").toLowerCase()}/${text(owner["name"])}`;
    },
  },
  { name: "Revision", cell: (o) => count(o["revision"]) },
  AGE,
];

export const PRIORITY_CLASS_COLUMNS: readonly Column[] = [
  NAME,
  number("Value", "value"),
  { name: "Global-Default", type: "boolean", cell: (o) => o["globalDefault"] === true },
  AGE,
  field("PreemptionPolicy", "preemptionPolicy"),
];

const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

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
