import type { HostedControlPlane, HostedControlPlaneSpec, Machine, MagnumCluster } from "@causeway/api";

/** What is read of a cluster to rotate its certificate authority. */
export interface RotationFacts {
  readonly object: MagnumCluster;
  readonly controlPlane: HostedControlPlane | undefined;
  readonly machines: readonly Machine[];
  /** Each node group has all its nodes, all ready, and no others. */
  readonly isSettled: boolean;
}

/**
 * Where the rotation that the user requested last is. The control plane makes a new authority known (Preparing), then
 * lets it sign (Prepared): machines that are older are replaced. When all are new and ready, the old authority is
 * retired (Retiring), and the rotation is done. Each is read from objects, so that a crash loses nothing.
 */
type RotationStage = "None" | "Preparing" | "Rolling" | "Retiring" | "Done";

/**
 * The stage of the rotation that spec.rotateAuthoritiesAfter wants, from the control plane's status and the Machines.
 * "None":
 * none was ever wanted.
 */
export function rotationStage(facts: RotationFacts): RotationStage {
  const { object, controlPlane } = facts;
  const wanted = object.spec.rotateAuthoritiesAfter;
  if (wanted === undefined) return "None";
  const { phase, rotation } = controlPlane?.status?.authorities ?? {};
  if (!isSame(rotation, wanted)) return "Preparing";
  if (phase === "Current") return "Done";
  if (phase === "Retiring") return "Retiring";
  if (phase !== "Prepared") return "Preparing";
  return isRetired(controlPlane, wanted) || isRolled(facts) ? "Retiring" : "Rolling";
}

/**
 * What is requested of the control plane. The old authority may be retired once no machine needs it; what was requested
 * once remains.
 */
export function authoritiesOf(facts: RotationFacts): HostedControlPlaneSpec["authorities"] {
  const wanted = facts.object.spec.rotateAuthoritiesAfter;
  if (wanted === undefined) return undefined;
  const stage = rotationStage(facts);
  const retire = stage === "Retiring" || stage === "Done" || isRetired(facts.controlPlane, wanted);
  return { rotateAfter: wanted, ...(retire ? { retireOldAfter: wanted } : {}) };
}

/** Machines that were made before are replaced; undefined: none are, for a rotation. */
export function rolloutAfterOf({
  object,
  controlPlane,
}: Omit<RotationFacts, "isSettled" | "machines">): string | undefined {
  // The time of an earlier rotation remains until there is a new one: all machines are newer.
  return object.spec.rotateAuthoritiesAfter === undefined ? undefined : controlPlane?.status?.authorities?.rotatedAt;
}

/** Machines that know only the old authority. */
function oldMachines({ controlPlane, machines }: Pick<RotationFacts, "controlPlane" | "machines">): readonly Machine[] {
  const since = Date.parse(controlPlane?.status?.authorities?.rotatedAt ?? "");
  return machines.filter(({ metadata }) => !(Date.parse(metadata.creationTimestamp ?? "") >= since));
}

function isRolled(facts: RotationFacts): boolean {
  return facts.isSettled && oldMachines(facts).length === 0;
}

/** Whether the control plane already has the request to retire what this rotation replaced. */
function isRetired(controlPlane: HostedControlPlane | undefined, wanted: string): boolean {
  const { rotateAfter, retireOldAfter } = controlPlane?.spec.authorities ?? {};
  return isSame(rotateAfter, wanted) && retireOldAfter !== undefined;
}

const isSame = (a: string | undefined, b: string): boolean => a !== undefined && Date.parse(a) === Date.parse(b);

/** What a rotation waits for, in words; undefined: none is under way. */
export function rotationWaitsFor(facts: RotationFacts): string | undefined {
  const old = oldMachines(facts).length;
  switch (rotationStage(facts)) {
    case "None":
    case "Done":
      return undefined;
    case "Preparing":
      return "rotating the certificate authority: the new one is being distributed";
    case "Rolling":
      if (old === 0) return "rotating the certificate authority: waiting for the new nodes to be ready";
      return `rotating the certificate authority: ${old} of ${facts.machines.length} nodes know only the old one and are being replaced`;
    case "Retiring":
      return "rotating the certificate authority: the old one is being removed";
  }
}
