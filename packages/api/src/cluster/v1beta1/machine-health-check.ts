import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, within } from "../../lenses/lens.ts";
import { conditionsLens } from "../../versions/status.ts";
import { healthCheckLens } from "./lenses.ts";
import {
  anyText,
  conditions,
  int32,
  int64,
  intOrString,
  labelSelector,
  list,
  object,
  oneOf,
  optional,
  text,
  immutable,
} from "../../schema/fields.ts";
import { objectReference, oldConditions } from "../../versions/shapes.ts";

const spec = object({
  clusterName: immutable(text(1, 63)),
  maxUnhealthy: optional(intOrString()),
  nodeStartupTimeout: optional(anyText()),
  remediationTemplate: optional(objectReference()),
  selector: labelSelector,
  unhealthyConditions: optional(list(object({ status: anyText(), timeout: anyText(), type: anyText() }), { max: 100 })),
  unhealthyMachineConditions: optional(
    list(object({ status: oneOf(["True", "False", "Unknown"]), timeout: anyText(), type: text(1, 316) }), {
      min: 1,
      max: 100,
    }),
  ),
  unhealthyRange: optional(text(1, 32)),
});

const status = object({
  conditions: oldConditions(),
  currentHealthy: optional(int32({ minimum: 0 })),
  expectedMachines: optional(int32({ minimum: 0 })),
  observedGeneration: optional(int64()),
  remediationsAllowed: optional(int32({ minimum: 0 })),
  targets: optional(list(text(1, 253), { max: 10000 })),
  v1beta2: optional(object({ conditions: conditions() })),
});

/** How v1beta1 differs from the stored version. */
export const machineHealthCheckV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("ExpectedMachines", ".status.expectedMachines", { type: "integer" }),
    column("MaxUnhealthy", ".spec.maxUnhealthy"),
    column("CurrentHealthy", ".status.currentHealthy", { type: "integer" }),
    age,
  ],
  lens: all(within("spec", healthCheckLens("", "")), within("status", conditionsLens)),
};
