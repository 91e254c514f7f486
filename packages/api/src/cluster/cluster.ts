import type { Static } from "typebox";
import { labels } from "../names.ts";
import { age, column, conditionColumn, paused } from "../columns.ts";
import { contractLabels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import type { Kind } from "../kind.ts";
import {
  anything,
  conditions,
  flag,
  instant,
  int32,
  int64,
  intOrString,
  list,
  listByKey,
  mapOf,
} from "../schema/fields.ts";
import { anyText, object, oneOf, optional, templateMetadata, text } from "../schema/fields.ts";
import {
  contractReference,
  deletionTimeouts,
  machineTaints,
  readinessGates,
  rollout,
  versionCounts,
} from "./shapes.ts";
import type { Resource } from "@causeway/kubernetes";
import { deprecatedStatus, oldFailure } from "../versions/shapes.ts";
import { clusterV1Beta1 } from "./v1beta1/cluster.ts";

const cidrBlocks = (description: string) =>
  object({ cidrBlocks: list(text(1, 43), { min: 1, max: 100 }) }, { description });

const variables = optional(
  listByKey(object({ name: text(1, 256), value: anything() }), ["name"], { min: 1, max: 1000 }),
);
const overrides = optional(object({ overrides: variables }));

const checks = object({
  nodeStartupTimeoutSeconds: optional(int32({ minimum: 0 })),
  unhealthyNodeConditions: optional(
    list(object({ type: text(1, 316), status: text(1, 316), timeoutSeconds: int32({ minimum: 0 }) }), {
      min: 1,
      max: 100,
    }),
  ),
  unhealthyMachineConditions: optional(
    list(
      object({
        type: text(1, 316),
        status: oneOf(["True", "False", "Unknown"]),
        timeoutSeconds: int32({ minimum: 0 }),
      }),
      { min: 1, max: 100 },
    ),
  ),
});

const templateRef = optional(object({ apiVersion: text(1, 317), kind: text(1, 63), name: text(1, 253) }));
const triggerIf = optional(
  object({ unhealthyInRange: optional(text(1, 32)), unhealthyLessThanOrEqualTo: optional(intOrString()) }),
);

const controlPlaneHealthCheck = optional(
  object({
    enabled: optional(flag()),
    checks: optional(checks),
    remediation: optional(object({ templateRef, triggerIf })),
  }),
);

const healthCheck = optional(
  object({
    enabled: optional(flag()),
    checks: optional(checks),
    remediation: optional(object({ maxInFlight: optional(intOrString()), templateRef, triggerIf })),
  }),
);

const workerTopology = {
  class: text(1, 256),
  name: text(1, 63),
  metadata: optional(templateMetadata),
  replicas: optional(int32()),
  minReadySeconds: optional(int32({ minimum: 0 })),
  taints: optional(machineTaints),
  variables: overrides,
};

const topology = object(
  {
    classRef: object({ name: text(1, 253), namespace: optional(text(1, 63)) }),
    version: text(1, 256),
    controlPlane: optional(
      object({
        metadata: optional(templateMetadata),
        replicas: optional(int32()),
        rollout: optional(object({ after: optional(instant()) })),
        deletion: optional(object(deletionTimeouts)),
        healthCheck: controlPlaneHealthCheck,
        readinessGates: optional(readinessGates),
        taints: optional(machineTaints),
        variables: overrides,
      }),
    ),
    variables,
    workers: optional(
      object({
        machineDeployments: optional(
          listByKey(
            object({
              ...workerTopology,
              failureDomain: optional(text(1, 256)),
              deletion: optional(
                object({ ...deletionTimeouts, order: optional(oneOf(["Random", "Newest", "Oldest"])) }),
              ),
              healthCheck,
              readinessGates: optional(readinessGates),
              rollout: optional(rollout),
            }),
            ["name"],
            { min: 1, max: 2000 },
          ),
        ),
        machinePools: optional(
          listByKey(
            object({
              ...workerTopology,
              failureDomains: optional(list(text(1, 256), { min: 1, max: 100 })),
              deletion: optional(object(deletionTimeouts)),
            }),
            ["name"],
            { min: 1, max: 2000 },
          ),
        ),
      }),
    ),
  },
  { description: "The ClusterClass that the Cluster is made from, and what is its own." },
);

const counters = {
  desiredReplicas: optional(int32()),
  replicas: optional(int32()),
  readyReplicas: optional(int32()),
  availableReplicas: optional(int32()),
  upToDateReplicas: optional(int32()),
  versions: versionCounts(32),
  upgradePlan: optional(listByKey(object({ version: text(1, 256) }), ["version"], { min: 1, max: 32 })),
};

const clusterSpec = object({
  paused: optional(flag({ description: "No controller touches the cluster while true." })),
  clusterNetwork: optional(
    object({
      apiServerPort: optional(int32({ minimum: 1, maximum: 65535 })),
      pods: optional(cidrBlocks("Addresses of pods.")),
      services: optional(cidrBlocks("Addresses of Services.")),
      serviceDomain: optional(text(1, 253)),
    }),
  ),
  controlPlaneEndpoint: optional(
    object(
      { host: optional(text(1, 512)), port: optional(int32({ minimum: 1, maximum: 65535 })) },
      { description: "Where the API server is reached. Filled by the provider unless given." },
    ),
  ),
  controlPlaneRef: optional(contractReference("The control plane object.")),
  infrastructureRef: optional(contractReference("The infrastructure object.")),
  availabilityGates: optional(readinessGates),
  topology: optional(topology),
});

const clusterStatus = object({
  conditions: conditions(),
  initialization: optional(
    object({ infrastructureProvisioned: optional(flag()), controlPlaneInitialized: optional(flag()) }),
  ),
  controlPlane: optional(object(counters)),
  workers: optional(object(counters)),
  failureDomains: optional(
    listByKey(
      object({ name: text(1, 256), controlPlane: optional(flag()), attributes: optional(mapOf(anyText())) }),
      ["name"],
      { min: 1, max: 100 },
    ),
  ),
  phase: optional(oneOf(["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"])),
  observedGeneration: optional(int64({ minimum: 1 })),
  deprecated: deprecatedStatus(oldFailure),
});

/** Networks, control plane and infrastructure of a cluster, or its topology. */
export type ClusterSpec = Static<typeof clusterSpec>;
/** How far the cluster is, as conditions and counts. */
export type ClusterStatus = Static<typeof clusterStatus>;
/** A Kubernetes cluster: network, endpoint, and references to what provides it. */
export type Cluster = Resource<ClusterSpec, ClusterStatus>;

/** Its kind, for clients and for the CRD: `cl`, stored as v1beta2, also served as v1beta1. */
export const Cluster: Kind<Cluster> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  description: "A Kubernetes cluster: network, endpoint, and references to what provides it.",
  shortNames: ["cl"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [
    column("ClusterClass", ".spec.topology.classRef.name"),
    conditionColumn("Available", "Available"),
    column("CP Desired", ".status.controlPlane.desiredReplicas", { type: "integer" }),
    column("CP Current", ".status.controlPlane.replicas", { type: "integer", priority: 10 }),
    column("CP Ready", ".status.controlPlane.readyReplicas", { type: "integer", priority: 10 }),
    column("CP Available", ".status.controlPlane.availableReplicas", { type: "integer" }),
    column("CP Up-to-date", ".status.controlPlane.upToDateReplicas", { type: "integer" }),
    column("W Desired", ".status.workers.desiredReplicas", { type: "integer" }),
    column("W Current", ".status.workers.replicas", { type: "integer", priority: 10 }),
    column("W Ready", ".status.workers.readyReplicas", { type: "integer", priority: 10 }),
    column("W Available", ".status.workers.availableReplicas", { type: "integer" }),
    column("W Up-to-date", ".status.workers.upToDateReplicas", { type: "integer" }),
    paused,
    column("Phase", ".status.phase"),
    age,
    column("Version", ".spec.topology.version"),
  ],
  spec: clusterSpec,
  status: clusterStatus,
  versions: [clusterV1Beta1],
});
