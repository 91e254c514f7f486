import {
  anyText,
  conditions,
  immutable,
  int32,
  listByKey,
  object,
  optional,
  templateMetadata,
  text,
} from "../../schema/fields.ts";
import { objectReference } from "../../versions/shapes.ts";
import { machineTaints, readinessGates } from "../shapes.ts";

/** The spec of a Machine at v1beta1. */
export const machineSpec = object({
  bootstrap: object({ configRef: optional(objectReference()), dataSecretName: optional(text(0, 253)) }),
  clusterName: immutable(text(1, 63)),
  failureDomain: optional(text(1, 256)),
  infrastructureRef: objectReference(),
  nodeDeletionTimeout: optional(anyText()),
  nodeDrainTimeout: optional(anyText()),
  nodeVolumeDetachTimeout: optional(anyText()),
  providerID: optional(text(1, 512)),
  readinessGates: optional(readinessGates),
  taints: optional(machineTaints),
  version: optional(text(1, 256)),
});

/** What a MachineSet, MachineDeployment or MachinePool makes its Machines from. */
export const machineTemplate = object({ metadata: optional(templateMetadata), spec: optional(machineSpec) });

/** What v1beta1 has of the stored version's status: conditions and counters of replicas. */
export const newerReplicaStatus = object({
  availableReplicas: optional(int32()),
  conditions: conditions(),
  readyReplicas: optional(int32()),
  upToDateReplicas: optional(int32()),
});

/** How many replicas run each version of Kubernetes. */
export const replicaVersions = listByKey(
  object({ replicas: optional(int32({ minimum: 1 })), version: text(1, 256) }),
  ["version"],
  { min: 1, max: 100 },
);
