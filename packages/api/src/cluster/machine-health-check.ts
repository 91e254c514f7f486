import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { machineHealthCheckV1Beta1 } from "./v1beta1/machine-health-check.ts";
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
  checked,
} from "../schema/fields.ts";
import { oldConditions } from "../versions/shapes.ts";

/** These follow from the check itself. */
const ownConditions = {
  rule: "!(self in ['Ready', 'Available', 'HealthCheckSucceeded', 'OwnerRemediated', 'ExternallyRemediated'])",
  message: "type must not be Ready, Available, HealthCheckSucceeded, OwnerRemediated or ExternallyRemediated",
};
const startupTimeout = { rule: "self == 0 || self >= 30", message: "must be 0 (no check) or at least 30" };

const machineHealthCheckSpec = object({
  checks: optional(
    object({
      nodeStartupTimeoutSeconds: optional(checked(int32({ minimum: 0 }), [startupTimeout])),
      unhealthyMachineConditions: optional(
        list(
          object({
            status: oneOf(["True", "False", "Unknown"]),
            timeoutSeconds: int32({ minimum: 0 }),
            type: checked(text(1, 316), [ownConditions]),
          }),
          { min: 1, max: 100 },
        ),
      ),
      unhealthyNodeConditions: optional(
        list(object({ status: anyText(), timeoutSeconds: int32({ minimum: 0 }), type: anyText() }), {
          min: 1,
          max: 100,
        }),
      ),
    }),
  ),
  clusterName: immutable(text(1, 63)),
  remediation: optional(
    object({
      templateRef: optional(object({ apiVersion: text(1, 317), kind: text(1, 63), name: text(1, 253) })),
      triggerIf: optional(
        object({ unhealthyInRange: optional(text(1, 32)), unhealthyLessThanOrEqualTo: optional(intOrString()) }),
      ),
    }),
  ),
  selector: labelSelector,
});

const machineHealthCheckStatus = object({
  conditions: conditions(),
  currentHealthy: optional(int32({ minimum: 0 })),
  deprecated: optional(object({ v1beta1: optional(object({ conditions: oldConditions() })) })),
  expectedMachines: optional(int32({ minimum: 0 })),
  observedGeneration: optional(int64({ minimum: 1 })),
  remediationsAllowed: optional(int32({ minimum: 0 })),
  targets: optional(list(text(1, 253), { max: 10000 })),
});

/** When a Machine is unhealthy, and how many may be replaced. */
export type MachineHealthCheckSpec = Static<typeof machineHealthCheckSpec>;
/** How many Machines are healthy, and how many may still be replaced. */
export type MachineHealthCheckStatus = Static<typeof machineHealthCheckStatus>;
/** Finds unhealthy Machines and has them replaced. */
export type MachineHealthCheck = Resource<MachineHealthCheckSpec, MachineHealthCheckStatus>;

/** Its kind, for clients and for the CRD: `mhc`, stored as v1beta2, also served as v1beta1. */
export const MachineHealthCheck: Kind<MachineHealthCheck> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineHealthCheck",
  plural: "machinehealthchecks",
  description: "Finds unhealthy Machines and has them replaced.",
  shortNames: ["mhc", "mhcs"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("Replicas", ".status.expectedMachines", { type: "integer" }),
    column("Healthy", ".status.currentHealthy", { type: "integer" }),
    paused,
    age,
  ],

  spec: machineHealthCheckSpec,
  status: machineHealthCheckStatus,
  versions: [machineHealthCheckV1Beta1],
});
