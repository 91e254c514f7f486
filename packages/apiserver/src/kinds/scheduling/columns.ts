import type { Column } from "../../contract/resource.ts";
import { field, number } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** As `kubectl get pc` prints them. */
export const PRIORITY_CLASS_COLUMNS: readonly Column[] = [
  NAME,
  number("Value", "value"),
  { name: "Global-Default", type: "boolean", cell: (o) => o["globalDefault"] === true },
  AGE,
  field("PreemptionPolicy", "preemptionPolicy"),
];
