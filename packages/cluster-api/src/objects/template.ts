import type { MachineDeployment, MachineDeploymentSpec, MachineSet } from "@causeway/api";
import { canonicalJson } from "@causeway/foundation";
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

/** rollout.after once it has passed: sets made before it are old, whatever their template. */
export function dueRollout({ spec }: MachineDeployment, now: number): number | undefined {
  const after = Date.parse(spec.rollout?.after ?? "");
  return after <= now ? after : undefined;
}

/**
 * True for a MachineSet whose machines are as their MachineDeployment wants them now, and need not be replaced: by its
 * template, and made after the time that rollout.after says.
 */
export function isCurrentSet(set: MachineSet, deployment: MachineDeployment, now: number): boolean {
  const after = dueRollout(deployment, now);
  return (
    sameMachines(set.spec.template, deployment.spec.template) && (after === undefined || !isBornBefore(set, after))
  );
}

/**
 * Whether an object was created before a time. Servers record the second of a creation alone: what a rollout created in
 * the second in which it became due is new.
 */
export function isBornBefore({ metadata }: Pick<MachineSet, "metadata">, time: number): boolean {
  return Date.parse(metadata.creationTimestamp ?? "") < Math.floor(time / 1000) * 1000;
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
  const changes = inPlaceFields.filter((name) => !isAlike(standing[name], target[name]));
  return changes.length > 0 ? Object.fromEntries(changes.map((name) => [name, target[name] ?? null])) : undefined;
}

/** Most are the same or absent: these are compared for each Machine of a set, whenever one of them changes. */
function isAlike(one: unknown, other: unknown): boolean {
  return one === other || canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
