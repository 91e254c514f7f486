import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, moved, onlyOlder, within } from "../../lenses/lens.ts";
import { conditionsLens, counter, oldCounter } from "../../versions/status.ts";
import { machineTemplateLens, strategyLens } from "./lenses.ts";
import {
  flag,
  instant,
  int32,
  int64,
  intOrString,
  labelSelector,
  object,
  oneOf,
  optional,
  text,
  immutable,
} from "../../schema/fields.ts";
import { oldConditions } from "../../versions/shapes.ts";
import { machineTemplate, newerReplicaStatus, replicaVersions } from "./shapes.ts";

const spec = object({
  clusterName: immutable(text(1, 63)),
  machineNamingStrategy: optional(object({ template: optional(text(1, 256)) })),
  minReadySeconds: optional(int32()),
  paused: optional(flag()),
  progressDeadlineSeconds: optional(int32()),
  replicas: optional(int32()),
  revisionHistoryLimit: optional(int32()),
  rolloutAfter: optional(instant()),
  selector: labelSelector,
  strategy: optional(
    object({
      remediation: optional(object({ maxInFlight: optional(intOrString()) })),
      rollingUpdate: optional(
        object({
          deletePolicy: optional(oneOf(["Random", "Newest", "Oldest"])),
          maxSurge: optional(intOrString()),
          maxUnavailable: optional(intOrString()),
        }),
      ),
      type: optional(oneOf(["RollingUpdate", "OnDelete"])),
    }),
  ),
  template: machineTemplate,
});

const status = object({
  availableReplicas: optional(int32()),
  conditions: oldConditions(),
  observedGeneration: optional(int64()),
  phase: optional(oneOf(["ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"])),
  readyReplicas: optional(int32()),
  replicas: optional(int32()),
  selector: optional(text(1, 4096)),
  unavailableReplicas: optional(int32()),
  updatedReplicas: optional(int32()),
  v1beta2: optional(newerReplicaStatus),
  versions: optional(replicaVersions),
});

/** How v1beta1 differs from the stored version. */
export const machineDeploymentV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("Desired", ".spec.replicas", { type: "integer", priority: 10 }),
    column("Replicas", ".status.replicas", { type: "integer" }),
    column("Ready", ".status.readyReplicas", { type: "integer" }),
    column("Updated", ".status.updatedReplicas", { type: "integer" }),
    column("Unavailable", ".status.unavailableReplicas", { type: "integer" }),
    column("Phase", ".status.phase"),
    age,
    column("Version", ".spec.template.spec.version"),
  ],
  lens: all(
    within(
      "spec",
      machineTemplateLens,
      strategyLens("remediation.maxInFlight"),
      moved("rolloutAfter", "rollout.after"),
      moved("machineNamingStrategy", "machineNaming"),
      onlyOlder("progressDeadlineSeconds", "revisionHistoryLimit"),
    ),
    within(
      "status",
      conditionsLens,
      counter("readyReplicas"),
      counter("availableReplicas"),
      moved("v1beta2.upToDateReplicas", "upToDateReplicas"),
      oldCounter("updatedReplicas"),
      oldCounter("unavailableReplicas"),
    ),
  ),
};
