import type { Column } from "../../contract/resource.ts";
import { at, records, text, type Json } from "../../json/json.ts";
import { duration } from "../../tables/age.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** As `kubectl get csr` prints them. */
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
