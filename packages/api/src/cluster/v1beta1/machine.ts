import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, converted, moved, onlyNewer, within } from "../../lenses/lens.ts";
import { conditionsLens, failureLens, nodeReference } from "../../versions/status.ts";
import { singleMachineLens } from "./lenses.ts";
import { anyText, conditions, flag, instant, int64, object, oneOf, optional, text } from "../../schema/fields.ts";
import { objectReference, oldConditions } from "../../versions/shapes.ts";
import { addressList, nodeInfo } from "../shapes.ts";
import { machineSpec } from "./shapes.ts";

const status = object({
  addresses: optional(addressList),
  bootstrapReady: optional(flag()),
  certificatesExpiryDate: optional(instant()),
  conditions: oldConditions(),
  deletion: optional(
    object({
      nodeDrainStartTime: optional(instant()),
      waitForNodeVolumeDetachStartTime: optional(instant()),
      waitForPreDrainHookStartTime: optional(instant()),
      waitForPreTerminateHookStartTime: optional(instant()),
    }),
  ),
  failureMessage: optional(text(1, 10240)),
  failureReason: optional(anyText()),
  infrastructureReady: optional(flag()),
  lastUpdated: optional(instant()),
  nodeInfo: optional(nodeInfo),
  nodeRef: optional(objectReference()),
  observedGeneration: optional(int64()),
  phase: optional(
    oneOf(["Pending", "Provisioning", "Provisioned", "Running", "Deleting", "Deleted", "Failed", "Unknown"]),
  ),
  v1beta2: optional(object({ conditions: conditions() })),
});

/** v1beta1 has no phase for an update in place. */
const phase = converted("phase", "phase", {
  up: (value) => value,
  down: (value) => (value === "Updating" ? "Running" : value),
});

/** How v1beta1 differs from the stored version. */
export const machineV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec: machineSpec,
  status,
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("NodeName", ".status.nodeRef.name"),
    column("ProviderID", ".spec.providerID"),
    column("Phase", ".status.phase"),
    age,
    column("Version", ".spec.version"),
  ],
  lens: all(
    within("spec", singleMachineLens),
    within(
      "status",
      conditionsLens,
      failureLens,
      moved("infrastructureReady", "initialization.infrastructureProvisioned"),
      moved("bootstrapReady", "initialization.bootstrapDataSecretCreated"),
      nodeReference,
      phase,
      onlyNewer("failureDomain"),
    ),
  ),
};
