import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { flag, int32, intOrString, object, oneOf, optional } from "../schema/fields.ts";
import { deprecatedStatus } from "../versions/shapes.ts";
import { scalableColumns } from "./scalable-columns.ts";
import { machineDeploymentV1Beta1 } from "./v1beta1/machine-deployment.ts";
import { rolloutFields, scalableSpec, scalableStatus, scaleOfReplicas } from "./shapes.ts";

/** What an unset strategy means. */
const rollingUpdateByOne = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };

const machineDeploymentSpec = object({
  ...scalableSpec,
  paused: optional(flag({ description: "No rollout while true; scaling continues." })),
  rollout: optional(object(rolloutFields, { default: { strategy: rollingUpdateByOne } })),
  remediation: optional(object({ maxInFlight: optional(intOrString()) })),
});

const counter = optional(int32());

const machineDeploymentStatus = object({
  ...scalableStatus,
  phase: optional(oneOf(["ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"])),
  deprecated: deprecatedStatus({
    updatedReplicas: counter,
    readyReplicas: counter,
    availableReplicas: counter,
    unavailableReplicas: counter,
  }),
});

/** How many Machines of one template, and how a change is rolled out. */
export type MachineDeploymentSpec = Static<typeof machineDeploymentSpec>;
/** How many Machines there are, by their readiness and template. */
export type MachineDeploymentStatus = Static<typeof machineDeploymentStatus>;
/** Machines of one template, replaced step by step when the template changes. */
export type MachineDeployment = Resource<MachineDeploymentSpec, MachineDeploymentStatus>;

/** Its kind, for clients and for the CRD: `md`, stored as v1beta2, also served as v1beta1. */
export const MachineDeployment: Kind<MachineDeployment> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineDeployment",
  description: "Machines of one template, replaced step by step when the template changes.",
  shortNames: ["md"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: scalableColumns({ phase: true }),
  scale: scaleOfReplicas,
  spec: machineDeploymentSpec,
  status: machineDeploymentStatus,
  versions: [machineDeploymentV1Beta1],
});
