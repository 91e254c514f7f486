import type { CallOutcome } from "@causeway/csi";
import type { Metrics } from "@causeway/foundation";

/** Records each call in csi_operations_seconds. */
export function callMetrics(metrics: Metrics): (outcome: CallOutcome) => void {
  const labels = ["method_name", "grpc_status_code"];
  const seconds = metrics.histogram({ name: "csi_operations_seconds", help: "Duration of CSI calls.", labels });
  return ({ method, milliseconds, code }) =>
    seconds.observe(milliseconds / 1000, { method_name: method, grpc_status_code: String(code ?? 0) });
}
