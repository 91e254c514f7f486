import { age } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all, each, moved, within } from "../../lenses/lens.ts";
import { templateReference } from "../../versions/reference.ts";
import { conditionsLens } from "../../versions/status.ts";
import { deletionTimeouts, healthCheckLens, strategyLens } from "./lenses.ts";
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
} from "../../schema/fields.ts";
import { machineTaints, readinessGates } from "../../cluster/shapes.ts";
import { objectReference, oldConditions } from "../../versions/shapes.ts";

const machineHealthCheck = object({
  maxUnhealthy: optional(intOrString()),
  nodeStartupTimeout: optional(anyText()),
  remediationTemplate: optional(objectReference()),
  unhealthyConditions: optional(list(object({ status: anyText(), timeout: anyText(), type: anyText() }), { max: 100 })),
  unhealthyMachineConditions: optional(
    list(object({ status: oneOf(["True", "False", "Unknown"]), timeout: anyText(), type: text(1, 316) }), {
      min: 1,
      max: 100,
    }),
  ),
  unhealthyRange: optional(text(1, 32)),
});

const machineInfrastructure = object({ ref: objectReference() });

const namingStrategy = object({ template: optional(text(1, 1024)) });

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
    required: optional(list(text(1, 256), { max: 1000 })),
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
        { max: 100 },
      ),
    ),
    "x-metadata": optional(templateMetadata),
  }),
});

const template = object({
  bootstrap: machineInfrastructure,
  infrastructure: machineInfrastructure,
  metadata: optional(templateMetadata),
});

const spec = object({
  availabilityGates: optional(readinessGates),
  controlPlane: optional(
    object({
      machineHealthCheck: optional(machineHealthCheck),
      machineInfrastructure: optional(machineInfrastructure),
      metadata: optional(templateMetadata),
      namingStrategy: optional(namingStrategy),
      nodeDeletionTimeout: optional(anyText()),
      nodeDrainTimeout: optional(anyText()),
      nodeVolumeDetachTimeout: optional(anyText()),
      readinessGates: optional(readinessGates),
      ref: objectReference(),
      taints: optional(machineTaints),
    }),
  ),
  infrastructure: optional(machineInfrastructure),
  infrastructureNamingStrategy: optional(namingStrategy),
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
                { max: 100 },
              ),
              selector: object({
                apiVersion: text(1, 512),
                kind: text(1, 256),
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
            generateExtension: optional(text(1, 512)),
            settings: optional(mapOf(anyText())),
            validateExtension: optional(text(1, 512)),
          }),
        ),
        name: text(1, 256),
      }),
      { max: 1000 },
    ),
  ),
  upgrade: optional(object({ external: optional(object({ generateUpgradePlanExtension: optional(text(1, 512)) })) })),
  variables: optional(
    list(object({ metadata: optional(templateMetadata), name: text(1, 256), required: flag(), schema: schema }), {
      max: 1000,
    }),
  ),
  workers: optional(
    object({
      machineDeployments: optional(
        listByKey(
          object({
            class: text(1, 256),
            failureDomain: optional(text(1, 256)),
            machineHealthCheck: optional(machineHealthCheck),
            minReadySeconds: optional(int32()),
            namingStrategy: optional(namingStrategy),
            nodeDeletionTimeout: optional(anyText()),
            nodeDrainTimeout: optional(anyText()),
            nodeVolumeDetachTimeout: optional(anyText()),
            readinessGates: optional(readinessGates),
            strategy: optional(
              object({
                remediation: optional(object({ maxInFlight: optional(intOrString()) })),
                rollingUpdate: optional(
                  object({
                    deletePolicy: optional(oneOf(["Random", "Newest", "Oldest"])),
                    maxSurge: optional(intOrString()),
                    maxUnavailable: optional(intOrString()),
                  }),
                ),
                type: optional(oneOf(["RollingUpdate", "OnDelete"])),
              }),
            ),
            taints: optional(machineTaints),
            template: template,
          }),
          ["class"],
          { max: 100 },
        ),
      ),
      machinePools: optional(
        listByKey(
          object({
            class: text(1, 256),
            failureDomains: optional(list(text(1, 256), { max: 100 })),
            minReadySeconds: optional(int32()),
            namingStrategy: optional(namingStrategy),
            nodeDeletionTimeout: optional(anyText()),
            nodeDrainTimeout: optional(anyText()),
            nodeVolumeDetachTimeout: optional(anyText()),
            taints: optional(machineTaints),
            template: template,
          }),
          ["class"],
          { max: 100 },
        ),
      ),
    }),
  ),
});

const status = object({
  conditions: oldConditions(),
  observedGeneration: optional(int64()),
  v1beta2: optional(object({ conditions: conditions() })),
  variables: optional(
    list(
      object({
        definitions: list(
          object({ from: text(1, 256), metadata: optional(templateMetadata), required: flag(), schema: schema }),
          { max: 100 },
        ),
        definitionsConflict: optional(flag()),
        name: text(1, 256),
      }),
      { max: 1000 },
    ),
  ),
});

const naming = moved("namingStrategy", "naming");
const healthCheck = healthCheckLens("machineHealthCheck.", "healthCheck.");
const templates = all(
  moved("template.metadata", "metadata"),
  templateReference("template.bootstrap.ref", "bootstrap.templateRef"),
  templateReference("template.infrastructure.ref", "infrastructure.templateRef"),
);
const controlPlaneLens = all(
  templateReference("ref", "templateRef"),
  templateReference("machineInfrastructure.ref", "machineInfrastructure.templateRef"),
  naming,
  deletionTimeouts,
  healthCheck,
);
const patchLens = all(
  moved("external.generateExtension", "external.generatePatchesExtension"),
  moved("external.validateExtension", "external.validateTopologyExtension"),
);
const oldMetadata = moved("metadata", "deprecatedV1Beta1Metadata");

/** How v1beta1 differs from the stored version. */
export const clusterClassV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [age],
  lens: all(
    within(
      "spec",
      templateReference("infrastructure.ref", "infrastructure.templateRef"),
      moved("infrastructureNamingStrategy", "infrastructure.naming"),
      within("controlPlane", controlPlaneLens),
      each(
        "workers.machineDeployments",
        templates,
        naming,
        deletionTimeouts,
        healthCheck,
        strategyLens("healthCheck.remediation.maxInFlight"),
      ),
      each("workers.machinePools", templates, naming, deletionTimeouts),
      each("patches", patchLens),
      each("variables", oldMetadata),
    ),
    within("status", conditionsLens, each("variables", each("definitions", oldMetadata))),
  ),
};
