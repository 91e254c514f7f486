import { at, record, records, scalar, text, type Json } from "../json/json.ts";
import type { Column } from "../contract/resource.ts";
import { selectorText } from "../contract/selectors.ts";
import { field } from "./core-columns.ts";
import { AGE, NAME } from "./table.ts";

function hosts(ingress: Json): string {
  const rules = records(at(ingress, "spec", "rules"));
  const named = rules.map((r) => text(r["host"])).filter(Boolean);
  if (named.length === 0) return "*";
  const more = rules.length > 3 && named.length >= 3 ? ` + ${rules.length - 3} more...` : "";
  return `${named.slice(0, 3).join(",")}${more}`;
}

function addresses(ingress: Json): string {
  const points = records(at(ingress, "status", "loadBalancer", "ingress"));
  const found = points.map((p) => text(p["ip"]) || text(p["hostname"])).filter(Boolean);
  return [...new Set(found)].sort().join(",");
}

export const INGRESS_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Class", cell: (o) => at(o, "spec", "ingressClassName") ?? "<none>" },
  { name: "Hosts", cell: hosts },
  { name: "Address", cell: addresses },
  { name: "Ports", cell: (o) => (records(at(o, "spec", "tls")).length > 0 ? "80, 443" : "80") },
  AGE,
];

export const INGRESS_CLASS_COLUMNS: readonly Column[] = [
  NAME,
  field("Controller", "spec.controller"),
  {
    name: "Parameters",
    cell: (o) => {
      const parameters = record(at(o, "spec", "parameters"));
      if (!text(parameters["name"])) return "<none>";
      const group = text(parameters["apiGroup"]);
      return `${text(parameters["kind"])}${group ? `.${group}` : ""}/${text(parameters["name"])}`;
    },
  },
  AGE,
];

export const NETWORK_POLICY_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Pod-Selector", cell: (o) => selectorText(at(o, "spec", "podSelector")) || "<none>" },
  AGE,
];

function orNone(name: string, path: string): Column {
  return { name, cell: (o) => scalar(at(o, ...path.split("."))) || "N/A" };
}

export const POD_DISRUPTION_BUDGET_COLUMNS: readonly Column[] = [
  NAME,
  orNone("Min Available", "spec.minAvailable"),
  orNone("Max Unavailable", "spec.maxUnavailable"),
  { name: "Allowed Disruptions", type: "integer", cell: (o) => at(o, "status", "disruptionsAllowed") ?? 0 },
  AGE,
];

export const RUNTIME_CLASS_COLUMNS: readonly Column[] = [NAME, field("Handler", "handler"), AGE];

export const RESOURCE_SLICE_COLUMNS: readonly Column[] = [
  NAME,
  field("Node", "spec.nodeName"),
  field("Driver", "spec.driver"),
  field("Pool", "spec.pool.name"),
  AGE,
];

function claimState(claim: Json): string {
  const status = record(claim["status"]);
  const isGoing = at(claim, "metadata", "deletionTimestamp") !== undefined;
  const reserved = records(status["reservedFor"]).length > 0 ? ["reserved"] : [];
  const held = status["allocation"] === undefined ? (isGoing ? [] : ["pending"]) : ["allocated", ...reserved];
  return [...(isGoing ? ["deleted"] : []), ...held].join(",");
}

export const RESOURCE_CLAIM_COLUMNS: readonly Column[] = [NAME, { name: "State", cell: claimState }, AGE];
export const NAME_AND_AGE: readonly Column[] = [NAME, AGE];
