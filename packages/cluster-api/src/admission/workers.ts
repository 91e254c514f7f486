import {
  labels,
  type Machine,
  type MachineDeployment,
  type MachineHealthCheck,
  type MachinePool,
  type MachineSet,
} from "@causeway/api";
import { parseVersion } from "../objects/versions.ts";
import { attempt } from "./cluster.ts";

const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
/** Labels that selector and template have by default. */
const OWN: ReadonlySet<string> = new Set([labels.clusterName, labels.deploymentName]);
/** Conditions that follow from the health check itself. */
const FOLLOWING: ReadonlySet<string> = new Set([
  "Ready",
  "Available",
  "HealthCheckSucceeded",
  "OwnerRemediated",
  "ExternallyRemediated",
]);

/** Why a MachineDeployment is refused. */
export function deploymentRefusals(after: MachineDeployment, before: MachineDeployment | undefined): string[] {
  const { metadata, spec } = after;
  if (metadata.deletionTimestamp !== undefined) return [];
  return [
    ...(LABEL_VALUE.test(metadata.name)
      ? []
      : [`metadata.name: Invalid value: ${JSON.stringify(metadata.name)}: must be the value of a label`]),
    ...versionRefusals("spec.template.spec.version", spec.template.spec.version),
    ...selectorRefusals(after),
    ...surgeRefusals(after),
    ...clusterRefusals(after, before),
  ];
}

/** Why a MachineSet is refused. */
export function setRefusals(after: MachineSet, before: MachineSet | undefined): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  return [
    ...versionRefusals("spec.template.spec.version", after.spec.template.spec.version),
    ...selectorRefusals(after),
    ...clusterRefusals(after, before),
  ];
}

/** Why a Machine is refused. */
export function machineRefusals(after: Machine, before: Machine | undefined): string[] {
  const { metadata, spec } = after;
  if (metadata.deletionTimestamp !== undefined) return [];
  const { configRef, dataSecretName } = spec.bootstrap;
  const isMoved = before?.spec.providerID !== undefined && before.spec.providerID !== spec.providerID;
  return [
    ...versionRefusals("spec.version", spec.version),
    // The members of a pool are booted by the pool's data.
    ...(configRef === undefined && dataSecretName === undefined && metadata.labels?.[labels.poolName] === undefined
      ? ["spec.bootstrap: Required value: one of configRef and dataSecretName must be set"]
      : []),
    ...(isMoved ? [`spec.providerID: Forbidden: field is immutable once it is ${before.spec.providerID}`] : []),
    ...clusterRefusals(after, before),
  ];
}

/** Why a MachinePool is refused. */
export function poolRefusals(after: MachinePool, before: MachinePool | undefined): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  return [
    ...versionRefusals("spec.template.spec.version", after.spec.template.spec.version),
    ...clusterRefusals(after, before),
  ];
}

interface OfCluster {
  readonly spec: { readonly clusterName: string };
}

/** Another Cluster would have machines of this one's network. */
function clusterRefusals(after: OfCluster, before: OfCluster | undefined): string[] {
  if (before === undefined || before.spec.clusterName === after.spec.clusterName) return [];
  return [`spec.clusterName: Forbidden: field is immutable: it was ${before.spec.clusterName}`];
}

/** A set whose template lacks the selector's labels would create machines that it does not count. */
function selectorRefusals({ spec }: MachineDeployment | MachineSet): string[] {
  const has = spec.template.metadata?.labels ?? {};
  const missing = Object.entries(spec.selector?.matchLabels ?? {}).filter(
    ([key, value]) => !OWN.has(key) && has[key] !== value,
  );
  if (missing.length === 0) return [];
  const names = missing.map(([key]) => key).join(", ");
  return [`spec.template.metadata.labels: Invalid value: must match spec.selector: ${names}`];
}

function surgeRefusals({ spec }: MachineDeployment): string[] {
  const { maxSurge, maxUnavailable } = spec.rollout?.strategy?.rollingUpdate ?? {};
  if (!isZero(maxSurge) || !isZero(maxUnavailable)) return [];
  return [
    "spec.rollout.strategy.rollingUpdate: Invalid value: maxSurge and maxUnavailable cannot both be 0: nothing could be replaced",
  ];
}

function isZero(value: number | string | undefined): boolean {
  return value === 0 || value === "0" || value === "0%";
}

/** Why a MachineHealthCheck is refused. */
export function healthCheckRefusals({ spec }: MachineHealthCheck): string[] {
  return (spec.checks?.unhealthyMachineConditions ?? []).flatMap(({ type }, at) =>
    FOLLOWING.has(type)
      ? [
          `spec.checks.unhealthyMachineConditions[${at}].type: Invalid value: ${JSON.stringify(type)}: follows from the health check itself`,
        ]
      : [],
  );
}

function versionRefusals(path: string, version: string | undefined): string[] {
  return version === undefined || version === "" ? [] : attempt(`${path}: Invalid value`, () => parseVersion(version));
}
