import type { Column } from "../../contract/resource.ts";
import { at, scalar } from "../../json/json.ts";
import { AGE, NAME } from "../../tables/table.ts";

function orNone(name: string, path: string): Column {
  return { name, cell: (o) => scalar(at(o, ...path.split("."))) || "N/A" };
}

/** As `kubectl get pdb` prints them. */
export const POD_DISRUPTION_BUDGET_COLUMNS: readonly Column[] = [
  NAME,
  orNone("Min Available", "spec.minAvailable"),
  orNone("Max Unavailable", "spec.maxUnavailable"),
  { name: "Allowed Disruptions", type: "integer", cell: (o) => at(o, "status", "disruptionsAllowed") ?? 0 },
  AGE,
];
