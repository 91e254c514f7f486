import { labels, type MachineDeployment, type MachineHealthCheck, type MachinePool } from "@causeway/api";
import { parseVersion } from "../topology/versions.ts";
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
export function deploymentRefusals({ metadata, spec }: MachineDeployment): string[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  const has = spec.template.metadata?.labels ?? {};
  const missing = Object.entries(spec.selector?.matchLabels ?? {}).filter(
    ([key, value]) => !OWN.has(key) && has[key] !== value,
  );
  return [
    ...(LABEL_VALUE.test(metadata.name)
      ? []
      : [`metadata.name: Invalid value: ${JSON.stringify(metadata.name)}: must be the value of a label`]),
    ...versionRefusals("spec.template.spec.version", spec.template.spec.version),
    ...(missing.length === 0
      ? []
      : [
          `spec.template.metadata.labels: Invalid value: must match spec.selector: ${missing.map(([key]) => key).join(", ")}`,
        ]),
  ];
}

/** Why a MachinePool is refused. */
export function poolRefusals({ metadata, spec }: MachinePool): string[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  return versionRefusals("spec.template.spec.version", spec.template.spec.version);
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
