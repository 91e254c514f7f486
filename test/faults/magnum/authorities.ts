import type { HostedControlPlane, Machine, MachineDeployment } from "@causeway/api";

type Authorities = NonNullable<NonNullable<HostedControlPlane["status"]>["authorities"]>;

const timeOf = (text: string | undefined): number => Date.parse(text ?? "") || 0;
const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** What the controller of hosted control planes does next in a rotation, and what was wrongly requested of it. */
export function authoritiesMove(
  { spec, status }: HostedControlPlane,
  machines: readonly Machine[],
): { readonly next: Authorities; readonly wrong?: string } | undefined {
  const known = status?.authorities;
  if (known?.phase === undefined) return { next: { phase: "Current" } };
  const { rotateAfter, retireOldAfter } = spec.authorities ?? {};
  switch (known.phase) {
    case "Current":
      return rotateAfter === undefined || rotateAfter === known.rotation || timeOf(rotateAfter) > Date.now()
        ? undefined
        : { next: { phase: "Preparing", rotation: rotateAfter } };
    case "Preparing":
      // Times have seconds: machines of this second are older.
      return { next: { ...known, phase: "Prepared", rotatedAt: instant(Date.now() + 1_000) } };
    case "Prepared": {
      if (retireOldAfter === undefined || timeOf(retireOldAfter) < timeOf(known.rotation)) return undefined;
      const old = machines.filter(({ metadata }) => timeOf(metadata.creationTimestamp) < timeOf(known.rotatedAt));
      const names = old.map(({ metadata }) => metadata.name).join(", ");
      return {
        next: { ...known, phase: "Retiring" },
        ...(old.length === 0 ? {} : { wrong: `the old authority is to be retired while ${names} know no other` }),
      };
    }
    case "Retiring":
      return { next: { ...known, phase: "Current", retiredAt: instant(Date.now()) } };
  }
}

/** The machine is to be replaced: it has another version, or was made before the instant of the rollout. */
export function isOutdated({ spec, metadata }: Machine, pool: MachineDeployment): boolean {
  const after = timeOf(pool.spec.rollout?.after);
  const isOld = after <= Date.now() && timeOf(metadata.creationTimestamp) < after;
  return isOld || spec.version !== pool.spec.template.spec.version;
}

/** What of an accepted rotation is not done. */
export function unrotated(
  wanted: string | undefined,
  plane: HostedControlPlane | undefined,
  machines: readonly Machine[],
): string | undefined {
  if (wanted === undefined) return undefined;
  const { phase, rotation, rotatedAt } = plane?.status?.authorities ?? {};
  if (rotation !== wanted || phase !== "Current")
    return `the authority of ${String(rotation)} is ${String(phase)}, not the one of ${wanted}`;
  const old = machines.filter(({ metadata }) => timeOf(metadata.creationTimestamp) < timeOf(rotatedAt));
  return old.length === 0 ? undefined : `${old.length} machines know only the old authority`;
}
