import type { AddonSet, HostedControlPlane, Machine, MachineDeployment } from "@causeway/api";
import { isTrue } from "@causeway/kubernetes";

type Status = NonNullable<AddonSet["status"]>;

/** What the controller of add-ons reports next, in two steps: installed, and then healthy, unless they fail. */
export function addonsMove(
  { spec, status, metadata }: AddonSet,
  plane: HostedControlPlane | undefined,
  isFailing: boolean,
): Status | undefined {
  const version = plane?.status?.version;
  if (version === undefined) return undefined;
  const isCurrent = status?.observedGeneration === metadata.generation && status?.version === version;
  if (isCurrent && (isFailing || isTrue(status.conditions, "Healthy"))) return undefined;
  const isHealthy = isCurrent;
  const condition = (type: string, is: boolean) => ({
    type,
    status: is ? ("True" as const) : ("False" as const),
    reason: is ? type : "Unhealthy",
    lastTransitionTime: new Date().toISOString(),
  });
  return {
    observedGeneration: metadata.generation ?? 1,
    version,
    conditions: [condition("Applied", true), condition("Healthy", isHealthy)],
    addons: spec.addons.map(({ name }) =>
      isHealthy ? { name, state: "Applied" } : { name, state: "Unhealthy", message: "0 of 2 pods are available" },
    ),
  } as Status;
}

/** What of the add-ons of a complete cluster is not so. */
export function addonsMissing(
  sets: readonly AddonSet[],
  version: string,
  {
    machines,
    deployments,
  }: { readonly machines: readonly Machine[]; readonly deployments: readonly MachineDeployment[] },
): string | undefined {
  const [set, more] = sets;
  if (set === undefined || more !== undefined) return `there are ${sets.length} AddonSets, not 1`;
  const { status, metadata } = set;
  if (status?.observedGeneration !== metadata.generation) return "the add-ons were not reconciled";
  if (status?.version !== version) return `the add-ons are those of ${String(status?.version)}, not of ${version}`;
  const hasNodes = machines.length > 0 || deployments.some(({ spec }) => (spec.replicas ?? 1) > 0);
  return !hasNodes || isTrue(status.conditions, "Healthy") ? undefined : "the add-ons do not work";
}
