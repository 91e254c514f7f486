import type { Column } from "../../contract/resource.ts";
import { selectorText } from "../../contract/selectors.ts";
import { at, record, records, text, type Json } from "../../json/json.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

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

/** As `kubectl get ing` prints them. */
export const INGRESS_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Class", cell: (o) => at(o, "spec", "ingressClassName") ?? "<none>" },
  { name: "Hosts", cell: hosts },
  { name: "Address", cell: addresses },
  { name: "Ports", cell: (o) => (records(at(o, "spec", "tls")).length > 0 ? "80, 443" : "80") },
  AGE,
];

/** As `kubectl get ingressclasses` prints them, with parameters such as "Config.example.com/web". */
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

/** As `kubectl get netpol` prints them. */
export const NETWORK_POLICY_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Pod-Selector", cell: (o) => selectorText(at(o, "spec", "podSelector")) || "<none>" },
  AGE,
];
