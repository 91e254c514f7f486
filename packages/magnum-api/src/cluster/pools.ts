import {
  annotations,
  nodeMetadataApplied,
  nodeMetadataOf,
  type Machine,
  type MachineDeployment,
  type MagnumCluster,
  type MagnumClusterStatus,
  type MagnumNodeGroup,
} from "@causeway/api";
import { canonicalJson } from "@causeway/foundation";
import { getCondition, isTrue } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { magnumLabels, poolNameOf } from "./names.ts";

type GroupStatus = NonNullable<MagnumClusterStatus["nodeGroups"]>[number];

/** One node group as it is. */
export interface Pool {
  readonly group: MagnumNodeGroup;
  readonly deployment: MachineDeployment | undefined;
  readonly machines: readonly Machine[];
  /** As many nodes as are wanted, all ready, of the wanted version and content, and no others. */
  readonly isSettled: boolean;
  readonly readyNodes: number;
  /** Ready nodes of the wanted version and content. Undefined: no others are to be replaced, or it is not known yet. */
  readonly updatedNodes: number | undefined;
  /** Ready nodes that do not have their labels and taints yet. */
  readonly unlabelledNodes: number;
}

type ObservedPools = Pick<Observed, "object" | "deployments" | "machines">;

/** Each node group has all its nodes, all ready, and there are no others. */
export function arePoolsSettled(observed: ObservedPools): boolean {
  const { object, deployments } = observed;
  const wanted = namesOfPools(object);
  return (
    deletedPoolsOf(observed).length === 0 &&
    poolsOf(observed).every((pool) => pool.isSettled) &&
    deployments.every(({ metadata }) => wanted.has(metadata.name))
  );
}

/** The node groups that are to exist: a deleted one is only listed until its nodes are gone. */
export const keptGroups = ({ spec }: Pick<MagnumCluster, "spec">): readonly MagnumNodeGroup[] =>
  spec.nodeGroups.filter(({ deletedAt }) => deletedAt === undefined);

/** The names of the MachineDeployments that are to exist. */
export const namesOfPools = (object: MagnumCluster): ReadonlySet<string> =>
  new Set(keptGroups(object).map((group) => poolNameOf(object.metadata.name, group)));

/**
 * The node groups of a cluster in the order of its spec, each with its MachineDeployment, its Machines and its ready
 * nodes; without deleted ones.
 */
export const poolsOf = (observed: ObservedPools): readonly Pool[] => poolsFor(observed, keptGroups(observed.object));

/** The node groups that are being deleted, each with what is left of it. */
export const deletedPoolsOf = (observed: ObservedPools): readonly Pool[] =>
  poolsFor(
    observed,
    observed.object.spec.nodeGroups.filter(({ deletedAt }) => deletedAt !== undefined),
  );

function poolsFor({ object, deployments, machines }: ObservedPools, groups: readonly MagnumNodeGroup[]): Pool[] {
  return groups.map((group) => {
    const name = poolNameOf(object.metadata.name, group);
    const deployment = deployments.find(({ metadata }) => metadata.name === name);
    const own = machines.filter(({ metadata }) => metadata.labels?.[magnumLabels.nodeGroup] === group.uuid);
    const ready = own.filter((machine) => isReady(machine));
    return {
      group,
      deployment,
      machines: own,
      readyNodes: ready.length,
      updatedNodes: updatedNodes(deployment, ready),
      unlabelledNodes: deployment ? ready.filter((machine) => !follows(machine, deployment)).length : 0,
      isSettled: isSettled(deployment, own),
    };
  });
}

function isReady({ metadata, status }: Machine): boolean {
  return metadata.deletionTimestamp === undefined && isTrue(status?.conditions, "NodeReady");
}

/** The numbers in the status are of the spec there is. */
function isReconciled({ metadata, status }: MachineDeployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function updatedNodes(deployment: MachineDeployment | undefined, ready: readonly Machine[]): number | undefined {
  if (deployment === undefined || !isReconciled(deployment)) return undefined;
  const { replicas = 0, upToDateReplicas = 0 } = deployment.status ?? {};
  if (upToDateReplicas >= replicas) return undefined;
  // Machines learn later than their MachineDeployment that they are of an earlier template.
  return Math.min(upToDateReplicas, ready.filter(({ status }) => isTrue(status?.conditions, "UpToDate")).length);
}

/** As many nodes as are wanted are there, and all of them are of the wanted version and content. */
export function isRolledOut(deployment: MachineDeployment): boolean {
  return isReconciled(deployment) && (deployment.status?.upToDateReplicas ?? 0) === (deployment.spec.replicas ?? 1);
}

function isSettled(deployment: MachineDeployment | undefined, machines: readonly Machine[]): boolean {
  if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return false;
  const { spec, status } = deployment;
  const wanted = spec.replicas ?? 1;
  return (
    isRolledOut(deployment) &&
    (status?.replicas ?? 0) === wanted &&
    (status?.readyReplicas ?? 0) === wanted &&
    machines.length === wanted &&
    machines.every((machine) => isReady(machine) && follows(machine, deployment))
  );
}

/** The Machine has what it takes over from its MachineDeployment in place, and its Node has it: taints and labels. */
function follows(machine: Machine, deployment: MachineDeployment): boolean {
  const { template } = deployment.spec;
  const labels = template.metadata?.annotations?.[annotations.nodeLabels];
  const hasOwn =
    (labels === undefined || machine.metadata.annotations?.[annotations.nodeLabels] === labels) &&
    canonicalJson(machine.spec.taints ?? []) === canonicalJson(template.spec.taints ?? []);
  return hasOwn && nodeMetadataOf(machine) === getCondition(machine.status?.conditions, nodeMetadataApplied)?.message;
}

/** What clients see of a node group, given the state and reason that it has. */
export function poolStatus(pool: Pool, state: Pick<GroupStatus, "status" | "reason">): GroupStatus {
  const { group, deployment, machines } = pool;
  const addresses = machines
    .flatMap(({ status }) => status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? [])
    .toSorted()
    .slice(0, 1_000);
  const isCurrent = machines.length > 0 && machines.every(({ spec }) => spec.version === group.version);
  return {
    uuid: group.uuid,
    ...state,
    readyNodes: pool.readyNodes,
    ...(deployment?.spec.replicas === undefined ? {} : { nodeCount: deployment.spec.replicas }),
    addresses,
    ...(isCurrent ? { version: group.version } : {}),
  };
}

/** The servers of a node group, by the labels of their Machines; an adopted one by the Machine's reference alone. */
export function serversOf({ group, machines }: Pool, servers: Observed["servers"]): Observed["servers"] {
  const referred = new Set(machines.map(({ spec }) => spec.infrastructureRef.name));
  return servers.filter(
    ({ metadata }) => metadata.labels?.[magnumLabels.nodeGroup] === group.uuid || referred.has(metadata.name),
  );
}
