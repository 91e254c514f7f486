import type { MachineDeploymentSpec } from "@causeway/api";
import { withPrefix } from "./versions.ts";
import { fingerprint } from "./names.ts";

/** The template of a MachineDeployment or MachineSet. */
export type MachineTemplate = MachineDeploymentSpec["template"];

/**
 * What a change of rolls machines out: version, bootstrap, infrastructure, failure domain. All else changes in place.
 */
function rollingPart({ spec }: MachineTemplate): unknown {
  const { version, bootstrap, infrastructureRef, failureDomain } = spec;
  // What was stored before admission added the "v" is the same version.
  return { version: version && withPrefix(version), bootstrap, infrastructureRef, failureDomain };
}

/** True if machines of one template need not be replaced by machines of the other. */
export function sameMachines(a: MachineTemplate, b: MachineTemplate): boolean {
  return templateHash(a) === templateHash(b);
}

/** Equal for templates whose machines need not be replaced by each other. */
export function templateHash(template: MachineTemplate): string {
  return fingerprint(rollingPart(template));
}

/** What of a template is carried over to what exists: MachineDeployment to MachineSet to Machine. */
export function inPlacePart({ spec }: MachineTemplate): Partial<MachineTemplate["spec"]> {
  const { minReadySeconds, readinessGates, deletion, taints } = spec;
  return {
    ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
    ...(readinessGates === undefined ? {} : { readinessGates }),
    ...(deletion === undefined ? {} : { deletion }),
    ...(taints === undefined ? {} : { taints }),
  };
}

const inPlaceFields = ["minReadySeconds", "readinessGates", "deletion", "taints"] as const;

/** The merge patch of the spec's in-place fields from the current to the wanted values; undefined when they agree. */
export function inPlaceChanges(
  standing: Partial<MachineTemplate["spec"]>,
  wanted: MachineTemplate,
): Record<string, unknown> | undefined {
  const target = inPlacePart(wanted);
  const changes = inPlaceFields.filter((name) => fingerprint(standing[name]) !== fingerprint(target[name]));
  return changes.length > 0 ? Object.fromEntries(changes.map((name) => [name, target[name] ?? null])) : undefined;
}
