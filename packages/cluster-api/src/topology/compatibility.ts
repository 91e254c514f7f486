import type { Cluster } from "@causeway/api";
import type { Desired } from "./desired.ts";
import type { CurrentState } from "./model.ts";

interface Named {
  readonly kind: string;
  readonly apiGroup: string;
  readonly name: string;
}

/**
 * Why a change of class cannot be carried out: what a Cluster refers to keeps its kind; machines of workers keep
 * theirs.
 */
export function incompatibilities({ spec }: Cluster, desired: Desired, current: CurrentState): string[] {
  const changes = (
    what: string,
    before: Named | undefined,
    after: { readonly kind: { readonly kind: string; readonly group: string } },
  ) => {
    const { kind, group } = after.kind;
    if (!before || (before.kind === kind && before.apiGroup === group)) return [];
    return [
      `${what} cannot change from ${before.kind}.${before.apiGroup} to ${kind}.${group}: the ClusterClass must have the same kind`,
    ];
  };
  return [
    ...changes("spec.infrastructureRef", spec.infrastructureRef, desired.infrastructure),
    ...changes("spec.controlPlaneRef", spec.controlPlaneRef, desired.controlPlane.object),
    ...desired.workers.flatMap(({ deployment, infrastructure }) => {
      const { name } = deployment.object.metadata;
      const standing = current.deployments.find(
        ({ metadata }) => metadata.name === name && !metadata.deletionTimestamp,
      );
      return changes(
        `infrastructureRef of MachineDeployment ${name}`,
        standing?.spec.template.spec.infrastructureRef,
        infrastructure,
      );
    }),
    ...desired.pools.flatMap(({ pool, infrastructure }) => {
      const { name } = pool.object.metadata;
      const standing = current.pools.find(({ metadata }) => metadata.name === name && !metadata.deletionTimestamp);
      const before = standing?.spec.template.spec.infrastructureRef;
      return changes(`infrastructureRef of MachinePool ${name}`, before, infrastructure);
    }),
  ];
}
