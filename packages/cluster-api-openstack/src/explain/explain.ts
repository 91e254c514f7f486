import {
  labels,
  type Cluster,
  type OpenStackCluster,
  type OpenStackMachine,
  type OpenStackMachineSpec,
} from "@causeway/api";
import type { Clock } from "@causeway/foundation";
import type { ObjectKey } from "@causeway/kubernetes";
import { infrastructureOf } from "../openstackcluster/controller.ts";
import { observeCluster, ownerName, type ClusterSources } from "../openstackcluster/gather.ts";
import { gather as gatherMachine, observeMachine, type MachineSources } from "../openstackmachine/gather.ts";
import type { Explanation } from "./explanation.ts";
import { dryRunCluster, dryRunMachine } from "./dry-run.ts";

/** What is read for an explanation. */
export interface ExplainSources {
  readonly cluster: ClusterSources;
  readonly machine: MachineSources;
  readonly clock: Clock;
}

/** Machines that are still to be created from a template. */
export interface MachineGroup {
  /** "MachineDeployment demo-md-0". */
  readonly of: string;
  readonly replicas: number;
  readonly isControlPlane: boolean;
  readonly spec: OpenStackMachineSpec;
  readonly failureDomain?: string | undefined;
}

/** Objects as they would be; those that are not given are read. */
export interface ChangedObjects {
  readonly cluster?: Cluster | undefined;
  readonly infrastructure?: OpenStackCluster | undefined;
  readonly groups?: readonly MachineGroup[];
}

/** What a reconcile of a cluster would do, step by step. */
export interface ClusterExplanation extends Explanation {
  /** What each machine of these groups would be made of, once the cluster's infrastructure is provisioned. */
  readonly machines: readonly { readonly of: string; readonly replicas: number; readonly explained: Explanation }[];
}

/**
 * Reads what a reconcile of a Cluster's OpenStackCluster reads, plans to the end, and performs nothing. `key` is the
 * Cluster's. Undefined: there is no such Cluster, or its infrastructure is no OpenStackCluster.
 */
export async function explainCluster(
  { cluster: sources, machine, clock }: ExplainSources,
  key: ObjectKey & { readonly namespace: string },
  changed: ChangedObjects,
  signal: AbortSignal,
): Promise<ClusterExplanation | undefined> {
  const cluster = changed.cluster ?? sources.clusters.get(key);
  const [reference] = cluster ? infrastructureOf(cluster) : [];
  const object = changed.infrastructure ?? (reference && sources.openStackClusters.get(reference));
  if (!object) return undefined;
  const clusterName = ownerName(object, "Cluster") ?? key.name;
  const observed = await observeCluster(sources, { object, clusterName, cluster }, signal);
  const { explanation, observed: after, cloud } = dryRunCluster(observed, clock.now());
  const { status } = after.object;
  // Nothing is published as provisioned before it is: of a cluster that would be refused, no machine is planned.
  const groups = cloud && status?.initialization?.provisioned === true ? (changed.groups ?? []) : [];
  const machines: ClusterExplanation["machines"][number][] = [];
  for (const group of groups) {
    const place = { namespace: key.namespace, cluster: clusterName };
    const given = { ...machineOf(group, place), infrastructure: after.object };
    const one = await observeMachine(machine, given, signal);
    const explained = dryRunMachine(one, clock.now(), cloud).explanation;
    machines.push({ of: group.of, replicas: group.replicas, explained });
  }
  return { ...explanation, machines };
}

/**
 * The same of a Machine, or of an OpenStackMachine's name. `changed`: as it would be. Undefined: there is no such
 * machine here.
 */
export async function explainMachine(
  { machine: sources, clock }: ExplainSources,
  key: ObjectKey & { readonly namespace: string },
  changed: OpenStackMachine | undefined,
  signal: AbortSignal,
): Promise<Explanation | undefined> {
  const reference = sources.machines.get(key)?.spec.infrastructureRef;
  const name = reference?.kind === "OpenStackMachine" ? reference.name : key.name;
  const observed = await gatherMachine(sources, { ...key, name }, signal);
  if (!observed) return undefined;
  return dryRunMachine(changed ? { ...observed, object: changed } : observed, clock.now()).explanation;
}

/** One machine of a group, as the owner of the group would create it. */
function machineOf(
  { of, spec, isControlPlane, failureDomain }: MachineGroup,
  { namespace, cluster }: { readonly namespace: string; readonly cluster: string },
) {
  const name = `${of.split(" ").at(-1) ?? of}-xxxxx`;
  const object: OpenStackMachine = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackMachine",
    metadata: {
      name,
      namespace,
      labels: { [labels.clusterName]: cluster, ...(isControlPlane ? { [labels.controlPlane]: "" } : {}) },
    },
    spec,
  };
  return { object, owner: { name, bootstrapSecret: name, ...(failureDomain ? { zone: failureDomain } : {}) } };
}
