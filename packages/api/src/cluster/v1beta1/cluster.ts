import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { isJson, type Json } from "../../lenses/json.ts";
import { all, converted, each, moved, onlyOlder, within, type Lens } from "../../lenses/lens.ts";
import { reference } from "../../versions/reference.ts";
import { conditionsLens, failureLens } from "../../versions/status.ts";
import { deletionTimeouts, healthCheckLens, strategyLens } from "./lenses.ts";
import {
  anyText,
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
  object,
  oneOf,
  optional,
  templateMetadata,
  text,
} from "../../schema/fields.ts";
import { machineTaints, readinessGates } from "../shapes.ts";
import { objectReference, oldConditions } from "../../versions/shapes.ts";

const pods = object({ cidrBlocks: list(text(1, 43), { max: 100 }) });

const machineHealthCheck = object({
  enable: optional(flag()),
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

const rollout = object({ after: optional(instant()) });

const overrides = object({ definitionFrom: optional(text(0, 256)), name: text(1, 256), value: anything() });

const variables = object({ overrides: optional(listByKey(overrides, ["name"], { max: 1000 })) });

const controlPlane = object({
  availableReplicas: optional(int32()),
  desiredReplicas: optional(int32()),
  readyReplicas: optional(int32()),
  replicas: optional(int32()),
  upToDateReplicas: optional(int32()),
  upgradePlan: optional(list(object({ version: text(1, 256) }), { min: 1, max: 32 })),
  versions: optional(
    list(object({ replicas: optional(int32({ minimum: 1 })), version: text(1, 256) }), { min: 1, max: 32 }),
  ),
});

const spec = object({
  availabilityGates: optional(readinessGates),
  clusterNetwork: optional(
    object({
      apiServerPort: optional(int32()),
      pods: optional(pods),
      serviceDomain: optional(text(1, 253)),
      services: optional(pods),
    }),
  ),
  controlPlaneEndpoint: optional(object({ host: optional(text(0, 512)), port: optional(int32()) })),
  controlPlaneRef: optional(objectReference()),
  infrastructureRef: optional(objectReference()),
  paused: optional(flag()),
  topology: optional(
    object({
      class: text(1, 253),
      classNamespace: optional(text(1, 63)),
      controlPlane: optional(
        object({
          machineHealthCheck: optional(machineHealthCheck),
          metadata: optional(templateMetadata),
          nodeDeletionTimeout: optional(anyText()),
          nodeDrainTimeout: optional(anyText()),
          nodeVolumeDetachTimeout: optional(anyText()),
          readinessGates: optional(readinessGates),
          replicas: optional(int32()),
          rollout: optional(rollout),
          taints: optional(machineTaints),
          variables: optional(variables),
        }),
      ),
      rolloutAfter: optional(instant()),
      variables: optional(listByKey(overrides, ["name"], { max: 1000 })),
      version: text(1, 256),
      workers: optional(
        object({
          machineDeployments: optional(
            listByKey(
              object({
                class: text(1, 256),
                failureDomain: optional(text(1, 256)),
                machineHealthCheck: optional(machineHealthCheck),
                metadata: optional(templateMetadata),
                minReadySeconds: optional(int32()),
                name: text(1, 63),
                nodeDeletionTimeout: optional(anyText()),
                nodeDrainTimeout: optional(anyText()),
                nodeVolumeDetachTimeout: optional(anyText()),
                readinessGates: optional(readinessGates),
                replicas: optional(int32()),
                rollout: optional(rollout),
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
                variables: optional(variables),
              }),
              ["name"],
              { max: 2000 },
            ),
          ),
          machinePools: optional(
            listByKey(
              object({
                class: text(1, 256),
                failureDomains: optional(list(text(1, 256), { max: 100 })),
                metadata: optional(templateMetadata),
                minReadySeconds: optional(int32()),
                name: text(1, 63),
                nodeDeletionTimeout: optional(anyText()),
                nodeDrainTimeout: optional(anyText()),
                nodeVolumeDetachTimeout: optional(anyText()),
                replicas: optional(int32()),
                taints: optional(machineTaints),
                variables: optional(variables),
              }),
              ["name"],
              { max: 2000 },
            ),
          ),
        }),
      ),
    }),
  ),
});

const status = object({
  conditions: oldConditions(),
  controlPlaneReady: optional(flag()),
  failureDomains: optional(mapOf(object({ attributes: optional(mapOf(anyText())), controlPlane: optional(flag()) }))),
  failureMessage: optional(text(1, 10240)),
  failureReason: optional(anyText()),
  infrastructureReady: optional(flag()),
  observedGeneration: optional(int64()),
  phase: optional(oneOf(["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"])),
  v1beta2: optional(
    object({ conditions: conditions(), controlPlane: optional(controlPlane), workers: optional(controlPlane) }),
  ),
});

const healthCheck: Lens = all(
  moved("machineHealthCheck.enable", "healthCheck.enabled"),
  healthCheckLens("machineHealthCheck.", "healthCheck."),
);
const overridesLens = each("variables.overrides", onlyOlder("definitionFrom"));

const topologyLens = within(
  "topology",
  moved("class", "classRef.name"),
  moved("classNamespace", "classRef.namespace"),
  onlyOlder("rolloutAfter"),
  each("variables", onlyOlder("definitionFrom")),
  within("controlPlane", deletionTimeouts, healthCheck, overridesLens),
  each(
    "workers.machineDeployments",
    deletionTimeouts,
    healthCheck,
    strategyLens("healthCheck.remediation.maxInFlight"),
    overridesLens,
  ),
  each("workers.machinePools", deletionTimeouts, overridesLens),
);

/** A map by name in v1beta1, a list in the stored version. */
const failureDomains = converted("failureDomains", "failureDomains", {
  up: (value) => {
    if (!isJson(value)) return value;
    const names = Object.keys(value).toSorted();
    return names.map((name) => ({ name, ...(value[name] as Json) }));
  },
  down: (value) => {
    if (!Array.isArray(value)) return value;
    return Object.fromEntries(value.filter(isJson).map(({ name, ...rest }) => [String(name), rest]));
  },
});

/** How v1beta1 differs from the stored version. */
export const clusterV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [
    column("ClusterClass", ".spec.topology.class"),
    column("Phase", ".status.phase"),
    age,
    column("Version", ".spec.topology.version"),
  ],
  lens: all(
    within("spec", reference("controlPlaneRef"), reference("infrastructureRef"), topologyLens),
    within(
      "status",
      conditionsLens,
      failureLens,
      moved("infrastructureReady", "initialization.infrastructureProvisioned"),
      moved("controlPlaneReady", "initialization.controlPlaneInitialized"),
      moved("v1beta2.controlPlane", "controlPlane"),
      moved("v1beta2.workers", "workers"),
      failureDomains,
    ),
  ),
};
