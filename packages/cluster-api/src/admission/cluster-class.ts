import { shortList } from "@causeway/foundation";
import type { Cluster, ClusterClass } from "@causeway/api";
import { classProblems } from "../clusterclass/problems.ts";

interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
}

interface ClassAdmission {
  readonly clusterClass: ClusterClass;
  readonly previous: ClusterClass | undefined;
  /** The Clusters that use it. */
  readonly users: readonly Cluster[];
}

/** Why a ClusterClass is refused: what it has, and changes that the Clusters which use it cannot follow. */
export function classRefusals({ clusterClass, previous, users }: ClassAdmission): string[] {
  if (clusterClass.metadata.deletionTimestamp !== undefined) return [];
  const problems = classProblems(clusterClass);
  if (!previous || users.length === 0) return problems;
  return [...problems, ...changedKinds(previous, clusterClass), ...lostClasses(clusterClass, users)];
}

/** Why a ClusterClass cannot be deleted. */
export function classDeletionRefusals(users: readonly Cluster[]): string[] {
  if (users.length === 0) return [];
  const names = users.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`).sort();
  return [`ClusterClass cannot be deleted: it is used by ${names.length} Cluster(s): ${shortList(names, 5)}`];
}

/** Templates whose group or kind differs: objects that exist cannot become another kind. */
export function changedKinds(before: ClusterClass, after: ClusterClass): string[] {
  const workers = (list: "machineDeployments" | "machinePools"): string[] =>
    (before.spec.workers?.[list] ?? []).flatMap((old) => {
      const now = after.spec.workers?.[list]?.find((one) => one.class === old.class);
      if (now === undefined) return [];
      const path = `spec.workers.${list}[${old.class}]`;
      // The bootstrap of new machines may be of another kind; their infrastructure may not.
      return changed(`${path}.infrastructure`, old.infrastructure.templateRef, now.infrastructure.templateRef);
    });
  return [
    ...changed("spec.infrastructure", before.spec.infrastructure.templateRef, after.spec.infrastructure.templateRef),
    ...changed("spec.controlPlane", before.spec.controlPlane.templateRef, after.spec.controlPlane.templateRef),
    ...changed(
      "spec.controlPlane.machineInfrastructure",
      before.spec.controlPlane.machineInfrastructure?.templateRef,
      after.spec.controlPlane.machineInfrastructure?.templateRef,
    ),
    ...workers("machineDeployments"),
    ...workers("machinePools"),
  ];
}

function changed(path: string, before: Reference | undefined, after: Reference | undefined): string[] {
  if (!before || !after) return [];
  const nameOf = ({ apiVersion, kind }: Reference): string => `${kind}.${apiVersion.split("/")[0] ?? ""}`;
  if (nameOf(before) === nameOf(after)) return [];
  return [`${path}.templateRef: Invalid value: kind cannot change from ${nameOf(before)} to ${nameOf(after)}`];
}

function lostClasses({ spec }: ClusterClass, users: readonly Cluster[]): string[] {
  return (["machineDeployments", "machinePools"] as const).flatMap((list) => {
    const known = new Set((spec.workers?.[list] ?? []).map((one) => one.class));
    const lost = new Map<string, string>();
    for (const { metadata, spec: cluster } of users)
      for (const one of cluster.topology?.workers?.[list] ?? [])
        if (!known.has(one.class)) lost.set(one.class, metadata.name);
    return [...lost].map(
      ([name, cluster]) =>
        `spec.workers.${list}: Forbidden: class ${JSON.stringify(name)} is used by Cluster ${cluster} and cannot be removed`,
    );
  });
}
