import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, moved, within } from "../../lenses/lens.ts";
import { conditionsLens, counter, failureLens, oldCounter } from "../../versions/status.ts";
import { machineTemplateLens } from "./lenses.ts";
import { anyText, flag, int32, int64, list, object, oneOf, optional, text, immutable } from "../../schema/fields.ts";
import { objectReference, oldConditions } from "../../versions/shapes.ts";
import { machineTemplate, newerReplicaStatus, replicaVersions } from "./shapes.ts";

const spec = object({
  clusterName: immutable(text(1, 63)),
  failureDomains: optional(list(text(1, 256), { max: 100 })),
  minReadySeconds: optional(int32()),
  providerIDList: optional(list(text(1, 512), { max: 10000 })),
  replicas: optional(int32()),
  template: machineTemplate,
});

const status = object({
  availableReplicas: optional(int32()),
  bootstrapReady: optional(flag()),
  conditions: oldConditions(),
  failureMessage: optional(text(1, 10240)),
  failureReason: optional(anyText()),
  infrastructureReady: optional(flag()),
  nodeRefs: optional(list(objectReference(), { max: 10000 })),
  observedGeneration: optional(int64()),
  phase: optional(
    oneOf([
      "Pending",
      "Provisioning",
      "Provisioned",
      "Running",
      "ScalingUp",
      "ScalingDown",
      "Scaling",
      "Deleting",
      "Failed",
      "Unknown",
    ]),
  ),
  readyReplicas: optional(int32()),
  replicas: optional(int32()),
  unavailableReplicas: optional(int32()),
  v1beta2: optional(newerReplicaStatus),
  versions: optional(replicaVersions),
});

/** How v1beta1 differs from the stored version. */
export const machinePoolV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("Desired", ".spec.replicas", { type: "integer", priority: 10 }),
    column("Replicas", ".status.replicas"),
    column("Phase", ".status.phase"),
    age,
    column("Version", ".spec.template.spec.version"),
  ],
  lens: all(
    within("spec", machineTemplateLens),
    within(
      "status",
      conditionsLens,
      failureLens,
      counter("readyReplicas"),
      counter("availableReplicas"),
      moved("v1beta2.upToDateReplicas", "upToDateReplicas"),
      oldCounter("unavailableReplicas"),
      moved("infrastructureReady", "initialization.infrastructureProvisioned"),
      moved("bootstrapReady", "initialization.bootstrapDataSecretCreated"),
    ),
  ),
};
