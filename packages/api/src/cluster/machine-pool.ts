import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { machinePoolV1Beta1 } from "./v1beta1/machine-pool.ts";
import {
  anyText,
  conditions,
  flag,
  int32,
  int64,
  list,
  listByKey,
  object,
  oneOf,
  optional,
  templateMetadata,
  text,
  immutable,
} from "../schema/fields.ts";
import { contractReference, machineTaints, readinessGates } from "./shapes.ts";
import { objectReference, oldConditions } from "../versions/shapes.ts";

const machinePoolSpec = object({
  clusterName: immutable(text(1, 63)),
  failureDomains: optional(list(text(1, 256), { max: 100 })),
  providerIDList: optional(list(text(1, 512), { max: 10000 })),
  replicas: optional(int32()),
  template: object({
    metadata: optional(templateMetadata),
    spec: object({
      bootstrap: object({ configRef: optional(contractReference()), dataSecretName: optional(text(0, 253)) }),
      clusterName: immutable(text(1, 63)),
      deletion: optional(
        object({
          nodeDeletionTimeoutSeconds: optional(int32({ minimum: 0 })),
          nodeDrainTimeoutSeconds: optional(int32({ minimum: 0 })),
          nodeVolumeDetachTimeoutSeconds: optional(int32({ minimum: 0 })),
        }),
      ),
      failureDomain: optional(text(1, 256)),
      infrastructureRef: contractReference(),
      minReadySeconds: optional(int32({ minimum: 0 })),
      providerID: optional(text(1, 512)),
      readinessGates: optional(readinessGates),
      taints: optional(machineTaints),
      version: optional(text(1, 256)),
    }),
  }),
});

const machinePoolStatus = object({
  availableReplicas: optional(int32()),
  conditions: conditions(),
  deprecated: optional(
    object({
      v1beta1: optional(
        object({
          availableReplicas: optional(int32()),
          conditions: oldConditions(),
          failureMessage: optional(text(1, 10240)),
          failureReason: optional(anyText()),
          readyReplicas: optional(int32()),
          unavailableReplicas: optional(int32()),
        }),
      ),
    }),
  ),
  initialization: optional(
    object({ bootstrapDataSecretCreated: optional(flag()), infrastructureProvisioned: optional(flag()) }),
  ),
  nodeRefs: optional(list(objectReference(), { max: 10000 })),
  observedGeneration: optional(int64({ minimum: 1 })),
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
  upToDateReplicas: optional(int32()),
  versions: optional(
    listByKey(object({ replicas: optional(int32({ minimum: 1 })), version: text(1, 256) }), ["version"], {
      min: 1,
      max: 100,
    }),
  ),
});

/** Machines that the provider's group makes, and how many of them. */
export type MachinePoolSpec = Static<typeof machinePoolSpec>;
/** How many of them there are, by their readiness. */
export type MachinePoolStatus = Static<typeof machinePoolStatus>;
/** Machines that the infrastructure scales as one. */
export type MachinePool = Resource<MachinePoolSpec, MachinePoolStatus>;

/** Its kind, for clients and for the CRD: `mp`, stored as v1beta2, also served as v1beta1. */
export const MachinePool: Kind<MachinePool> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachinePool",
  plural: "machinepools",
  description: "Machines that the infrastructure scales as one.",
  shortNames: ["mp"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("Desired", ".spec.replicas", { type: "integer" }),
    column("Current", ".status.replicas", { type: "integer" }),
    column("Ready", ".status.readyReplicas", { type: "integer" }),
    column("Available", ".status.availableReplicas", { type: "integer" }),
    column("Up-to-date", ".status.upToDateReplicas", { type: "integer" }),
    paused,
    column("Phase", ".status.phase"),
    age,
    column("Version", ".spec.template.spec.version"),
  ],
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  spec: machinePoolSpec,
  status: machinePoolStatus,
  versions: [machinePoolV1Beta1],
});
