import { isDeepStrictEqual } from "node:util";
import { annotations, type Cluster, type ClusterClass } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { compareVersions } from "@causeway/kubernetes";
import { upgradePath } from "../topology/upgrade-plan.ts";
import { isSameVersion, parseVersion } from "../objects/versions.ts";
import { classVariables } from "../variables/class-variables.ts";
import { clusterVariables, overrides } from "../variables/cluster-variables.ts";
import { ruleBudget } from "../variables/rules.ts";
import { definitionProblems } from "../variables/definition.ts";
import { changedKinds } from "./cluster-class.ts";
import { classKeyOf } from "./request.ts";

interface ClusterAdmission {
  readonly cluster: Cluster;
  readonly previous: Cluster | undefined;
  readonly clusterClass: ClusterClass | undefined;
  readonly previousClass: ClusterClass | undefined;
}

/** Why a Cluster is refused: rules of its topology. */
export function clusterRefusals(facts: ClusterAdmission): string[] {
  const { cluster, previous } = facts;
  const topology = cluster.spec.topology;
  if (cluster.metadata.deletionTimestamp !== undefined) return [];
  if (!topology)
    return previous?.spec.topology ? ["spec.topology: Forbidden: cannot be removed from an existing Cluster"] : [];
  // What else changes in a Cluster, by controllers too, is not kept back by a class that has changed since.
  if (previous && isDeepStrictEqual(topology, previous.spec.topology)) return [];
  const version = attempt("spec.topology.version", () => parseVersion(topology.version));
  if (version.length > 0) return version;
  return [...workersOf(facts), ...changeOfVersion(facts), ...changeOfClass(facts), ...variablesOf(facts)];
}

function workersOf({ cluster, clusterClass }: ClusterAdmission): string[] {
  const lists = ["machineDeployments", "machinePools"] as const;
  return lists.flatMap((list) => {
    const workers = cluster.spec.topology?.workers?.[list] ?? [];
    const known = new Set((clusterClass?.spec.workers?.[list] ?? []).map((one) => one.class));
    const names = workers.map(({ name }) => name);
    const path = `spec.topology.workers.${list}`;
    return workers.flatMap(({ name, class: wanted }, at) => [
      ...(names.indexOf(name) === at ? [] : [`${path}[${at}].name: Duplicate value: ${JSON.stringify(name)}`]),
      ...(clusterClass === undefined || known.has(wanted)
        ? []
        : [`${path}[${at}].class: Invalid value: ${JSON.stringify(wanted)}: the ClusterClass has no such class`]),
    ]);
  });
}

/** Values by the definitions of the class, once that is there. */
function variablesOf({ cluster, clusterClass, previous }: ClusterAdmission): string[] {
  const { topology } = cluster.spec;
  const before = previous?.spec.topology;
  const budget = ruleBudget();
  if (!topology || !clusterClass) return [];
  const definitions = classVariables(clusterClass);
  if (definitionProblems(definitions).length > 0) return [];
  const workers = (["machineDeployments", "machinePools"] as const).flatMap((list) =>
    (topology.workers?.[list] ?? []).flatMap((one) => {
      const path = `spec.topology.workers.${list}[${one.name}].variables.overrides`;
      const old = before?.workers?.[list]?.find(({ name }) => name === one.name)?.variables?.overrides;
      return overrides(one.variables?.overrides ?? [], definitions, { path, old, budget }).problems;
    }),
  );
  const ofControlPlane = topology.controlPlane?.variables?.overrides ?? [];
  const controlPlane = overrides(ofControlPlane, definitions, {
    path: "spec.topology.controlPlane.variables.overrides",
    old: before?.controlPlane?.variables?.overrides,
    budget,
  });
  const ofCluster = clusterVariables(topology.variables ?? [], definitions, { old: before?.variables, budget });
  return [...ofCluster.problems, ...controlPlane.problems, ...workers];
}

/** Never back, and over several minors only where the class lists the versions between. */
function changeOfVersion({ cluster, previous, clusterClass }: ClusterAdmission): string[] {
  const before = previous?.spec.topology?.version;
  const after = cluster.spec.topology?.version ?? "";
  if (before === undefined || cluster.metadata.annotations?.[annotations.disableVersionCheck] !== undefined) return [];
  const path = `spec.topology.version: Invalid value: ${JSON.stringify(after)}`;
  return attempt(path, () => {
    if (isSameVersion(before, after)) return;
    if (compareVersions(after, before) < 0) throw new Error(`version cannot be decreased from ${before} to ${after}`);
    const known = clusterClass?.spec.kubernetesVersions;
    upgradePath({ desired: after, controlPlane: before, oldestWorkers: undefined, known });
  });
}

function changeOfClass({ cluster, previous, clusterClass, previousClass }: ClusterAdmission): string[] {
  if (!previous?.spec.topology || !clusterClass || !previousClass) return [];
  const [before, after] = [classKeyOf(previous), classKeyOf(cluster)];
  if (before?.name === after?.name && before?.namespace === after?.namespace) return [];
  return changedKinds(previousClass, clusterClass).map(
    (problem) => `spec.topology.classRef: Forbidden: incompatible ClusterClass: ${problem}`,
  );
}

/** The message of what `work` throws, after the path. */
export function attempt(path: string, work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    return [`${path}: ${messageOf(error)}`];
  }
}
