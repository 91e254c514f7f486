import { at, record, records, text, type Json } from "../json.ts";
import type { Column } from "../kinds/resource.ts";
import { field } from "./core-columns.ts";
import { AGE, NAME } from "./table.ts";

const ROLE_LABEL = "node-role.kubernetes.io/";

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

export const POD_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Ready", cell: podReady },
  { name: "Status", cell: podStatus },
  { name: "Restarts", cell: (o) => String(restarts(o)) },
  AGE,
  { name: "IP", priority: 1, cell: (o) => text(at(o, "status", "podIP")) || "<none>" },
  { name: "Node", priority: 1, cell: (o) => text(at(o, "spec", "nodeName")) || "<none>" },
  { name: "Nominated Node", priority: 1, cell: (o) => text(at(o, "status", "nominatedNodeName")) || "<none>" },
  {
    name: "Readiness Gates",
    priority: 1,
    cell: (o) => {
      const gates = records(at(o, "spec", "readinessGates"));
      if (gates.length === 0) return "<none>";
      const conditions = records(at(o, "status", "conditions"));
      const met = gates.filter((g) =>
        conditions.some((c) => c["type"] === g["conditionType"] && c["status"] === "True"),
      );
      return `${met.length}/${gates.length}`;
    },
  },
];

function podReady(pod: Json): string {
  const ready = records(at(pod, "status", "containerStatuses")).filter((s) => s["ready"] === true).length;
  return `${ready}/${records(at(pod, "spec", "containers")).length}`;
}

function restarts(pod: Json): number {
  return records(at(pod, "status", "containerStatuses")).reduce((n, s) => n + Number(s["restartCount"] ?? 0), 0);
}

function podStatus(pod: Json): string {
  if (at(pod, "metadata", "deletionTimestamp")) return "Terminating";
  const waiting = records(at(pod, "status", "containerStatuses"))
    .map((s) => at(s, "state", "waiting", "reason") ?? at(s, "state", "terminated", "reason"))
    .find((reason) => text(reason) !== "");
  return text(waiting) || text(at(pod, "status", "reason")) || text(at(pod, "status", "phase"));
}
