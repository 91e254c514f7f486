import { array, at, record, records, scalar, text, type Json } from "../json/json.ts";
import type { Column } from "../contract/resource.ts";
import { age } from "./age.ts";
import { AGE, NAME } from "./table.ts";

/** A column whose cell is what stands at a path, "" when nothing does. */
export function field(name: string, path: string, options: Partial<Column> = {}): Column {
  const steps = path.split(".");
  return { name, cell: (o) => shown(at(o, ...steps)), ...options };
}

function shown(value: unknown): unknown {
  return value === undefined || value === null ? "" : value;
}

function size(value: unknown): number {
  return Object.keys(record(value)).length;
}

export const NAMESPACE_COLUMNS: readonly Column[] = [NAME, field("Status", "status.phase"), AGE];

export const SECRET_COLUMNS: readonly Column[] = [
  NAME,
  field("Type", "type"),
  { name: "Data", cell: (o) => size(o["data"]) },
  AGE,
];

export const CONFIG_MAP_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Data", cell: (o) => size(o["data"]) + size(o["binaryData"]) },
  AGE,
];

const healthy = (o: Json): Json => records(o["conditions"]).find((c) => c["type"] === "Healthy") ?? {};
const HEALTH: Readonly<Record<string, string>> = { True: "Healthy", False: "Unhealthy" };

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

export const SERVICE_ACCOUNT_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Secrets", cell: (o) => array(o["secrets"]).length },
  AGE,
];

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

/** "a=b,c=d" in order of the keys, "<none>" without any. */
export function labelsText(labels: unknown): string {
  const pairs = Object.entries(record(labels)).map(([key, value]) => `${key}=${text(value)}`);
  return pairs.sort().join(",") || "<none>";
}

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

/** At most three, and how many more. */
export function abridged(values: readonly string[], none = "<none>"): string {
  if (values.length === 0) return none;
  const more = values.length > 3 ? ` + ${values.length - 3} more...` : "";
  return `${values.slice(0, 3).join(",")}${more}`;
}

/** How long ago each was; an event without a first time has its only time. */
function firstSeen(event: Json, now: number): string {
  return age(event["firstTimestamp"] ?? event["deprecatedFirstTimestamp"] ?? event["eventTime"], now);
}

function lastSeen(event: Json, now: number): string {
  if (event["series"]) return age(at(event, "series", "lastObservedTime"), now);
  const last = event["lastTimestamp"] ?? event["deprecatedLastTimestamp"];
  return last ? age(last, now) : firstSeen(event, now);
}

function times(event: Json): unknown {
  const count = event["count"] ?? event["deprecatedCount"];
  return event["series"] ? (at(event, "series", "count") ?? 0) : count || 1;
}

function reporter(event: Json): string {
  const { component, host } = record(event["source"] ?? event["deprecatedSource"]);
  const name = text(component) || text(event["reportingComponent"] ?? event["reportingController"]);
  return [name, text(host) || text(event["reportingInstance"])].filter(Boolean).join(", ");
}

export const EVENT_COLUMNS: readonly Column[] = [
  { name: "Last Seen", cell: lastSeen },
  field("Type", "type"),
  field("Reason", "reason"),
  { name: "Object", cell: eventObject },
  { name: "Subobject", priority: 1, cell: (o) => text(record(o["involvedObject"] ?? o["regarding"])["fieldPath"]) },
  { name: "Source", priority: 1, cell: reporter },
  { name: "Message", cell: (o) => text(o["message"] ?? o["note"]).trim() },
  { name: "First Seen", priority: 1, cell: firstSeen },
  { name: "Count", priority: 1, cell: times },
  { ...NAME, priority: 1 },
];

function eventObject(event: Json): string {
  const { kind, name } = record(event["involvedObject"] ?? event["regarding"]);
  return [text(kind).toLowerCase(), text(name)].filter(Boolean).join("/");
}
