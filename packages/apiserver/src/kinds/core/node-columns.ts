import { at, record, records, text, type Json } from "../../json/json.ts";
import type { Column } from "../../contract/resource.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

const ROLE_LABEL = "node-role.kubernetes.io/";

/** As `kubectl get no` prints them. */
export const NODE_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Status", cell: nodeStatus },
  { name: "Roles", cell: nodeRoles },
  AGE,
  field("Version", "status.nodeInfo.kubeletVersion"),
  { name: "Internal-IP", priority: 1, cell: (o) => nodeAddress(o, "InternalIP") },
  { name: "External-IP", priority: 1, cell: (o) => nodeAddress(o, "ExternalIP") },
  { name: "OS-Image", priority: 1, cell: (o) => info(o, "osImage") },
  { name: "Kernel-Version", priority: 1, cell: (o) => info(o, "kernelVersion") },
  { name: "Container-Runtime", priority: 1, cell: (o) => info(o, "containerRuntimeVersion") },
];

function nodeStatus(node: Json): string {
  const ready = records(at(node, "status", "conditions")).find((c) => c["type"] === "Ready");
  const state = ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
  return at(node, "spec", "unschedulable") === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles(node: Json): string {
  const labels = record(at(node, "metadata", "labels"));
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_LABEL)) return [key.slice(ROLE_LABEL.length)];
    return key === "kubernetes.io/role" ? [text(value)] : [];
  });
  return [...new Set(roles.filter(Boolean))].sort().join(",") || "<none>";
}

function nodeAddress(node: Json, type: string): string {
  const found = records(at(node, "status", "addresses")).find((a) => a["type"] === type);
  return text(found?.["address"]) || "<none>";
}

function info(node: Json, name: string): string {
  return text(at(node, "status", "nodeInfo", name)) || "<unknown>";
}
