import { age, column, conditionColumn, paused } from "../columns.ts";
import type { PrinterColumn } from "../kind.ts";

/** The columns of kinds that keep replicas. */
export function scalableColumns(options: { phase: boolean }): PrinterColumn[] {
  const integer = { type: "integer" } as const;
  return [
    column("Cluster", ".spec.clusterName"),
    ...(options.phase ? [conditionColumn("Available", "Available")] : []),
    column("Desired", ".spec.replicas", integer),
    column("Current", ".status.replicas", integer),
    column("Ready", ".status.readyReplicas", integer),
    column("Available", ".status.availableReplicas", integer),
    column("Up-to-date", ".status.upToDateReplicas", integer),
    paused,
    ...(options.phase ? [column("Phase", ".status.phase")] : []),
    age,
    column("Version", ".spec.template.spec.version"),
  ];
}
