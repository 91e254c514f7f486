import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, conditionColumn, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { conditions, flag, instant, int64, object, oneOf, optional, text } from "../schema/fields.ts";
import { deprecatedStatus, oldFailure } from "../versions/shapes.ts";
import { addressList, machineSpec, nodeInfo } from "./shapes.ts";
import { machineV1Beta1 } from "./v1beta1/machine.ts";

const machineStatus = object({
  conditions: conditions(),
  initialization: optional(
    object({ infrastructureProvisioned: optional(flag()), bootstrapDataSecretCreated: optional(flag()) }),
  ),
  nodeRef: optional(
    object({ name: text(1, 253) }, { description: "The Node of this Machine in the workload cluster." }),
  ),
  nodeInfo: optional(nodeInfo),
  lastUpdated: optional(instant()),
  failureDomain: optional(text(1, 256)),
  addresses: optional(addressList),
  phase: optional(
    oneOf([
      "Pending",
      "Provisioning",
      "Provisioned",
      "Running",
      "Updating",
      "Deleting",
      "Deleted",
      "Failed",
      "Unknown",
    ]),
  ),
  certificatesExpiryDate: optional(instant()),
  observedGeneration: optional(int64({ minimum: 1 })),
  deprecated: deprecatedStatus(oldFailure),
  deletion: optional(
    object({
      nodeDrainStartTime: optional(instant()),
      waitForNodeVolumeDetachStartTime: optional(instant()),
      waitForPreDrainHookStartTime: optional(instant()),
      waitForPreTerminateHookStartTime: optional(instant()),
    }),
  ),
});

/** The cluster, version, bootstrap data and infrastructure of one machine. */
export type MachineSpec = Static<typeof machineSpec>;
/** The Node, addresses and phase of a machine, and its conditions. */
export type MachineStatus = Static<typeof machineStatus>;
/** One host that runs a kubelet. */
export type Machine = Resource<MachineSpec, MachineStatus>;

const wide = { priority: 10 };
const address = (type: string) => `.status.addresses[?(@.type=="${type}")].address`;

/** Its kind, for clients and for the CRD: `ma`, stored as v1beta2, also served as v1beta1. */
export const Machine: Kind<Machine> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Machine",
  description: "One host that runs a kubelet.",
  shortNames: ["ma"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [
    column("Cluster", ".spec.clusterName"),
    column("Node Name", ".status.nodeRef.name"),
    column("Provider ID", ".spec.providerID", wide),
    column("Failure Domain", ".status.failureDomain", wide),
    conditionColumn("Ready", "Ready"),
    conditionColumn("Available", "Available"),
    conditionColumn("Up-to-date", "UpToDate"),
    column("Internal-IP", address("InternalIP"), wide),
    column("External-IP", address("ExternalIP"), wide),
    column("OS-Image", ".status.nodeInfo.osImage", wide),
    paused,
    column("Phase", ".status.phase"),
    age,
    column("Version", ".spec.version"),
  ],
  spec: machineSpec,
  status: machineStatus,
  versions: [machineV1Beta1],
});
