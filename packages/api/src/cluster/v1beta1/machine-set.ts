import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, moved, within } from "../../lenses/lens.ts";
import { conditionsLens, counter, failureLens, oldCounter } from "../../versions/status.ts";
import { machineTemplateLens } from "./lenses.ts";
import { anyText, int32, int64, labelSelector, object, oneOf, optional, text, immutable } from "../../schema/fields.ts";
import { oldConditions } from "../../versions/shapes.ts";
import { machineTemplate, newerReplicaStatus, replicaVersions } from "./shapes.ts";

const spec = object({
  clusterName: immutable(text(1, 63)),
  deletePolicy: optional(oneOf(["Random", "Newest", "Oldest"])),
  machineNamingStrategy: optional(object({ template: optional(text(1, 256)) })),
  minReadySeconds: optional(int32()),
  replicas: optional(int32()),
  selector: labelSelector,
  template: optional(machineTemplate),
});

const status = object({
  availableReplicas: optional(int32()),
  conditions: oldConditions(),
  failureMessage: optional(text(1, 10240)),
  failureReason: optional(anyText()),
  fullyLabeledReplicas: optional(int32()),
  observedGeneration: optional(int64()),
  readyReplicas: optional(int32()),
  replicas: optional(int32()),
  selector: optional(text(1, 4096)),
  v1beta2: optional(newerReplicaStatus),
  versions: optional(replicaVersions),
});

/** How v1beta1 differs from the stored version. */
export const machineSetV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("Desired", ".spec.replicas", { type: "integer", priority: 10 }),
    column("Replicas", ".status.replicas", { type: "integer" }),
    column("Ready", ".status.readyReplicas", { type: "integer" }),
    column("Available", ".status.availableReplicas", { type: "integer" }),
    age,
    column("Version", ".spec.template.spec.version"),
  ],
  lens: all(
    within(
      "spec",
      machineTemplateLens,
      moved("deletePolicy", "deletion.order"),
      moved("machineNamingStrategy", "machineNaming"),
    ),
    within(
      "status",
      conditionsLens,
      failureLens,
      counter("readyReplicas"),
      counter("availableReplicas"),
      moved("v1beta2.upToDateReplicas", "upToDateReplicas"),
      oldCounter("fullyLabeledReplicas"),
    ),
  ),
};
