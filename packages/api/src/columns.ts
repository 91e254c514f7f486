import type { PrinterColumn } from "./kind.ts";

/** Columns that `kubectl get` prints, with the names that scripts already use. */

/** How long ago the object was created. */
export const age: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** A column of a JSON path such as ".spec.version", as text unless `extra` has another type. */
export function column(name: string, jsonPath: string, extra: Partial<PrinterColumn> = {}): PrinterColumn {
  return { name, type: "string", jsonPath, ...extra };
}

/** A column that shows a condition's status. */
export function conditionColumn(name: string, type: string, extra: Partial<PrinterColumn> = {}): PrinterColumn {
  return column(name, `.status.conditions[?(@.type=="${type}")].status`, extra);
}

/** Whether the object's controller is paused; with `-o wide` only, as its priority is not 0. */
export const paused = conditionColumn("Paused", "Paused", { priority: 10 });
