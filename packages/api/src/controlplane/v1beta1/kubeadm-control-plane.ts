import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, moved, within, type Lens } from "../../lenses/lens.ts";
import { conditionsLens, counter, failureLens, oldCounter } from "../../versions/status.ts";
import { controlPlaneLens } from "./lenses.ts";
import {
  anyText,
  conditions,
  flag,
  instant,
  int32,
  int64,
  intOrString,
  listByKey,
  object,
  oneOf,
  optional,
  templateMetadata,
  text,
} from "../../schema/fields.ts";
import { kubeadmSpecV1Beta1 } from "../../bootstrap/v1beta1/kubeadm-config.ts";
import { objectReference, oldConditions } from "../../versions/shapes.ts";
import { machineTaints, readinessGates } from "../../cluster/shapes.ts";

const spec = object({
  kubeadmConfigSpec: kubeadmSpecV1Beta1,
  machineNamingStrategy: optional(object({ template: optional(text(1, 256)) })),
  machineTemplate: object({
    infrastructureRef: objectReference(),
    metadata: optional(templateMetadata),
    nodeDeletionTimeout: optional(anyText()),
    nodeDrainTimeout: optional(anyText()),
    nodeVolumeDetachTimeout: optional(anyText()),
    readinessGates: optional(readinessGates),
    taints: optional(machineTaints),
  }),
  remediationStrategy: optional(
    object({ maxRetry: optional(int32()), minHealthyPeriod: optional(anyText()), retryPeriod: optional(anyText()) }),
  ),
  replicas: optional(int32()),
  rolloutAfter: optional(instant()),
  rolloutBefore: optional(object({ certificatesExpiryDays: optional(int32()) })),
  rolloutStrategy: optional(
    object(
      {
        rollingUpdate: optional(object({ maxSurge: optional(intOrString()) })),
        type: optional(oneOf(["RollingUpdate"])),
      },
      { default: { rollingUpdate: { maxSurge: 1 }, type: "RollingUpdate" } },
    ),
  ),
  version: text(1, 256),
});

const status = object({
  conditions: oldConditions(),
  failureMessage: optional(text(1, 10240)),
  failureReason: optional(anyText()),
  initialized: optional(flag()),
  lastRemediation: optional(object({ machine: text(1, 253), retryCount: int32(), timestamp: instant() })),
  observedGeneration: optional(int64()),
  ready: optional(flag()),
  readyReplicas: optional(int32()),
  replicas: optional(int32()),
  selector: optional(text(1, 4096)),
  unavailableReplicas: optional(int32()),
  updatedReplicas: optional(int32()),
  v1beta2: optional(
    object({
      availableReplicas: optional(int32()),
      conditions: conditions(),
      readyReplicas: optional(int32()),
      upToDateReplicas: optional(int32()),
    }),
  ),
  version: optional(text(1, 256)),
  versions: optional(
    listByKey(object({ replicas: optional(int32({ minimum: 1 })), version: text(1, 256) }), ["version"], {
      min: 1,
      max: 100,
    }),
  ),
});

/** v1beta1 has a flag that follows from the number of ready machines. */
const ready: Lens = {
  up: (json) => void delete json["ready"],
  down: (json) => void (json["ready"] = Number(json["readyReplicas"] ?? 0) > 0),
};

/** How v1beta1 differs from the stored version. */
export const kubeadmControlPlaneV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [
    column("Cluster", ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name"),
    column("Initialized", ".status.initialized", { type: "boolean" }),
    column("API Server Available", ".status.ready", { type: "boolean" }),
    column("Desired", ".spec.replicas", { type: "integer", priority: 10 }),
    column("Replicas", ".status.replicas", { type: "integer" }),
    column("Ready", ".status.readyReplicas", { type: "integer" }),
    column("Updated", ".status.updatedReplicas", { type: "integer" }),
    column("Unavailable", ".status.unavailableReplicas", { type: "integer" }),
    age,
    column("Version", ".spec.version"),
  ],
  lens: all(
    within("spec", controlPlaneLens),
    within(
      "status",
      ready,
      conditionsLens,
      failureLens,
      counter("readyReplicas"),
      moved("v1beta2.availableReplicas", "availableReplicas"),
      moved("v1beta2.upToDateReplicas", "upToDateReplicas"),
      oldCounter("updatedReplicas"),
      oldCounter("unavailableReplicas"),
      moved("initialized", "initialization.controlPlaneInitialized"),
      moved("lastRemediation.timestamp", "lastRemediation.time"),
    ),
  ),
};
