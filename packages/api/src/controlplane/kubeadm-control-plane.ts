import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, conditionColumn, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { kubeadmControlPlaneV1Beta1 } from "./v1beta1/kubeadm-control-plane.ts";
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
} from "../schema/fields.ts";
import { kubeadmFields } from "../bootstrap/kubeadm-config.ts";
import { scaleOfReplicas, contractReference, machineTaints, readinessGates } from "../cluster/shapes.ts";
import { oldConditions } from "../versions/shapes.ts";

const kubeadmControlPlaneSpec = object({
  kubeadmConfigSpec: optional(object(kubeadmFields)),
  machineNaming: optional(object({ template: optional(text(1, 256)) })),
  machineTemplate: object({
    metadata: optional(templateMetadata),
    spec: object({
      deletion: optional(
        object({
          nodeDeletionTimeoutSeconds: optional(int32({ minimum: 0 })),
          nodeDrainTimeoutSeconds: optional(int32({ minimum: 0 })),
          nodeVolumeDetachTimeoutSeconds: optional(int32({ minimum: 0 })),
        }),
      ),
      infrastructureRef: contractReference(),
      readinessGates: optional(readinessGates),
      taints: optional(machineTaints),
    }),
  }),
  remediation: optional(
    object({
      maxRetry: optional(int32()),
      minHealthyPeriodSeconds: optional(int32({ minimum: 0 })),
      retryPeriodSeconds: optional(int32({ minimum: 0 })),
    }),
  ),
  replicas: optional(int32()),
  rollout: optional(
    object({
      after: optional(instant()),
      before: optional(object({ certificatesExpiryDays: optional(int32({ minimum: 7 })) })),
      strategy: optional(
        object({
          rollingUpdate: optional(object({ maxSurge: optional(intOrString()) })),
          type: oneOf(["RollingUpdate"]),
        }),
      ),
    }),
  ),
  version: text(1, 256),
});

const kubeadmControlPlaneStatus = object({
  availableReplicas: optional(int32()),
  conditions: conditions(),
  deprecated: optional(
    object({
      v1beta1: optional(
        object({
          conditions: oldConditions(),
          failureMessage: optional(text(1, 10240)),
          failureReason: optional(anyText()),
          readyReplicas: optional(int32()),
          unavailableReplicas: optional(int32()),
          updatedReplicas: optional(int32()),
        }),
      ),
    }),
  ),
  initialization: optional(object({ controlPlaneInitialized: optional(flag()) })),
  lastRemediation: optional(object({ machine: text(1, 253), retryCount: int32({ minimum: 0 }), time: instant() })),
  observedGeneration: optional(int64({ minimum: 1 })),
  readyReplicas: optional(int32()),
  replicas: optional(int32()),
  selector: optional(text(1, 4096)),
  upToDateReplicas: optional(int32()),
  version: optional(text(1, 256)),
  versions: optional(
    listByKey(object({ replicas: optional(int32({ minimum: 1 })), version: text(1, 256) }), ["version"], {
      min: 1,
      max: 100,
    }),
  ),
});

/** Machines with a control plane of kubeadm: how many, of which version. */
export type KubeadmControlPlaneSpec = Static<typeof kubeadmControlPlaneSpec>;
/** How many Machines there are, by their readiness, and the state of etcd. */
export type KubeadmControlPlaneStatus = Static<typeof kubeadmControlPlaneStatus>;
/** A control plane of machines that kubeadm configures, with etcd on them. */
export type KubeadmControlPlane = Resource<KubeadmControlPlaneSpec, KubeadmControlPlaneStatus>;

/** Its kind, for clients and for the CRD: `kcp`, stored as v1beta2, also served as v1beta1. */
export const KubeadmControlPlane: Kind<KubeadmControlPlane> = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmControlPlane",
  plural: "kubeadmcontrolplanes",
  description: "A control plane of machines that kubeadm configures, with etcd on them.",
  shortNames: ["kcp"],
  labels: { ...contractLabels, [labels.provider]: "control-plane-kubeadm" },
  columns: [
    column("Cluster", ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name"),
    conditionColumn("Available", "Available"),
    column("Desired", ".spec.replicas", { type: "integer" }),
    column("Current", ".status.replicas", { type: "integer" }),
    column("Ready", ".status.readyReplicas", { type: "integer" }),
    column("Available", ".status.availableReplicas", { type: "integer" }),
    column("Up-to-date", ".status.upToDateReplicas", { type: "integer" }),
    paused,
    column("Initialized", ".status.initialization.controlPlaneInitialized", { type: "boolean" }),
    age,
    column("Version", ".spec.version"),
  ],
  scale: scaleOfReplicas,
  spec: kubeadmControlPlaneSpec,
  status: kubeadmControlPlaneStatus,
  versions: [kubeadmControlPlaneV1Beta1],
});
