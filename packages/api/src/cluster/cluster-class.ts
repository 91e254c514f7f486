import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, conditionColumn, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { clusterClassV1Beta1 } from "./v1beta1/cluster-class.ts";
import {
  anyText,
  anything,
  conditions,
  flag,
  int32,
  int64,
  intOrString,
  list,
  listByKey,
  mapOf,
  object,
  oneOf,
  optional,
  templateMetadata,
  text,
} from "../schema/fields.ts";
import { machineTaints, readinessGates } from "./shapes.ts";
import { oldConditions } from "../versions/shapes.ts";

const deletion = object({
  nodeDeletionTimeoutSeconds: optional(int32({ minimum: 0 })),
  nodeDrainTimeoutSeconds: optional(int32({ minimum: 0 })),
  nodeVolumeDetachTimeoutSeconds: optional(int32({ minimum: 0 })),
});

const checks = object({
  nodeStartupTimeoutSeconds: optional(int32({ minimum: 0 })),
  unhealthyMachineConditions: optional(
    list(
      object({
        status: oneOf(["True", "False", "Unknown"]),
        timeoutSeconds: int32({ minimum: 0 }),
        type: text(1, 316),
      }),
      { min: 1, max: 100 },
    ),
  ),
  unhealthyNodeConditions: optional(
    list(object({ status: anyText(), timeoutSeconds: int32({ minimum: 0 }), type: anyText() }), { min: 1, max: 100 }),
  ),
});

const templateRef = object({ apiVersion: text(1, 317), kind: text(1, 63), name: text(1, 253) });

const triggerIf = object({
  unhealthyInRange: optional(text(1, 32)),
  unhealthyLessThanOrEqualTo: optional(intOrString()),
});

const machineInfrastructure = object({ templateRef: templateRef });

const naming = object({ template: optional(text(1, 1024)) });

const machineDeploymentClass = object({ names: optional(list(text(1, 256), { max: 100 })) });

const schema = object({
  openAPIV3Schema: object({
    additionalProperties: optional(anything()),
    allOf: optional(anything()),
    anyOf: optional(anything()),
    default: optional(anything()),
    description: optional(text(1, 4096)),
    enum: optional(list(anything(), { max: 100 })),
    example: optional(anything()),
    exclusiveMaximum: optional(flag()),
    exclusiveMinimum: optional(flag()),
    format: optional(text(1, 32)),
    items: optional(anything()),
    maxItems: optional(int64()),
    maxLength: optional(int64()),
    maxProperties: optional(int64()),
    maximum: optional(int64()),
    minItems: optional(int64()),
    minLength: optional(int64()),
    minProperties: optional(int64()),
    minimum: optional(int64()),
    not: optional(anything()),
    oneOf: optional(anything()),
    pattern: optional(text(1, 512)),
    properties: optional(anything()),
    required: optional(list(text(1, 256), { min: 1, max: 1000 })),
    type: optional(oneOf(["object", "array", "string", "integer", "number", "boolean"])),
    uniqueItems: optional(flag()),
    "x-kubernetes-int-or-string": optional(flag()),
    "x-kubernetes-preserve-unknown-fields": optional(flag()),
    "x-kubernetes-validations": optional(
      listByKey(
        object({
          fieldPath: optional(text(1, 512)),
          message: optional(text(1, 512)),
          messageExpression: optional(text(1, 1024)),
          reason: optional(
            oneOf(["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"], {
              default: "FieldValueInvalid",
            }),
          ),
          rule: text(1, 4096),
        }),
        ["rule"],
        { min: 1, max: 100 },
      ),
    ),
    "x-metadata": optional(templateMetadata),
  }),
});

