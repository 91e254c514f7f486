import type { Column } from "../../contract/resource.ts";
import { array, at, record, records, scalar, text, type Json } from "../../json/json.ts";
import { abridged, field, labelsText, named } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";
import { REPLICA_SET_COLUMNS } from "../apps/columns.ts";

function size(value: unknown): number {
  return Object.keys(record(value)).length;
}

/** As `kubectl get ns` prints them. */
export const NAMESPACE_COLUMNS: readonly Column[] = [NAME, field("Status", "status.phase"), AGE];

/** As `kubectl get secrets` prints them: how many keys, never a value. */
export const SECRET_COLUMNS: readonly Column[] = [
  NAME,
  field("Type", "type"),
  { name: "Data", cell: (o) => size(o["data"]) },
  AGE,
];

/** As `kubectl get cm` prints them; keys of binary data count too. */
export const CONFIG_MAP_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Data", cell: (o) => size(o["data"]) + size(o["binaryData"]) },
  AGE,
];

const healthy = (o: Json): Json => records(o["conditions"]).find((c) => c["type"] === "Healthy") ?? {};

const HEALTH: Readonly<Record<string, string>> = { True: "Healthy", False: "Unhealthy" };

/** As `kubectl get cs` prints them. */
export const COMPONENT_STATUS_COLUMNS: readonly Column[] = [
  NAME,
  {
    name: "Status",
    description: "Status of the component conditions",
    cell: (o) => HEALTH[text(healthy(o)["status"])] ?? "Unknown",
  },
  { name: "Message", description: "Message of the component conditions", cell: (o) => text(healthy(o)["message"]) },
  { name: "Error", description: "Error of the component conditions", cell: (o) => text(healthy(o)["error"]) },
];

/** As `kubectl get sa` prints them. */
export const SERVICE_ACCOUNT_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Secrets", cell: (o) => array(o["secrets"]).length },
  AGE,
];

/** As `kubectl get svc` prints them. */
export const SERVICE_COLUMNS: readonly Column[] = [
  NAME,
  field("Type", "spec.type"),
  { name: "Cluster-IP", cell: (o) => text(at(o, "spec", "clusterIP")) || "<none>" },
  { name: "External-IP", cell: externalAddress },
  { name: "Port(s)", cell: servicePorts },
  AGE,
  {
    name: "Selector",
    priority: 1,
    cell: (o) => labelsText(at(o, "spec", "selector")),
  },
];

function externalAddress(service: Json): string {
  const spec = record(service["spec"]);
  const external = array(spec["externalIPs"]).map(String);
  if (spec["type"] === "ExternalName") return text(spec["externalName"]);
  if (spec["type"] !== "LoadBalancer") return external.join(",") || "<none>";
  const ingress = records(at(service, "status", "loadBalancer", "ingress"));
  const all = [...ingress.map((i) => text(i["ip"]) || text(i["hostname"])), ...external].filter(Boolean);
  return all.join(",") || "<pending>";
}

function servicePorts(service: Json): string {
  const ports = records(at(service, "spec", "ports")).map((p) => {
    const node = p["nodePort"] ? `:${scalar(p["nodePort"])}` : "";
    return `${scalar(p["port"])}${node}/${text(p["protocol"])}`;
  });
  return ports.join(",") || "<none>";
}

/** As `kubectl get ep` prints them: "10.0.0.1:80", at most three. */
export const ENDPOINTS_COLUMNS: readonly Column[] = [
  NAME,
  {
    name: "Endpoints",
    cell: (o) => {
      const all = records(o["subsets"]).flatMap((s) => {
        const ports = records(s["ports"]).map((p) => scalar(p["port"]));
        const addresses = records(s["addresses"]).map((a) => text(a["ip"]));
        return addresses.flatMap((a) => (ports.length > 0 ? ports.map((p) => `${a}:${p}`) : [a]));
      });
      return abridged(all);
    },
  },
  AGE,
];

/** As `kubectl get rc` prints them: those of a ReplicaSet, whose selector has another form. */
export const REPLICATION_CONTROLLER_COLUMNS: readonly Column[] = [
  ...REPLICA_SET_COLUMNS.slice(0, 7),
  { name: "Selector", priority: 1, cell: (o) => labelsText(at(o, "spec", "selector")) },
];

/** As `kubectl get podtemplates` prints them. */
export const POD_TEMPLATE_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Containers", cell: (o) => named(at(o, "template", "spec", "containers"), "name") },
  { name: "Images", cell: (o) => named(at(o, "template", "spec", "containers"), "image") },
  { name: "Pod Labels", cell: (o) => labelsText(at(o, "template", "metadata", "labels")) },
];

/** "pods: 1/10, services: 0/5" of what is in the quota's status. */
function usage(quota: Json, isLimit: boolean): string {
  const { hard, used } = record(quota["status"]);
  const names = Object.keys(record(hard)).sort();
  return names
    .filter((name) => name.startsWith("limits.") === isLimit)
    .map((name) => `${name}: ${text(record(used)[name]) || "0"}/${text(record(hard)[name])}`)
    .join(", ");
}

/** As `kubectl get quota` prints them. */
export const RESOURCE_QUOTA_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Request", cell: (o) => usage(o, false) },
  { name: "Limit", cell: (o) => usage(o, true) },
  AGE,
];
