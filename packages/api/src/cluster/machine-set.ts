import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { int32, object, optional } from "../schema/fields.ts";
import { deprecatedStatus, oldFailure } from "../versions/shapes.ts";
import { machineSetV1Beta1 } from "./v1beta1/machine-set.ts";
import { scalableColumns } from "./scalable-columns.ts";
import { scalableSpec, scalableStatus, scaleOfReplicas } from "./shapes.ts";

const machineSetSpec = object(scalableSpec);
const counter = optional(int32());
const machineSetStatus = object({
  ...scalableStatus,
  deprecated: deprecatedStatus({
    ...oldFailure,
    fullyLabeledReplicas: counter,
    readyReplicas: counter,
    availableReplicas: counter,
  }),
});

/** How many Machines of one template. */
export type MachineSetSpec = Static<typeof machineSetSpec>;
/** How many Machines there are, by their readiness. */
export type MachineSetStatus = Static<typeof machineSetStatus>;
/** Keeps a number of Machines of one template. */
export type MachineSet = Resource<MachineSetSpec, MachineSetStatus>;

/** Its kind, for clients and for the CRD: `ms`, stored as v1beta2, also served as v1beta1. */
export const MachineSet: Kind<MachineSet> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineSet",
  description: "Keeps a number of Machines of one template.",
  shortNames: ["ms"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: scalableColumns({ phase: false }),
  scale: scaleOfReplicas,
  spec: machineSetSpec,
  status: machineSetStatus,
  versions: [machineSetV1Beta1],
});