const clusterClassSpec = object({
  availabilityGates: optional(readinessGates),
  controlPlane: object({
    deletion: optional(deletion),
    healthCheck: optional(
      object({
        checks: optional(checks),
        remediation: optional(object({ templateRef: optional(templateRef), triggerIf: optional(triggerIf) })),
      }),
    ),
    machineInfrastructure: optional(machineInfrastructure),
    metadata: optional(templateMetadata),
    naming: optional(naming),
    readinessGates: optional(readinessGates),
    taints: optional(machineTaints),
    templateRef: templateRef,
  }),
  infrastructure: object({ naming: optional(naming), templateRef: templateRef }),
  kubernetesVersions: optional(list(text(1, 256), { min: 1, max: 100 })),
  patches: optional(
    list(
      object({
        definitions: optional(
          list(
            object({
              jsonPatches: list(
                object({
                  op: oneOf(["add", "replace", "remove"]),
                  path: text(1, 512),
                  value: optional(anything()),
                  valueFrom: optional(object({ template: optional(text(1, 10240)), variable: optional(text(1, 256)) })),
                }),
                { min: 1, max: 100 },
              ),
              selector: object({
                apiVersion: text(1, 317),
                kind: text(1, 63),
                matchResources: object({
                  controlPlane: optional(flag()),
                  infrastructureCluster: optional(flag()),
                  machineDeploymentClass: optional(machineDeploymentClass),
                  machinePoolClass: optional(machineDeploymentClass),
                }),
              }),
            }),
            { max: 100 },
          ),
        ),
        description: optional(text(1, 1024)),
        enabledIf: optional(text(1, 256)),
        external: optional(
          object({
            discoverVariablesExtension: optional(text(1, 512)),
            generatePatchesExtension: optional(text(1, 512)),
            settings: optional(mapOf(anyText())),
            validateTopologyExtension: optional(text(1, 512)),
          }),
        ),
        name: text(1, 256),
      }),
      { min: 1, max: 1000 },
    ),
  ),
  upgrade: optional(object({ external: optional(object({ generateUpgradePlanExtension: optional(text(1, 512)) })) })),
  variables: optional(
    list(
      object({
        deprecatedV1Beta1Metadata: optional(templateMetadata),
        name: text(1, 256),
        required: flag(),
        schema: schema,
      }),
      { min: 1, max: 1000 },
    ),
  ),
  workers: optional(
    object({
      machineDeployments: optional(
        listByKey(
          object({
            bootstrap: machineInfrastructure,
            class: text(1, 256),
            deletion: optional(
              object({
                nodeDeletionTimeoutSeconds: optional(int32({ minimum: 0 })),
                nodeDrainTimeoutSeconds: optional(int32({ minimum: 0 })),
                nodeVolumeDetachTimeoutSeconds: optional(int32({ minimum: 0 })),
                order: optional(oneOf(["Random", "Newest", "Oldest"])),
              }),
            ),
            failureDomain: optional(text(1, 256)),
            healthCheck: optional(
              object({
                checks: optional(checks),
                remediation: optional(
                  object({
                    maxInFlight: optional(intOrString()),
                    templateRef: optional(templateRef),
                    triggerIf: optional(triggerIf),
                  }),
                ),
              }),
            ),
            infrastructure: machineInfrastructure,
            metadata: optional(templateMetadata),
            minReadySeconds: optional(int32({ minimum: 0 })),
            naming: optional(naming),
            readinessGates: optional(readinessGates),
            rollout: optional(
              object({
                strategy: optional(
                  object({
                    rollingUpdate: optional(
                      object({ maxSurge: optional(intOrString()), maxUnavailable: optional(intOrString()) }),
                    ),
                    type: oneOf(["RollingUpdate", "OnDelete"]),
                  }),
                ),
              }),
            ),
            taints: optional(machineTaints),
          }),
          ["class"],
          { min: 1, max: 100 },
        ),
      ),
      machinePools: optional(
        listByKey(
          object({
            bootstrap: machineInfrastructure,
            class: text(1, 256),
            deletion: optional(deletion),
            failureDomains: optional(list(text(1, 256), { max: 100 })),
            infrastructure: machineInfrastructure,
            metadata: optional(templateMetadata),
            minReadySeconds: optional(int32({ minimum: 0 })),
            naming: optional(naming),
            taints: optional(machineTaints),
          }),
          ["class"],
          { min: 1, max: 100 },
        ),
      ),
    }),
  ),
});

const clusterClassStatus = object({
  conditions: conditions(),
  deprecated: optional(object({ v1beta1: optional(object({ conditions: oldConditions() })) })),
  observedGeneration: optional(int64({ minimum: 1 })),
  variables: optional(
    list(
      object({
        definitions: list(
          object({
            deprecatedV1Beta1Metadata: optional(templateMetadata),
            from: text(1, 256),
            required: flag(),
            schema: schema,
          }),
          { min: 1, max: 100 },
        ),
        definitionsConflict: optional(flag()),
        name: text(1, 256),
      }),
      { max: 1000 },
    ),
  ),
});

/** The templates and variables of clusters of one class. */
export type ClusterClassSpec = Static<typeof clusterClassSpec>;
/** Whether templates and variables are valid, as conditions. */
export type ClusterClassStatus = Static<typeof clusterClassStatus>;
/** Templates, variables and patches that Clusters are made from. */
export type ClusterClass = Resource<ClusterClassSpec, ClusterClassStatus>;

/** Its kind, for clients and for the CRD: `cc`, stored as v1beta2, also served as v1beta1. */
export const ClusterClass: Kind<ClusterClass> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterClass",
  plural: "clusterclasses",
  description: "Templates, variables and patches that Clusters are made from.",
  shortNames: ["cc"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [paused, conditionColumn("Variables Ready", "VariablesReady"), age],

  spec: clusterClassSpec,
  status: clusterClassStatus,
  versions: [clusterClassV1Beta1],
});
